"""The locked releases."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUN = ROOT / "requirements-run.lock"
"""What the image holds."""
ALL = ROOT / "requirements.lock"
"""That, and what tests and tools need; the servers' wheels among it."""

_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class LockError(ValueError):
    """A line that pins nothing, or a release without a hash."""


@dataclass(frozen=True, slots=True)
class Release:
    """One locked release."""

    name: str
    version: str
    hashes: tuple[str, ...]
    """SHA-256 of each of its files, hexadecimal."""

    @property
    def purl(self) -> str:
        """Its package URL."""
        return f"pkg:pypi/{self.name}@{self.version}"


def read(path: Path) -> list[Release]:
    """The releases of a lock file, in its order. Raises LockError."""
    found: list[Release] = []
    for entry in re.split(r"(?m)^(?=\S)", path.read_text(encoding="utf-8")):
        text = "\n".join(line for line in entry.splitlines() if not line.lstrip().startswith("#")).strip()
        if not text:
            continue
        pin = _PIN.match(text)
        hashes = tuple(_HASH.findall(text))
        if pin is None or not hashes:
            raise LockError(f"{path.name}: {text.splitlines()[0][:80]!r} is not pinned by version and hash")
        found.append(Release(re.sub(r"[-_.]+", "-", pin[1]).lower(), pin[2], hashes))
    return found
