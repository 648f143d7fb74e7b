"""A table whose log loses acks, loses appends, refuses, goes away, or turns out to be another's."""

import asyncio

from numbridge.clock import monotonic
from tablesvc.codec import write_record
from tablesvc.table import Table
from tablesvc.works import Accepted, Join, Look
from tablesvc.world import World
from tests.helpers.eventually import eventually
from tests.helpers.memory_tables import Cluster
from tests.helpers.tables import GAME, HandClock, OurShard, act, ask, memory_log, reason


async def come(table: Table) -> None:
    for player in ("ada", "bob"):
        await ask(table, Join(player, None, arrive=True))


async def test_a_lost_ack_is_settled_by_the_log(table: Table, world: World, cluster: Cluster) -> None:
    """1. the append lands, 2. its ack is lost, 3. the table reads the subject and finds its own record."""
    await come(table)
    memory_log(world).lose_acks = 1
    assert await ask(table, act(table, "ada", "exchange", ref="once")) == Accepted(1)
    assert [record.ref for record in cluster.of_game(GAME)].count("once") == 1
    assert await ask(table, act(table, "bob", "exchange")) == Accepted(2)


async def test_a_lost_append_is_sent_again(table: Table, world: World, cluster: Cluster) -> None:
    await come(table)
    memory_log(world).lose_appends = 1
    assert await ask(table, act(table, "ada", "exchange", ref="once")) == Accepted(1)
    assert [record.ref for record in cluster.of_game(GAME)].count("once") == 1


async def test_a_stale_owner_is_fenced_on_append(table: Table, world: World, shard: OurShard, cluster: Cluster) -> None:
    """Another owner has appended its takeover record: the next append fails, and the table is dropped."""
    await come(table)
    cluster.store(7, GAME, write_record(GAME, 0, 2, "other.1", 0, []), "other.1")
    told = len(cluster.frames)
    assert reason(await ask(table, act(table, "ada", "exchange"))) == "moved"
    assert shard.gone
    assert cluster.of_game(GAME)[-1].append == "other.1"
    assert len(cluster.frames) == told
    assert table.state.version == 0
    assert reason(await ask(table, Look("ada"))) == "moved"


async def test_what_landed_before_the_other_owner_is_acknowledged(
    table: Table, world: World, shard: OurShard, cluster: Cluster
) -> None:
    """1. the append lands, 2. its ack is lost, 3. another owner appends, 4. the play is in the log: accepted."""
    await come(table)
    memory_log(world).lose_acks = 1
    hold = memory_log(world).hold = asyncio.Event()
    waiting = asyncio.ensure_future(ask(table, act(table, "ada", "exchange")))
    await eventually(lambda: memory_log(world).waiting_since() is not None)
    hold.set()
    await eventually(lambda: memory_log(world).waiting_since() is None)
    cluster.store(7, GAME, write_record(GAME, 1, 2, "other.1", 0, []), "other.1")
    assert await waiting in (Accepted(1),)
    assert reason(await ask(table, act(table, "bob", "exchange"))) == "moved"


async def test_a_full_log_refuses_and_takes_no_clock(
    table: Table, world: World, clock: HandClock, cluster: Cluster
) -> None:
    await come(table)
    memory_log(world).refuse = True
    assert reason(await ask(table, act(table, "ada", "exchange", ref="r"))) == "unavailable"
    assert table.state.version == 0
    for _ in range(5):  # asked again and again meanwhile, every second
        clock.pass_(1_000)
        table.ring()
        await eventually(lambda: not table.busy)
        assert reason(await ask(table, act(table, "ada", "exchange", ref="r"))) == "unavailable"
    memory_log(world).refuse = False
    assert await ask(table, act(table, "ada", "exchange", ref="r")) == Accepted(1)
    moved = next(e.moved for r in cluster.of_game(GAME) for e in r.events if e.HasField("moved"))
    assert moved.used_ms <= 1_000


async def test_while_the_log_is_away_commands_wait_their_time_and_clocks_none(
    table: Table, world: World, clock: HandClock
) -> None:
    await come(table)
    world.stalls.begin(clock())
    began = monotonic()
    play = act(table, "ada", "exchange", ref="r")
    assert reason(await ask(table, play)) == "unavailable"
    assert monotonic() - began >= world.settings.answer_ms / 1000
    clock.pass_(40_000)  # longer than the move limit
    table.ring()
    await eventually(lambda: not table.busy)
    assert table.state.version == 0
    world.stalls.end(clock())
    clock.pass_(5_000)
    assert await ask(table, play) == Accepted(1)
    assert table.state.last is not None
    assert table.state.last.used_ms == 5_000


async def test_an_append_caught_by_an_outage_lands_when_the_log_is_back(
    table: Table, world: World, cluster: Cluster
) -> None:
    """The caller is answered in bounded time; the very same append lands later; its ref tells."""
    await come(table)
    log = memory_log(world)
    log.lose_appends = 10_000
    play = act(table, "ada", "exchange", ref="r")
    assert reason(await ask(table, play)) == "unavailable"
    queued = asyncio.ensure_future(ask(table, play))
    assert reason(await queued) == "unavailable"
    log.lose_appends = 0
    world.changed.fire()
    await eventually(lambda: table.state.version == 1)
    assert await ask(table, play) == Accepted(1)
    assert [record.ref for record in cluster.of_game(GAME)].count("r") == 1


async def test_in_doubt_about_the_lease_nothing_is_done(
    table: Table, world: World, shard: OurShard, cluster: Cluster
) -> None:
    await come(table)
    shard.writable = False
    logged = len(cluster.of_game(GAME))
    waiting = asyncio.ensure_future(ask(table, act(table, "ada", "exchange")))
    looking = asyncio.ensure_future(ask(table, Look("ada")))
    table.ring()
    await eventually(lambda: table.busy)
    assert len(cluster.of_game(GAME)) == logged
    shard.writable = True
    world.changed.fire()
    assert await waiting == Accepted(1)
    await looking


async def test_frames_are_not_said_for_a_lost_shard(
    table: Table, world: World, shard: OurShard, cluster: Cluster
) -> None:
    """The ack comes in, but the lease ran out while the process was stopped: the move stands, nothing is said."""
    await come(table)
    hold = memory_log(world).hold = asyncio.Event()
    waiting = asyncio.ensure_future(ask(table, act(table, "ada", "exchange")))
    await eventually(lambda: memory_log(world).waiting_since() is not None)
    shard.writable = False
    hold.set()
    assert await waiting == Accepted(1)
    assert cluster.told(GAME) == []
    assert table.unsaid
    shard.writable = True
    await table.repeat()
    assert [version for version, _ in cluster.told(GAME)] == [1]
