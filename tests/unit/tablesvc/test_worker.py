"""Whole workers on in-memory servers: shards that move, results that are sent until they are known, clocks."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest_asyncio

from numbridge.errors import Reason
from numbridge.routing import ShardEntry, WorkerEntry
from numbridge.v1 import log_pb2
from tablesvc.codec import write_record
from tablesvc.placement import assignment
from tests.helpers.eventually import eventually
from tests.helpers.memory_tables import OWNER, Cluster, MemoryHome
from tests.helpers.table_workers import SHARDS, WorkerUnderTest, game_in, refused, settled

Start = Callable[..., Awaitable[WorkerUnderTest]]


@pytest_asyncio.fixture
async def start(cluster: Cluster) -> AsyncIterator[Start]:
    started: list[WorkerUnderTest] = []

    async def one(name: str, **changes: Any) -> WorkerUnderTest:
        worker = await WorkerUnderTest.start(name, home=MemoryHome(cluster), **changes)
        started.append(worker)
        return worker

    yield one
    for worker in started:
        await worker.close()


def home_of(worker: WorkerUnderTest) -> MemoryHome:
    home = worker.app.world.log._home  # type: ignore[attr-defined]
    assert isinstance(home, MemoryHome)
    return home


async def test_an_adjourned_game_survives_a_takeover_with_its_clocks(start: Start, cluster: Cluster) -> None:
    one = await start("w1")
    await settled(one)
    game = game_in(one.shards)
    await one.create(game)
    for player in ("ada", "bob"):
        await one.link.join(game, player)
    assert await one.link.play(game, "ada", 0, "offer_adjourn") == 1
    assert await one.link.play(game, "bob", 0, "accept_adjourn") == 3
    before = json.loads((await one.link.join(game, "ada")).state)["view"]
    assert (before["status"], before["clock"]["running"]) == ("adjourned", False)
    await one.close()
    two = await start("w2")
    await settled(two)
    after = json.loads((await two.link.join(game, "ada")).state)["view"]
    assert after == before
    assert cluster.of_game(game)[-1].epoch == 2
    assert list(cluster.of_game(game)[-1].events) == []  # a mark of ownership: no clock runs, none is given time
    assert await two.link.play(game, "bob", 3, "resume") == 4
    assert await two.link.play(game, "ada", 4, "resume") == 6


async def test_a_finished_game_not_known_to_be_in_sql_is_sent_again_by_the_next_owner(
    start: Start, cluster: Cluster
) -> None:
    one = await start("w1", result_retry_ms=60_000)
    await settled(one)
    game = game_in(one.shards)
    await one.create(game)
    await one.link.play(game, "ada", 0, "resign")
    await eventually(lambda: len(cluster.results) == 1)
    await one.close()
    cluster.result_ids.clear()  # the window in which repeats are dropped is over
    two = await start("w2")
    await eventually(lambda: len(cluster.results) == 2)
    first, second = (log_pb2.GameResult.FromString(data) for _, data in cluster.results)
    assert first == second
    assert await refused(two.link.play(game, "bob", 1, "exchange")) is Reason.OVER
    for archived in cluster.archived:
        archived(game)
    await eventually(lambda: not any(m.game == game for _, m in cluster.messages))
    assert await refused(two.link.join(game)) is Reason.NOT_FOUND


async def test_a_result_is_kept_until_the_stream_takes_it(start: Start, cluster: Cluster) -> None:
    one = await start("w1")
    await settled(one)
    game = game_in(one.shards)
    await one.create(game)
    publish = home_of(one).results.publish
    tries: list[bool] = []

    async def broken(shard: int, game: str, data: bytes, once: bool) -> None:
        tries.append(once)
        if len(tries) < 3:
            home_of(one).connected = False
            try:
                await publish(shard, game, data, once)
            finally:
                home_of(one).connected = True
        await publish(shard, game, data, once)

    home_of(one).results.publish = broken  # type: ignore[method-assign]
    await one.link.play(game, "ada", 0, "resign")
    await eventually(lambda: len(cluster.results) == 1)
    assert tries == [True, True, True]
    await eventually(lambda: len(cluster.results) >= 2)  # nobody says that it is in SQL
    assert tries[3] is False


async def test_making_a_table_survives_lost_replies(start: Start, cluster: Cluster) -> None:
    one = await start("w1")
    await settled(one)
    game = game_in(one.shards)
    home_of(one).log.lose_acks = 1
    assert not (await one.create(game)).existed
    assert (await one.create(game)).existed
    assert len(cluster.of_game(game)) == 1
    other = game_in(one.shards, 1)
    home_of(one).log.lose_appends = 1
    replies = await asyncio.gather(*(one.create(other) for _ in range(5)))
    assert sum(reply.existed for reply in replies) in range(5)
    assert len(cluster.of_game(other)) == 1


async def test_a_table_is_not_made_where_a_later_owner_has_marked(start: Start, cluster: Cluster) -> None:
    """1. another owner takes the shard's mark, 2. this one does not know yet, 3. it is asked to make a game."""
    one = await start("w1")
    await settled(one)
    game = game_in(one.shards)
    shard = int(game[:2], 16)
    cluster.store(shard, OWNER, write_record(OWNER, 0, 9, "other.1", 0, []), "other.1")
    assert await refused(one.create(game)) is Reason.MOVED
    assert cluster.of_game(game) == []
    # The entry still names this worker: it takes the shard again, above the epoch that it has seen.
    await eventually(lambda: shard in one.shards and one.app.registry_of_tables.shards[shard].epoch > 9)
    assert not (await one.create(game)).existed


