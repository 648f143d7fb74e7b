"""The log on three NATS servers, three replicas each: its leader is killed, and nothing is lost, doubled or forked."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio

from numbridge import names, nats_io
from numbridge.errors import Reason
from numbridge.routing import Routes
from numbridge.settings import CommonSettings
from tablesvc.adapters.nats_log import NatsLog
from tablesvc.codec import read_record
from tablesvc.ports import Away, WrongLast
from tests.helpers.eventually import eventually
from tests.helpers.nats_trio import Trio, trio
from tests.helpers.table_workers import (
    SHARDS,
    WorkerProcess,
    WorkerUnderTest,
    created,
    game_in,
    refused,
    until_accepted,
)

GAMES, MOVES = 12, 10
GAME = "07-ABCDEFGHIJKLMNOP"


@pytest_asyncio.fixture
async def three(tmp_path: Path) -> AsyncIterator[Trio]:
    async with trio(tmp_path) as servers:
        yield servers


def count(worker: WorkerUnderTest, outcome: str) -> float:
    """Appends with that outcome."""
    value = worker.app.registry.get_sample_value("numbridge_tablesvc_appends_total", {"outcome": outcome})
    return value or 0.0


async def refs_of(worker: WorkerUnderTest, game: str) -> list[str]:
    """Refs of the game's records, in the log's order."""
    shard = int(game[:2], 16)
    records = [read_record(m.data) for m in await worker.app.world.log.read_game(shard, game, 0)]
    return [record.ref for record in records if record.ref]


async def test_the_leader_dies_under_moves(three: Trio) -> None:
    """1. Twelve games are played, 2. the leader of their log stands still, then dies, 3. they are played on."""
    worker = await WorkerUnderTest.start("w1", nats_url=three.url, stream_replicas=3)
    client = await three.connect()
    acknowledged: dict[str, int] = {}

    async def play(game: str) -> None:
        for version in range(MOVES):
            player = ("ada", "bob")[version % 2]
            now = await until_accepted(worker.link, game, player, version, "exchange", ref=f"r{version}")
            assert now == version + 1
            acknowledged[game] = now

    try:
        await eventually(lambda: worker.shards == set(range(SHARDS)), timeout_s=20)
        games = [game_in(worker.shards, number) for number in range(GAMES)]
        for game in games:
            await worker.create(game)
            for player in ("ada", "bob"):
                await worker.link.join(game, player)
        leader = three.servers[await three.leader(client, names.TABLES)]
        playing = [asyncio.create_task(play(game)) for game in games]
        await eventually(lambda: len(acknowledged) == GAMES)
        leader.pause()  # what is under way now gets no answer from it
        await eventually(lambda: worker.app.world.stalls.open and count(worker, "unknown") > 0, timeout_s=20)
        await leader.kill()
        await asyncio.gather(*playing)
        for game in games:
            assert await refs_of(worker, game) == [f"r{version}" for version in range(MOVES)]
            view = json.loads((await worker.link.join(game, "ada")).state)["view"]
            stalled = worker.app.world.stalls.since(0, worker.app.world.clock())
            spent = 600_000 - view["clock"]["blue_ms"] - view["clock"]["red_ms"]
            assert spent < stalled  # the time without a log is nobody's
        assert worker.shards == set(range(SHARDS))
    finally:
        await client.close()
        await worker.close()


async def test_a_former_owner_is_refused_after_a_takeover_and_a_new_leader(three: Trio) -> None:
    """What a former owner has in hand when shard and leader change is refused: a move, a new game, a mark."""
    clients, logs = [], []
    for _ in range(2):
        client = await nats_io.connect(CommonSettings(name="test", nats_url=three.url))
        js = client.jetstream(timeout=2)
        await nats_io.ensure_streams(js, 3)
        log = NatsLog(client, js, timeout_s=0.5)
        await log.start()
        clients.append(client)
        logs.append(log)
    old, new = logs
    try:
        mark = await old.mark(7, b"old", 0, "m1")
        made = await old.create(7, GAME, b"game", mark, "c1")
        later = await new.mark(7, b"new", mark, "m2")
        taken = await (await new.append(7, GAME, b"taken over", made, "t1"))
        await three.servers[await three.leader(clients[1], names.TABLES)].kill()
        await three.leader(clients[1], names.TABLES)

        async def refusal(log: NatsLog, what: str) -> type[Exception] | None:
            """The last word on an append of the former owner's: it is sent again while nobody answers."""
            try:
                if what == "move":
                    await (await log.append(7, GAME, b"late", made, "x1"))
                elif what == "game":
                    await log.create(7, "07-PONMLKJIHGFEDCBA", b"late", mark, "x2")
                else:
                    await log.mark(7, b"late", mark, "x3")
            except Away:
                return None
            except WrongLast as wrong:
                return type(wrong)
            raise AssertionError(f"a former owner's {what} was taken")

        for what in ("move", "game", "mark"):
            assert await eventually(lambda what=what: refusal(old, what), timeout_s=20) is WrongLast  # type: ignore[misc]

        async def logged() -> list[Any] | None:
            try:
                return await new.read_shard(7, taken)
            except Away:
                return None

        found = await eventually(logged, timeout_s=20)
        assert [(m.game, m.data) for m in found] == [("owner", b"old"), (GAME, b"game"), ("owner", b"new"),
                                                     (GAME, b"taken over")]  # fmt: skip
        assert [m.seq for m in found] == [mark, made, later, taken]
    finally:
        for log, client in zip(logs, clients, strict=True):
            await log.stop()
            await client.close()


