"""Checks of NATS and of what is found through it."""

import json
from dataclasses import fields
from datetime import datetime
from typing import Any

import nats.errors
import nats.js.errors
from nats.js.api import StreamConfig

from numbridge import clock, names, nats_io
from numbridge.cli.checks import finding
from numbridge.cli.checks.finding import Finding, fail, ok, warn
from numbridge.cli.inside import CALL_S, Inside

_LEAST = (2, 11)
_NEARLY_FULL = 0.8
_SILENT = "Look at the NATS servers' logs: most replicas must be there, and only an operator's credentials may ask"
_AWAY = (nats.errors.Error, nats.js.errors.Error, TimeoutError, OSError)


async def check_bus(inside: Inside) -> list[Finding]:
    """The server, its clock, the streams and buckets, workers and shards."""
    return [
        _version(inside),
        *await _server_clock(inside),
        *await _streams(inside),
        *await _buckets(inside),
        *_workers(inside),
    ]


def _version(inside: Inside) -> Finding:
    version = inside.client.connected_server_version
    url = inside.client.connected_url
    said = f"{inside.server} at {url.netloc.rpartition('@')[2] if url else 'an unknown address'}"
    if (version.major, version.minor) < _LEAST:
        return fail("nats", said, f"{_LEAST[0]}.{_LEAST[1]} or newer is needed")
    return ok("nats", said)


async def _server_clock(inside: Inside) -> list[Finding]:
    """The server's time stands in what it answers about a stream."""
    began = clock.now_ms()
    try:
        answer = await inside.client.request(f"$JS.API.STREAM.INFO.{names.TABLES}", b"", timeout=CALL_S)
        there = datetime.fromisoformat(json.loads(answer.data)["ts"])
    except (*_AWAY, ValueError, KeyError, TypeError):
        return []  # the stream is not there yet, which is said elsewhere
    return [finding.clock("nats", int(there.timestamp() * 1000) - (began + clock.now_ms()) // 2)]


async def _streams(inside: Inside) -> list[Finding]:
    return [await _stream(inside, config) for config in nats_io.stream_configs(inside.settings.stream_replicas)]


async def _stream(inside: Inside, wanted: StreamConfig) -> Finding:
    about = str(wanted.name)
    try:
        info = await inside.js.stream_info(about)
    except nats.js.errors.NotFoundError:
        return warn(about, "the stream is not there", "The first worker that starts makes it")
    except _AWAY as error:
        return fail(about, finding.said_of(error), _SILENT)
    if differing := _differences(wanted, info.config):
        mend = f"`nats stream edit {about}`, or numbridge's settings"
        return fail(about, "; ".join(differing), mend)
    state, most = info.state, info.config.max_bytes or 0
    said = f"{state.messages} messages, {state.bytes / 2**20:.1f} MiB, {info.config.num_replicas} replicas"
    if most > 0 and state.bytes > most * _NEARLY_FULL:
        return warn(about, f"{said} of {most / 2**20:.0f} MiB", "Raise its max_bytes: a full stream refuses every move")
    behind = [peer.name for peer in (info.cluster.replicas or []) if not peer.current] if info.cluster else []
    if behind:
        return warn(about, f"{said}; behind: {', '.join(map(str, behind))}", "Look at those servers' logs")
    return ok(about, said)


_PROMISED = ("subjects", "retention", "storage", "discard", "num_replicas")


def _differences(wanted: StreamConfig, found: StreamConfig) -> list[str]:
    """Where a stream breaks a promise of the log: nothing is ever dropped, and as many copies as were asked for."""
    differing = []
    for name in (field.name for field in fields(wanted) if field.name in _PROMISED):
        want, have = _plain(getattr(wanted, name)), _plain(getattr(found, name))
        if want != have:
            differing.append(f"{name} is {have}, {want} is needed")
    if found.max_age:
        differing.append(f"max_age is {found.max_age:g} s, none is needed: games would vanish")
    return differing


def _plain(value: Any) -> Any:
    return getattr(value, "value", value)


async def _buckets(inside: Inside) -> list[Finding]:
    found = []
    for name in (names.KV_SHARDS, names.KV_WORKERS, names.KV_POOLS):
        try:
            info = await inside.js.stream_info(f"KV_{name}")
        except nats.js.errors.NotFoundError:
            found.append(warn(name, "the bucket is not there", "The first process that needs it makes it"))
        except _AWAY as error:
            found.append(fail(name, finding.said_of(error), _SILENT))
        else:
            copies, wanted = info.config.num_replicas, inside.settings.stream_replicas
            if copies != wanted:
                said = f"the bucket has {copies} replicas, {wanted} are set"
                found.append(fail(name, said, f"`nats stream edit KV_{name} --replicas {wanted}`"))
    return found or [ok("buckets", "shards, workers and pools are there")]


def _workers(inside: Inside) -> list[Finding]:
    workers = inside.routes.workers()
    serving = [worker for worker in workers if not worker.draining]
    served = inside.routes.shards_by_worker()
    count = sum(len(shards) for shards in served.values())
    if not workers:
        return [fail("workers", "there is none: no game goes on", "Start one (`numbridge table`), and look at its log")]
    found = []
    if not serving:
        found.append(fail("workers", "all of them are draining", "Start another"))
    else:
        found.append(ok("workers", ", ".join(sorted(worker.name for worker in workers))))
    if len(serving) == 1:
        found.append(warn("workers", "only one takes games", "With a second, games go on while one is replaced"))
    if count < inside.settings.shards:
        said = f"{count} of {inside.settings.shards} have an owner"
        mend = "Wait some seconds and look again; a worker that hangs is to be killed"
        found.append(fail("shards", said, mend))
    else:
        found.append(ok("shards", f"{count} of {inside.settings.shards} have an owner"))
    return found