async def test_a_broken_log_sets_one_table_aside_and_the_others_go_on(start: Start, cluster: Cluster) -> None:
    one = await start("w1")
    await settled(one)
    shard = min(one.shards)
    games = [game_in({shard}) for _ in range(3)]
    for game in games:
        await one.create(game)
    await one.close()
    cluster.store(shard, games[1], b"\xff\xff", "noise")
    two = await start("w2")
    await settled(two)
    assert await refused(two.link.join(games[1])) is Reason.INTERNAL
    for game in (games[0], games[2]):
        assert await two.link.play(game, "ada", 0, "exchange") == 1
    assert two.app.world.metrics.damaged._value.get() == 1


async def test_cut_off_it_says_nothing_and_keeps_its_tables_if_nobody_took_them(start: Start, cluster: Cluster) -> None:
    one = await start("w1", answer_ms=500, append_timeout_ms=200)
    await settled(one)
    game = game_in(one.shards)
    await one.create(game)
    await one.link.join(game, "ada")
    shards = dict(one.app.registry_of_tables.shards)
    home_of(one).cut()
    await eventually(lambda: not one.app.ownership.alive())
    assert await refused(one.link.play(game, "ada", 0, "exchange", ref="r")) is Reason.UNAVAILABLE
    assert await refused(one.link.join(game, "ada")) is Reason.UNAVAILABLE
    home_of(one).mend()
    await eventually(one.app.ownership.alive)
    assert await one.link.play(game, "ada", 0, "exchange", ref="r") == 1
    assert dict(one.app.registry_of_tables.shards) == shards


async def test_cut_off_and_replaced_it_drops_its_tables_and_takes_part_again(start: Start, cluster: Cluster) -> None:
    one, two = await start("w1"), await start("w2")
    await settled(one, two)
    game = game_in(two.shards)
    await two.create(game)
    home_of(two).cut()
    await settled(one)
    assert await one.link.play(game, "ada", 0, "exchange", ref="r") == 1
    told = len(cluster.told(game))
    asked = asyncio.ensure_future(refused(two.link.play(game, "ada", 0, "resign")))
    home_of(two).mend()
    assert await asked in (Reason.MOVED, Reason.UNAVAILABLE)
    await settled(one, two)
    assert len(cluster.told(game)) == told
    owner = one if int(game[:2], 16) in one.shards else two
    assert await owner.link.play(game, "ada", 0, "exchange", ref="r") == 1


async def test_when_all_were_cut_off_nobody_is_taken_for_dead(start: Start, cluster: Cluster) -> None:
    one, two = await start("w1"), await start("w2")
    await settled(one, two)
    owned = {w: dict(w.app.registry_of_tables.shards) for w in (one, two)}
    for worker in (one, two):
        home_of(worker).cut()
    await eventually(lambda: not one.app.ownership.alive() and not two.app.ownership.alive())
    home_of(one).mend()
    await eventually(one.app.ownership.alive)
    home_of(two).mend()
    await eventually(two.app.ownership.alive)
    await settled(one, two)
    assert {w: dict(w.app.registry_of_tables.shards) for w in (one, two)} == owned


async def test_a_name_taken_by_another_process_ends_this_one(start: Start, cluster: Cluster) -> None:
    one = await start("w1")
    await settled(one)
    sign = cluster.workers["w1"]
    other = WorkerEntry("w1", "another run", "x:1", draining=False, tables=0, ttl_ms=600, beat=1)
    await home_of(one).leases.put_worker(other, sign.revision)
    await asyncio.wait_for(one.app.ended.wait(), 10)
    assert not one.app.ownership.alive()


