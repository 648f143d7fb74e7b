"""Checks of Redis and SQL."""

import asyncio
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from redis.exceptions import NoPermissionError

from numbridge import clock, redis_io
from numbridge.cli.checks import finding
from numbridge.cli.checks.finding import Finding, fail, ok, warn

_REDIS_LEAST = (6, 2)
_STATEMENTS_S = 15.0  # for the whole look at SQL; its driver's own waits are shorter


async def check_redis(url: str) -> list[Finding]:
    """Its version, clock, role, and whether it may throw something away."""
    client = redis_io.connect(url)
    began = clock.now_ms()
    try:
        info: Mapping[str, Any] = await client.info()
        ended = clock.now_ms()
    except NoPermissionError:
        return [warn("redis", "it answers, and tells these credentials no more", "Ask with an operator's")]
    except (redis_io.RedisError, OSError) as error:
        where = url.rpartition("@")[2]
        return [fail("redis", f"{where}: {finding.said_of(error)}", "Nobody is matched until it answers; games go on")]
    finally:
        await client.aclose()
    found = _redis_says(info)
    if (micros := info.get("server_time_usec")) is not None:
        found.append(finding.clock("redis", int(micros) // 1000 - (began + ended) // 2))
    return found


def _redis_says(info: Mapping[str, Any]) -> list[Finding]:
    version = str(info.get("redis_version", "0"))
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    server = f"{info.get('server_name', 'redis')} {info.get('valkey_version', version)}"
    found = []
    if numbers < _REDIS_LEAST:
        found.append(fail("redis", server, "6.2 or newer is needed"))
    if info.get("role", "master") != "master":
        found.append(fail("redis", f"{server} is a replica", "Name the primary in NUMBRIDGE_REDIS_URL"))
    if info.get("maxmemory", 0) and info.get("maxmemory_policy") != "noeviction":
        said = f"maxmemory-policy is {info['maxmemory_policy']}: seeks and matches may vanish"
        found.append(fail("redis", said, "Set it to noeviction"))
    if not info.get("aof_enabled", 1):
        mend = "`appendonly yes`: without it a restart ends every seek, and seats are told again first"
        found.append(warn("redis", f"{server} keeps no append-only file", mend))
    return found or [ok("redis", server)]


async def check_sql(url: str) -> list[Finding]:
    """Whether it answers, which schema it has, and its clock."""
    if (path := _missing_file(url)) is not None:
        return [fail("sql", f"{path} is not there", "`numbridge ratings migrate` makes it, as does the service")]
    examine = import_module("ratings.store.migrating").examine
    away = import_module("ratings.ports").StoreAway
    try:
        async with asyncio.timeout(_STATEMENTS_S):
            seen = await asyncio.to_thread(examine, url)
    except (away, ValueError, OSError, TimeoutError) as error:
        return [fail("sql", finding.said_of(error), "Results wait in NATS until it answers; games go on")]
    found = [_schema(seen.server, seen.revision, seen.head)]
    if seen.ahead_ms is not None:
        found.append(finding.clock("sql", seen.ahead_ms))
    return found


def _missing_file(url: str) -> str | None:
    """An SQLite file that is not there: looking into it would make it."""
    path = url.removeprefix("sqlite:///")
    return path if path != url and not Path(path).exists() else None


def _schema(server: str, revision: str | None, head: str | None) -> Finding:
    said = f"{server}, schema {revision or 'missing'}"
    if revision == head:
        return ok("sql", said)
    if revision is None or (head is not None and revision < head):
        return fail("sql", f"{said}; this release needs {head}", "`numbridge ratings migrate`")
    return warn("sql", f"{said}; this release knows {head}", "A newer release has been here; this one works with it")
