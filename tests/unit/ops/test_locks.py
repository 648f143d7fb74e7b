"""What is installed is what pyproject.toml asks for: the locks were made after its last change."""

import re
import tomllib

import pytest

from tests.unit.ops.inventory import ROOT

_ENTRY = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[\w,-]+\])?==(\S+)(.*?)(?=^\S|\Z)", flags=re.MULTILINE | re.DOTALL)
_WISH = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[\w,-]+\])?(?:==([^;\s]+))?")
EXTRAS = {"requirements-run.lock": (), "requirements.lock": ("servers", "load", "dev")}


def wished(extras: tuple[str, ...]) -> dict[str, str | None]:
    """Name -> pinned release, None where any will do."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    found = {}
    for line in lines:
        match = _WISH.match(line)
        assert match is not None, line
        if match[1] != "numbridge":
            found[match[1].lower()] = match[2]
    return found


def locked(name: str) -> dict[str, tuple[str, bool]]:
    """Name -> release, and whether pyproject.toml itself is why it is there."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return {match[1].lower(): (match[2], "numbridge (pyproject.toml)" in match[3]) for match in _ENTRY.finditer(text)}


@pytest.mark.parametrize("name", EXTRAS)
def test_a_lock_has_what_is_asked_for_at_the_release_that_is_asked_for(name: str) -> None:
    have = locked(name)
    for package, release in wished(EXTRAS[name]).items():
        assert package in have, f"{package} is not in {name}: make it anew"
        assert release in (None, have[package][0]), f"{package} in {name}: make it anew"


def test_the_image_gets_nothing_that_nobody_asks_for() -> None:
    asked = {package for package, (_, is_asked) in locked("requirements-run.lock").items() if is_asked}
    assert asked == set(wished(()))