async def test_a_shard_that_went_to_another_is_dropped_at_once(start: Start, cluster: Cluster) -> None:
    one = await start("w1")
    await settled(one)
    game = game_in(one.shards)
    await one.create(game)
    shard = int(game[:2], 16)
    lease = cluster.shards[shard]
    held = one.app.registry_of_tables.shards[shard]
    await home_of(one).leases.put_shard(shard, ShardEntry("w9", "r9", lease.entry.epoch + 1, "x:1"), lease.revision)
    await eventually(lambda: held.gone)
    # w9 is not alive: the shard comes back, with the game, under a later epoch.
    await eventually(lambda: shard in one.shards)
    assert await one.link.play(game, "ada", 0, "exchange") == 1
    assert cluster.of_game(game)[-1].epoch == lease.entry.epoch + 2


def counted(worker: WorkerUnderTest, name: str, **labels: str) -> float:
    """A counter of the worker's."""
    return worker.app.registry.get_sample_value(f"numbridge_tablesvc_{name}_total", labels) or 0.0


async def test_shards_that_their_worker_leaves_lying_are_counted(start: Start, cluster: Cluster) -> None:
    """w2 lives, says its lease, and takes nothing: shards that are its own have no owner, which should not be."""
    one = await start("w1", lease_ttl_ms=300, lease_beat_ms=50)
    await settled(one)
    lazy = {shard for shard, owner in enumerate(assignment(("w1", "w2"), SHARDS)) if owner == "w2"}
    beats = itertools.count(1)

    async def lives() -> bool:
        known = cluster.workers.get("w2")
        entry = WorkerEntry("w2", "r2", "x:1", draining=False, tables=0, ttl_ms=300, beat=next(beats))
        await home_of(one).leases.put_worker(entry, known.revision if known is not None else 0)
        return counted(one, "ownerless_shards") == len(lazy)

    async def handed_over() -> bool:
        return not await lives() and one.shards.isdisjoint(lazy)

    await eventually(handed_over)  # and none has been counted: no change of owner takes so long
    await eventually(lives, timeout_s=20)
    await settled(one)  # w2 is silent now, and so dead: its shards are taken
    assert counted(one, "ownerless_shards") == len(lazy)


async def test_a_result_that_nobody_confirms_is_sent_again_and_counted(start: Start, cluster: Cluster) -> None:
    one = await start("w1")
    await settled(one)
    confirmed, silent = game_in(one.shards), game_in(one.shards, 1)
    for game in (confirmed, silent):
        await one.create(game)
    await one.link.play(confirmed, "ada", 0, "resign")
    await eventually(lambda: len(cluster.results) == 1)
    for archived in cluster.archived:
        archived(confirmed)
    assert one.app.outbox.unconfirmed == 0
    await one.link.play(silent, "ada", 0, "resign")
    await eventually(lambda: counted(one, "results", how="resent") >= 1)
    assert {game for game, _ in cluster.results} == {confirmed, silent}
    assert [game for game, _ in cluster.results].count(confirmed) == 1
    assert one.app.outbox.unconfirmed == 1


async def test_who_sits_where_is_said_when_asked(start: Start, cluster: Cluster) -> None:
    one = await start("w1")
    await settled(one)
    game = game_in(one.shards)
    await one.create(game)
    await eventually(lambda: any(game in [g.game for g in n.games] for n in cluster.notices))
    cluster.notices.clear()
    for asked in cluster.seats_asked:
        asked()
    await eventually(lambda: len(cluster.notices) == SHARDS)
    assert all(notice.whole_shard for notice in cluster.notices)
    assert sum(len(notice.games) for notice in cluster.notices) == 1


async def test_commands_for_a_shard_that_opens_are_held(start: Start, cluster: Cluster) -> None:
    one = await start("w1")
    await settled(one)
    game = game_in(one.shards)
    await one.create(game)
    await one.close()
    home = MemoryHome(cluster)
    home.log.hold = asyncio.Event()
    two = await WorkerUnderTest.start("w2", home=home, answer_ms=8_000, lease_ttl_ms=600)
    try:
        shard = int(game[:2], 16)
        await eventually(lambda: shard in two.app.registry_of_tables.shards)
        asked = asyncio.ensure_future(two.link.play(game, "ada", 0, "exchange"))
        making = asyncio.ensure_future(two.create(game_in({shard})))
        await eventually(lambda: two.app.registry_of_tables.shards[shard].waits(game))
        home.log.hold.set()
        assert await asked == 1
        assert not (await making).existed
    finally:
        await two.close()
