"""The services' settings, as k8s/base/env lists them: what is set, and the default of everything else.

`python -m tests.unit.ops.env_files` writes them anew; what is set stays set.
"""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import gateway.settings
import lobby.settings
import ratings.settings
import tablesvc.settings
from numbridge.settings import PREFIX, CommonSettings
from tests.unit.ops.inventory import ROOT

FOLDER = ROOT / "k8s" / "base" / "env"
SERVICES: dict[str, type[CommonSettings]] = {
    "gateway": gateway.settings.Settings,
    "lobby": lobby.settings.LobbySettings,
    "table": tablesvc.settings.TableSettings,
    "ratings": ratings.settings.RatingsSettings,
}
BY_MANIFEST = {
    "common": {"NUMBRIDGE_NAME"},
    "gateway": set[str](),
    "lobby": set[str](),
    "table": {"NUMBRIDGE_ADVERTISE"},
    "ratings": {"NUMBRIDGE_DATABASE_URL"},
}
"""What a manifest sets itself: it differs from pod to pod, or is secret."""


def defaults(name: str) -> dict[str, Any]:
    """Key -> default, of `common` or of what a service has beyond that, in the order of the class."""
    common = {field.name for field in fields(CommonSettings)}
    kind = CommonSettings if name == "common" else SERVICES[name]
    return {
        f"{PREFIX}{field.name.upper()}": field.default
        for field in fields(kind)
        if name == "common" or field.name not in common
    }


def shown(value: Any) -> str:
    """A default as a variable would have it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return ",".join(value) if isinstance(value, tuple) else str(value)


def path(name: str) -> Path:
    """Where the file of `common` or of a service lies."""
    return FOLDER / f"{name}.env"


def settings(name: str) -> dict[str, str]:
    """What the file sets."""
    return dict(re.findall(r"^(\w+)=(.*)$", path(name).read_text(encoding="utf-8"), flags=re.MULTILINE))


def text(name: str) -> str:
    """The file as it should be, given what it sets."""
    own = settings(name)
    every = defaults(name)
    lines = ["# Lines with a # show the default. `make env-files` writes this anew and keeps what is set."]
    lines += [
        f"{key}={own[key]}" if key in own else f"#{key}={shown(value)}"
        for key, value in every.items()
        if key in own or key not in BY_MANIFEST[name]
    ]
    lines += [f"{key}={value}" for key, value in own.items() if key not in every and key in defaults("common")]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for each in ("common", *SERVICES):
        path(each).write_text(text(each), encoding="utf-8")
