"""Under what terms each locked release comes, as its installed metadata says."""

from importlib import metadata

from supply.lock import Release

UNKNOWN = "unknown"
STRONG = ("AGPL", "GPL-2", "GPL-3", "GPLv2", "GPLv3", "GNU General Public", "GNU Affero", "SSPL")
"""Terms that would bind this software's own; `LGPL` does not, for a library that is used as it is."""


def licence(name: str) -> str:
    """The licence of an installed release; UNKNOWN where it is not installed or says nothing."""
    try:
        found = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return UNKNOWN
    if "License-Expression" in found:
        return found["License-Expression"]
    lines = [line for line in found.get_all("Classifier") or () if line.startswith("License ::")]
    classes = [text for line in lines if (text := line.rsplit(" :: ", 1)[-1]) != "OSI Approved"]
    if classes:
        return " OR ".join(classes)
    text = "\n".join(found.get_all("License") or ()).strip().splitlines()
    return text[0][:60] if text else UNKNOWN


def licences(releases: list[Release]) -> list[tuple[Release, str]]:
    """Each release with its licence."""
    return [(release, licence(release.name)) for release in releases]


def binding(text: str) -> bool:
    """Whether a licence is one of STRONG, and not its lesser form."""
    return any(word in text for word in STRONG) and "LGPL" not in text and "Lesser" not in text
