"""What should not be left behind, made on purpose: each kind is put right, and counted; else the count is zero."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from lobby import keys, seating, sweeper
from lobby.ports import Made, Making
from lobby.wiring import LobbyApp
from tests.contract.lobby_club import Club, club
from tests.helpers.eventually import eventually

KINDS = ("match_without_table", "table_without_match", "seat_without_game")


@pytest_asyncio.fixture
async def one(clean_nats: str, clean_redis: str) -> AsyncIterator[Club]:
    async with club(clean_nats, clean_redis, seat_deadline_ms=30_000) as made:
        yield made


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweeper looks at everything in each round, and at what is young too."""
    for name, value in (("_RARE_S", 0.0), ("_UNENTERED_MS", 50), ("_SILENT_MS", 50)):
        monkeypatch.setattr(sweeper, name, value)


def swept(app: LobbyApp) -> dict[str, float]:
    """What the replica has counted."""
    return {kind: app.registry.get_sample_value("numbridge_lobby_swept_total", {"what": kind}) or 0.0 for kind in KINDS}


async def test_where_nothing_is_wrong_nothing_is_counted(one: Club, quick: None) -> None:
    game = await one.play("ada", "bob")
    await one.say(game, "playing", version=1)
    looked = one.tables.looked
    await eventually(lambda: one.tables.looked > looked + 1)  # silent for so long, says the test; the worker knows it
    assert await one.status_of("ada", game, "playing")
    await one.over(game)
    assert swept(one.apps[0]) == dict.fromkeys(KINDS, 0.0)


async def test_a_match_whose_entry_is_lost_is_seated_under_the_same_game(one: Club, quick: None) -> None:
    """A replica dies with a match in hand, and Redis loses its seating stream."""
    down = True
    one.tables.script = lambda _match: Made(Making.NOT_MADE) if down else None
    await one.post("ada")
    await one.post("bob")
    await eventually(lambda: one.tables.attempts)
    await one.kill(0)
    await one.redis.delete(keys.SEATING)
    down = False
    app = await one.replica("lobby-2")
    seated = await one.hears("ada", "seated")
    await one.hears("bob", "seated", game=seated["game"])
    assert set(one.tables.attempts) == set(one.tables.made) == {seated["game"]}
    assert swept(app) == {**dict.fromkeys(KINDS, 0.0), "match_without_table": 1.0}


async def test_a_seat_at_a_game_that_no_worker_knows_is_freed(one: Club, quick: None) -> None:
    game = await one.play("ada", "bob")
    await one.say(game, "playing", version=1)
    await eventually(lambda: one.status_of("ada", game, "playing"))
    del one.tables.made[game]
    await eventually(lambda: one.status_of("ada", game, None))
    await eventually(lambda: one.status_of("bob", game, None))
    await eventually(lambda: swept(one.apps[0]) == {**dict.fromkeys(KINDS, 0.0), "seat_without_game": 1.0})
    assert await one.play("ada", "bob") != game


async def test_a_replica_that_slept_makes_no_table_that_anybody_hears_of(
    clean_nats: str, clean_redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1. One stands still before CreateTable, 2. the other gives the match up, 3. the first goes on and makes it."""
    monkeypatch.setattr(seating, "_ABANDONED_MS", 300)
    async with club(clean_nats, clean_redis, replicas=2) as two:
        awake, asleep = asyncio.Event(), asyncio.Event()
        create, down = two.tables.create, True

        async def sleeping(match: object) -> Made:
            if not asleep.is_set():
                asleep.set()
                await awake.wait()
                return await create(match)  # type: ignore[arg-type]
            return Made(Making.NOT_MADE) if down else await create(match)  # type: ignore[arg-type]

        two.tables.create = sleeping  # type: ignore[method-assign]
        await two.post("ada", seek="s-a", rating_min=1, rating_max=2000)
        game = (await two.accept("bob", "s-a")).game
        await asleep.wait()
        await two.hears("bob", "seating_failed", game=game)
        await two.hears("ada", "seek_reopened", seek="s-a")
        awake.set()
        await eventually(lambda: two.tables.withdrawn == [game])
        assert sum(swept(app)["table_without_match"] for app in two.apps) == 1
        down = False
        other = (await two.accept("bob", "s-a")).game
        for player in ("ada", "bob"):
            await two.hears(player, "seated", game=other)
            assert [event["game"] for event in two.heard[player] if event["ev"] == "seated"] == [other]


async def test_redis_emptied_while_a_match_is_seated_seats_nobody_twice(one: Club) -> None:
    """1. No table can be made just now, 2. Redis is emptied, 3. the seeks are posted again and meet again."""
    down = True
    one.tables.script = lambda _match: Made(Making.NOT_MADE) if down else None
    posted = [await one.post(player, seek=f"s-{player}") for player in ("ada", "bob")]
    await eventually(lambda: one.tables.attempts)
    former = one.tables.attempts[0]
    await one.redis.flushall()
    await eventually(lambda: one.apps[0].seating.in_hand == 0)  # given up: it is nobody's match any more
    down = False
    await eventually(lambda: not one.apps[0].gate.open)
    await one.keep(["ada", "bob"], seeks=[reply.seek for reply in posted])
    seated = await one.hears("ada", "seated")
    await one.hears("bob", "seated", game=seated["game"])
    assert list(one.tables.made) == [seated["game"]] != [former]
