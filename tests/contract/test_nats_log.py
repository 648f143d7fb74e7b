"""The log port: one suite for the in-memory twin and for JetStream on a real server."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from nats.aio.client import Client

from numbridge import names, nats_io
from numbridge.settings import CommonSettings
from tablesvc.adapters.nats_log import NatsLog
from tablesvc.ports import Away, LogError, TableLog, WrongLast
from tests.helpers.eventually import eventually
from tests.helpers.memory_tables import Cluster as MemoryCluster
from tests.helpers.memory_tables import MemoryHome

GAME = "07-ABCDEFGHIJKLMNOP"
OTHER = "07-PONMLKJIHGFEDCBA"


@dataclass
class Two:
    """Two owners' connections to one log."""

    one: TableLog
    two: TableLog


async def connected(url: str) -> tuple[Client, NatsLog]:
    client = await nats_io.connect(CommonSettings(name="test", nats_url=url))
    js = client.jetstream(timeout=2)
    await nats_io.ensure_streams(js, 1)
    log = NatsLog(client, js, timeout_s=0.5)
    await log.start()
    return client, log


@pytest_asyncio.fixture(params=["memory", "real"])
async def logs(request: pytest.FixtureRequest, clean_nats: str) -> AsyncIterator[Two]:
    if request.param == "memory":
        cluster = MemoryCluster()
        yield Two(MemoryHome(cluster).log, MemoryHome(cluster).log)
        return
    url = clean_nats
    first, second = await connected(url), await connected(url)
    yield Two(first[1], second[1])
    for client, log in (first, second):
        await log.stop()
        await client.close()


async def put(log: TableLog, expected: int, data: bytes, append: str, game: str = GAME) -> int:
    return await (await log.append(7, game, data, expected, append))


async def test_appends_follow_one_another(logs: Two) -> None:
    first = await put(logs.one, 0, b"a", "1")
    await put(logs.one, 0, b"x", "2", OTHER)
    second = await put(logs.one, first, b"b", "3")
    assert second > first
    assert [m.data for m in await logs.two.read_game(7, GAME, 0)] == [b"a", b"b"]
    assert [m.data for m in await logs.two.read_game(7, GAME, first)] == [b"b"]
    assert await logs.two.read_game(7, GAME, second) == []


async def test_a_stale_writer_is_refused(logs: Two) -> None:
    first = await put(logs.one, 0, b"a", "1")
    await put(logs.two, first, b"takeover", "2")
    for wrong in (first, 0, first + 100):
        with pytest.raises(WrongLast):
            await put(logs.one, wrong, b"late", f"late-{wrong}")
    assert [m.data for m in await logs.one.read_game(7, GAME, 0)] == [b"a", b"takeover"]


async def test_of_eight_racing_writers_one_wins(logs: Two) -> None:
    first = await put(logs.one, 0, b"a", "1")
    racing = [put((logs.one, logs.two)[n % 2], first, b"%d" % n, f"race-{n}") for n in range(8)]
    outcomes = await asyncio.gather(*racing, return_exceptions=True)
    won = [outcome for outcome in outcomes if isinstance(outcome, int)]
    assert len(won) == 1
    assert all(isinstance(outcome, WrongLast) for outcome in outcomes if not isinstance(outcome, int))
    assert len(await logs.one.read_game(7, GAME, first)) == 1


async def test_of_eight_makers_of_a_game_one_wins(logs: Two) -> None:
    outcomes = await asyncio.gather(
        *(put(logs.one, 0, b"%d" % n, f"make-{n}") for n in range(8)), return_exceptions=True
    )
    assert sum(isinstance(outcome, int) for outcome in outcomes) == 1


async def test_the_very_same_append_again_lands_at_most_once(logs: Two) -> None:
    """Refused on some servers, a duplicate on others: the log holds it once in any case, and tells by its tail."""
    first = await put(logs.one, 0, b"a", "1")
    await put(logs.one, first, b"b", "2")
    try:
        await put(logs.one, first, b"b", "2")
    except WrongLast:
        pass
    assert [m.data for m in await logs.one.read_game(7, GAME, 0)] == [b"a", b"b"]


async def test_many_games_at_once(logs: Two) -> None:
    games = [f"07-{n:016d}" for n in range(200)]
    sequences = await asyncio.gather(*(put(logs.one, 0, b"%d" % n, f"g{n}", game) for n, game in enumerate(games)))
    assert len(set(sequences)) == 200