async def test_a_stopped_owner_comes_back_after_a_takeover(three: Trio) -> None:
    """1. w2 is stopped past its lease, 2. w1 takes over, the leader dies, all play on, 3. w2 goes on: `moved`.

    Who watches from outside, as gateways do, sees each change of owner.
    """
    one = await WorkerUnderTest.start("w1", nats_url=three.url, stream_replicas=3)
    two = WorkerProcess("w2", three.url, stream_replicas=3)
    await two.start()
    client = await nats_io.connect(CommonSettings(name="gw", nats_url=three.url))
    routes = await Routes.open(client.jetstream(), SHARDS, 3)
    await routes.start()

    def owned(name: str) -> list[int]:
        return routes.shards_by_worker().get(name, [])

    try:
        await eventually(lambda: owned("w2") and len(one.shards) + len(owned("w2")) == SHARDS, timeout_s=30)
        shard = owned("w2")[0]
        game = game_in({shard})
        await eventually(lambda: created(two, game), timeout_s=20)
        assert await two.link.play(game, "ada", 0, "exchange", ref="r1") == 1
        two.signal(signal.SIGSTOP)
        late = asyncio.ensure_future(refused(two.link.play(game, "bob", 1, "resign", ref="late")))
        await eventually(lambda: shard in one.shards, timeout_s=20)
        assert await until_accepted(one.link, game, "ada", 0, "exchange", ref="r1") == 1
        leader = three.servers[await three.leader(client, names.TABLES)]
        await leader.kill()
        assert await until_accepted(one.link, game, "bob", 1, "exchange", ref="r2") == 2
        await eventually(lambda: len(owned("w1")) == SHARDS, timeout_s=20)
        two.signal(signal.SIGCONT)
        assert await late in (Reason.MOVED, Reason.UNAVAILABLE)  # its own server may be the dead one
        await eventually(lambda: shard in owned("w2") and shard not in one.shards, timeout_s=30)
        assert await until_accepted(two.link, game, "ada", 2, "exchange", ref="r3") == 3
        assert await refs_of(one, game) == ["r1", "r2", "r3"]
    finally:
        await routes.stop()
        await client.close()
        await two.end()
        await one.close()
