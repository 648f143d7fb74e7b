"""`numbridge doctor`: checks a deployment from where it stands, and says how to mend what is wrong."""

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from numbridge.cli.cluster import ClientSettings, add_data_option, environment, named
from numbridge.cli.datadir import DataDir, default_root
from numbridge.cli.errors import DONE, FAILED, CheckFailed, UsageError
from numbridge.cli.main import COMMANDS, Subparsers
from numbridge.settings import SettingsError

if TYPE_CHECKING:
    from numbridge.cli.checks.finding import Finding

SERVICES = ("gateway", "lobby", "table", "ratings")
_CONNECT_S = 5.0


def add_parser(subparsers: Subparsers) -> None:
    """See the protocol, section 3."""
    parser = subparsers.add_parser("doctor", help=COMMANDS["doctor"].help, description=COMMANDS["doctor"].help)
    parser.add_argument(
        "--for", choices=SERVICES, dest="service", help="only what this service needs: for use in its pod (all of them)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON array")
    add_data_option(parser)


def run(args: argparse.Namespace) -> int:
    """A line a check; 1 if something is wrong."""
    findings = asyncio.run(examine(args.data, (args.service,) if args.service else SERVICES))
    if args.json:
        print(json.dumps([finding.to_json() for finding in findings], indent=1))
    else:
        print("\n".join(finding.line() for finding in findings))
    return FAILED if any(finding.level == "fail" for finding in findings) else DONE


async def examine(data: Path | None, services: Sequence[str]) -> "list[Finding]":
    """Every finding, those of what needs no connection first."""
    from numbridge.cli.checks.finding import fail

    folder = None if data is None and named() else DataDir(data or default_root())
    try:
        env, missing = environment(data), None
    except UsageError as error:
        env, missing = _as_if_up(folder), fail("cluster", str(error), "What needs no running cluster is checked below")
    findings = [*([missing] if missing else []), *_plain(services, env, folder)]
    if missing is not None:
        from numbridge.cli.checks.stores import check_sql

        return findings + await check_sql(env["NUMBRIDGE_DATABASE_URL"])
    try:
        settings = ClientSettings.load(env)
    except SettingsError:
        return findings  # what is wrong with them has been said
    return findings + await _reach(services, settings, env)


def _as_if_up(folder: DataDir | None) -> dict[str, str]:
    """What `numbridge up` would tell its services."""
    import os

    env = dict(os.environ)
    if folder is not None:
        env.setdefault("NUMBRIDGE_DATABASE_URL", f"sqlite:///{folder.database}")
        if not env.get("NUMBRIDGE_TOKEN_KEY"):
            env.setdefault("NUMBRIDGE_TOKEN_KEY_FILE", str(folder.key))
    return env


def _plain(services: Sequence[str], env: dict[str, str], folder: DataDir | None) -> "list[Finding]":
    from numbridge.cli.checks import plain

    found = plain.check_settings(services, env)
    key, key_file = (env.get(f"NUMBRIDGE_{name}", "") for name in ("TOKEN_KEY", "TOKEN_KEY_FILE"))
    if "gateway" in services and (key or key_file):
        found.append(plain.check_keys(key, key_file))
    if "lobby" in services:
        found.append(plain.check_rooms(env.get("NUMBRIDGE_ROOMS_FILE", "")))
    if certificate := env.get("NUMBRIDGE_GRPC_TLS_CERT"):
        found.append(plain.check_certificate(certificate))
    if folder is not None:
        found.append(plain.check_disk(folder.root))
        found += plain.check_programs()
    return found


async def _reach(services: Sequence[str], settings: ClientSettings, env: dict[str, str]) -> "list[Finding]":
    from numbridge.cli.checks.stores import check_redis, check_sql

    found = await _inside(services, settings)
    if set(services) != {"table"}:
        found += await check_redis(settings.redis_url)
    if "ratings" in services:
        default = "sqlite:///numbridge.sqlite3"  # what the service itself assumes
        found += await check_sql(env.get("NUMBRIDGE_DATABASE_URL") or default)
    return found


async def _inside(services: Sequence[str], settings: ClientSettings) -> "list[Finding]":
    from numbridge.cli.checks.bus import check_bus
    from numbridge.cli.checks.finding import fail
    from numbridge.cli.checks.inner import check_inner
    from numbridge.cli.inside import visit

    try:
        async with asyncio.timeout(_CONNECT_S) as patience, visit(settings) as inside:
            patience.reschedule(None)
            found = await check_bus(inside)
            if {"gateway", "lobby"} & set(services):
                found += await check_inner(inside)
            return found
    except (CheckFailed, TimeoutError) as error:
        where = ", ".join(url.strip().rpartition("@")[2] for url in settings.nats_url.split(","))
        said = str(error) or f"no answer within {_CONNECT_S:g} s at {where}"
        return [
            fail("nats", said, "Nothing goes on without it: start it, or mend NUMBRIDGE_NATS_URL and the credentials")
        ]
