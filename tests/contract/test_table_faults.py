"""Faults on real processes: NATS dies or hangs, a worker is stopped past its lease, killed, told to end."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio

from numbridge import nats_io
from numbridge.clock import monotonic
from numbridge.errors import Reason, Rejected
from numbridge.local_servers import LocalServer, nats_server
from numbridge.routing import Routes
from numbridge.settings import CommonSettings
from tablesvc.codec import read_record
from tests.helpers.eventually import eventually
from tests.helpers.table_workers import (
    SHARDS,
    WorkerProcess,
    WorkerUnderTest,
    created,
    game_in,
    refused,
    until_accepted,
)


@pytest_asyncio.fixture
async def nats_process(tmp_path: Path) -> AsyncIterator[LocalServer]:
    server = nats_server(tmp_path / "nats", sync="2m")
    await server.start()
    yield server
    if server.running:
        server.resume()
    await server.stop()


def url(server: LocalServer) -> str:
    return f"nats://127.0.0.1:{server.port}"


def stands_still(server: LocalServer) -> bool:
    """Whether the pause has reached every thread of the process."""
    assert server.process is not None
    tasks = Path(f"/proc/{server.process.pid}/task").glob("*/stat")
    return all(stat.read_text().rpartition(")")[2].split()[0] == "T" for stat in tasks)


async def a_game(worker: WorkerUnderTest) -> str:
    """A game with both players at the table, one move made."""
    await eventually(lambda: worker.shards == set(range(SHARDS)), timeout_s=15)
    game = game_in(worker.shards)
    await worker.create(game)
    for player in ("ada", "bob"):
        await worker.link.join(game, player)
    assert await worker.link.play(game, "ada", 0, "exchange", ref="r1") == 1
    return game


async def test_nats_dies_and_comes_back(nats_process: LocalServer) -> None:
    """1. NATS is killed, 2. commands are answered in bounded time, 3. it is back: all goes on, no clock was eaten."""
    worker = await WorkerUnderTest.start("w1", nats_url=url(nats_process), answer_ms=800)
    try:
        game = await a_game(worker)
        shards = dict(worker.app.registry_of_tables.shards)
        await nats_process.kill()
        for _ in range(2):
            began = monotonic()
            assert await refused(worker.link.play(game, "bob", 1, "exchange", ref="r2")) is Reason.UNAVAILABLE
            assert monotonic() - began < 3
        assert worker.app.world.stalls.open
        await nats_process.start()
        assert await until_accepted(worker.link, game, "bob", 1, "exchange", ref="r2") == 2
        assert dict(worker.app.registry_of_tables.shards) == shards  # the same ones: nothing had to be read again
        view = json.loads((await worker.link.join(game, "bob")).state)["view"]
        stalled = worker.app.world.stalls.since(0, worker.app.world.clock())
        assert stalled > 800
        assert 300_000 - view["clock"]["red_ms"] < stalled
        assert [r.ref for r in await records(worker, game)].count("r2") == 1
    finally:
        await worker.close()


async def test_nats_hangs_with_an_append_in_flight(nats_process: LocalServer) -> None:
    """1. NATS stands still, 2. a move is sent and given up, 3. it lands after all: once, and its ref tells."""
    worker = await WorkerUnderTest.start("w1", nats_url=url(nats_process), answer_ms=800)
    try:
        game = await a_game(worker)
        nats_process.pause()
        await eventually(lambda: stands_still(nats_process))
        assert await refused(worker.link.play(game, "bob", 1, "exchange", ref="r2")) is Reason.UNAVAILABLE
        await eventually(lambda: worker.app.world.stalls.open)
        nats_process.resume()
        assert await until_accepted(worker.link, game, "bob", 1, "exchange", ref="r2") == 2
        assert await until_accepted(worker.link, game, "ada", 2, "exchange", ref="r3") == 3
        assert [r.ref for r in await records(worker, game)].count("r2") == 1
    finally:
        await worker.close()


async def records(worker: WorkerUnderTest, game: str) -> list[Any]:
    shard = int(game[:2], 16)
    return [read_record(m.data) for m in await worker.app.world.log.read_game(shard, game, 0)]


async def test_a_stopped_worker_comes_back_and_harms_nobody(nats_process: LocalServer) -> None:
    """1. w2 owns a game, 2. it is stopped past its lease, 3. w1 takes over and plays on, 4. w2 goes on: what it is
    asked about that game it says `moved`, nothing of it is in the log, and it takes part again."""
    one = await WorkerUnderTest.start("w1", nats_url=url(nats_process))
    two = WorkerProcess("w2", url(nats_process))
    await two.start()
    client = await nats_io.connect(CommonSettings(name="gw", nats_url=url(nats_process)))
    routes = await Routes.open(client.jetstream(), SHARDS, 1)
    await routes.start()
    try:
        await eventually(lambda: len(routes.shards_by_worker().get("w2", [])) > 0, timeout_s=30)
        await eventually(lambda: len(one.shards) + len(routes.shards_by_worker()["w2"]) == SHARDS, timeout_s=15)
        shard = routes.shards_by_worker()["w2"][0]
        game = game_in({shard})
        made = await eventually(lambda: created(two, game), timeout_s=20)
        assert made
        for player in ("ada", "bob"):
            await two.link.join(game, player)
        assert await two.link.play(game, "ada", 0, "exchange", ref="r1") == 1

        two.signal(signal.SIGSTOP)
        late = asyncio.ensure_future(refused(two.link.play(game, "bob", 1, "resign", ref="late")))
        await eventually(lambda: shard in one.shards, timeout_s=15)
        assert await eventually(lambda: answered(one, game), timeout_s=20) == 1
        assert await one.link.play(game, "bob", 1, "exchange", ref="r2") == 2
        two.signal(signal.SIGCONT)
        assert await late is Reason.MOVED
        await eventually(lambda: len(routes.shards_by_worker().get("w2", [])) > 0, timeout_s=15)
        await eventually(lambda: shard in routes.shards_by_worker()["w2"] and shard not in one.shards, timeout_s=15)
        assert await until_accepted(two.link, game, "ada", 2, "exchange", ref="r3") == 3
        logged = await records(one, game)
        assert [r.ref for r in logged if r.ref] == ["r1", "r2", "r3"]
        assert [r.epoch for r in logged] == sorted(r.epoch for r in logged)
    finally:
        await routes.stop()
        await client.close()
        await two.end()
        await one.close()


async def answered(worker: WorkerUnderTest, game: str) -> int:
    """The version that the first play under its ref was answered with; 0 while the shard is on its way."""
    try:
        return await worker.link.play(game, "ada", 0, "exchange", ref="r1")
    except Rejected as refusal:
        if refusal.reason not in (Reason.UNAVAILABLE, Reason.MOVED):
            raise
        return 0


async def test_a_worker_told_to_end_hands_over_first(nats_process: LocalServer) -> None:
    one = await WorkerUnderTest.start("w1", nats_url=url(nats_process))
    two = WorkerProcess("w2", url(nats_process))
    await two.start()
    client = await nats_io.connect(CommonSettings(name="gw", nats_url=url(nats_process)))
    routes = await Routes.open(client.jetstream(), SHARDS, 1)
    await routes.start()
    try:
        await eventually(lambda: len(routes.shards_by_worker().get("w2", [])) > 0, timeout_s=30)
        shard = routes.shards_by_worker()["w2"][0]
        game = game_in({shard})
        await eventually(lambda: created(two, game), timeout_s=20)
        assert await two.link.play(game, "ada", 0, "exchange", ref="r1") == 1
        two.signal(signal.SIGTERM)
        await eventually(lambda: shard in one.shards, timeout_s=15)
        assert await until_accepted(one.link, game, "ada", 0, "exchange", ref="r1") == 1
        assert two.process is not None
        assert await asyncio.wait_for(two.process.wait(), 20) == 0
        await eventually(lambda: one.shards == set(range(SHARDS)), timeout_s=15)
        assert [w.name for w in routes.workers()] == ["w1"]
    finally:
        await routes.stop()
        await client.close()
        await two.end()
        await one.close()