async def test_a_game_is_made_only_under_the_latest_mark(logs: Two) -> None:
    """A former owner that does not know of the new one can't make a game that the new one would not know of."""
    old = await logs.one.mark(7, b"old", 0, "m1")
    await logs.one.create(7, GAME, b"a", old, "1")
    new = await logs.two.mark(7, b"new", old, "m2")
    with pytest.raises(WrongLast):
        await logs.one.create(7, OTHER, b"a", old, "2")
    await logs.two.create(7, OTHER, b"a", new, "3")
    assert [m.data for m in await logs.one.read_game(7, OTHER, 0)] == [b"a"]


async def test_marks_follow_one_another(logs: Two) -> None:
    assert await logs.one.last_mark(7) is None
    first = await logs.one.mark(7, b"1", 0, "m1")
    with pytest.raises(WrongLast):
        await logs.two.mark(7, b"x", 0, "m2")
    second = await logs.two.mark(7, b"2", first, "m3")
    last = await logs.one.last_mark(7)
    assert last is not None
    assert (last.seq, last.data) == (second, b"2")
    assert await logs.one.last_mark(8) is None
    await logs.one.forget_marks(7)
    again = await logs.one.last_mark(7)
    assert again == last
    with pytest.raises(WrongLast):
        await logs.one.mark(7, b"3", first, "m4")


async def test_a_shard_is_read_in_order_up_to_the_mark(logs: Two) -> None:
    games = [f"07-{n:016d}" for n in range(20)]
    last = dict.fromkeys(games, 0)
    for step in range(10):
        for game in games:
            last[game] = await put(logs.one, last[game], f"{game} {step}".encode(), f"{game}.{step}", game)
    await (await logs.one.append(8, "08-ABCDEFGHIJKLMNOP", b"another shard", 0, "other"))
    mark = await logs.two.mark(7, b"mark", 0, "m1")
    await put(logs.one, last[games[0]], b"after", "after", games[0])
    found = await logs.two.read_shard(7, mark)
    assert [m.seq for m in found] == sorted(m.seq for m in found)
    assert found[-1].seq == mark
    by_game = {game: [m.data.decode() for m in found if m.game == game] for game in games}
    assert by_game == {game: [f"{game} {step}" for step in range(10)] for game in games}
    assert [m.data for m in await logs.two.read_game(7, games[0], last[games[0]])] == [b"after"]


async def test_an_empty_shard_is_read_too(logs: Two) -> None:
    mark = await logs.one.mark(7, b"mark", 0, "m1")
    assert [m.seq for m in await logs.one.read_shard(7, mark)] == [mark]


async def test_a_purged_game_is_gone_and_others_stay(logs: Two) -> None:
    first = await put(logs.one, 0, b"a", "1")
    await put(logs.one, 0, b"b", "2", OTHER)
    await logs.one.purge(7, GAME)
    await logs.one.purge(7, GAME)
    assert await logs.one.read_game(7, GAME, 0) == []
    assert len(await logs.one.read_game(7, OTHER, 0)) == 1
    with pytest.raises(WrongLast):
        await put(logs.two, first, b"late", "3")


async def test_what_waits_for_an_ack_is_known(logs: Two) -> None:
    assert logs.one.waiting_since() is None
    pending = await logs.one.append(7, GAME, b"a", 0, "1")
    assert logs.one.waiting_since() is not None
    await pending
    assert logs.one.waiting_since() is None
    await logs.one.ask()


async def test_takeover_makes_the_former_owners_next_append_fail(logs: Two) -> None:
    """1. A writes, 2. B marks the shard, reads it, appends its takeover record, 3. A's append fails, B's goes on."""
    a = await put(logs.one, 0, b"a1", "a1")
    a = await put(logs.one, a, b"a2", "a2")
    mark = await logs.two.mark(7, b"B", 0, "m")
    found = [m for m in await logs.two.read_shard(7, mark) if m.game == GAME]
    b = await put(logs.two, found[-1].seq, b"takeover", "b1")
    with pytest.raises(WrongLast):
        await put(logs.one, a, b"a3", "a3")
    await put(logs.two, b, b"b2", "b2")
    assert [m.data for m in await logs.one.read_game(7, GAME, 0)] == [b"a1", b"a2", b"takeover", b"b2"]


async def test_a_server_that_stops_leaves_appends_unknown(clean_nats: str) -> None:
    client, log = await connected(clean_nats)
    try:
        await put(log, 0, b"a", "1")
        await client.jetstream().delete_stream(names.TABLES)
        with pytest.raises(Away):  # nobody keeps the stream
            await put(log, 0, b"b", "2")
        with pytest.raises(LogError):
            await log.last_mark(7)
        await client.close()
        with pytest.raises(Away):
            await log.append(7, GAME, b"c", 0, "3")
        with pytest.raises(Away):
            await log.ask()
        await eventually(lambda: log.waiting_since() is None)
    finally:
        await log.stop()
