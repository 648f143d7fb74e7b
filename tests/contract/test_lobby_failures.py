"""What the lobby does when something breaks: tables, gateways, Redis, another replica."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest_asyncio

from lobby.ports import Made, Making
from numbridge.clock import now_ms
from numbridge.v1 import common_pb2, lobby_pb2
from tests.contract.lobby_club import Club, club
from tests.contract.test_lobby_service import refusal
from tests.helpers.eventually import eventually
from tests.unit.lobby.builders import rooms


@pytest_asyncio.fixture
async def one(clean_nats: str, clean_redis: str) -> AsyncIterator[Club]:
    """A club with one replica."""
    async with club(clean_nats, clean_redis) as made:
        yield made


@pytest_asyncio.fixture
async def two(clean_nats: str, clean_redis: str) -> AsyncIterator[Club]:
    """A club with two replicas."""
    async with club(clean_nats, clean_redis, replicas=2) as made:
        yield made


async def test_a_pair_without_a_table_goes_back_with_its_waits_kept(one: Club) -> None:
    """Every attempt certainly fails until the deadline; then tables are back."""
    down = True
    one.tables.script = lambda _match: Made(Making.NOT_MADE) if down else None
    first = await one.post("ada", seek="s-a")
    await one.post("bob", seek="s-b")
    await one.hears("ada", "seek_reopened", seek="s-a")
    await one.hears("bob", "seek_reopened", seek="s-b")
    assert len(set(one.tables.attempts)) == 1 or down
    down = False
    await one.hears("ada", "seated")
    [game] = one.tables.made
    assert len(one.tables.attempts) > len(set(one.tables.attempts))  # the same id was tried again and again
    assert game == one.tables.attempts[-1]
    listed = await one.stub.ListSeeks(lobby_pb2.ListSeeksRequest())
    assert not listed.seeks
    assert first.seek.since <= now_ms()


async def test_an_accepter_is_told_when_there_is_no_table(one: Club) -> None:
    one.tables.script = lambda _match: Made(Making.NOT_MADE)
    await one.post("ada", seek="s-a", rating_min=1, rating_max=2000)
    accepted = await one.accept("bob", "s-a")
    await one.hears("bob", "seating_failed", game=accepted.game)
    await one.hears("ada", "seek_reopened", seek="s-a")
    assert await one.listed() == ["s-a"]
    one.tables.script = lambda _match: None
    assert not (await one.accept("bob", "s-a")).HasField("reject")


async def test_a_lost_answer_makes_no_second_table(one: Club) -> None:
    """The worker makes the table, its answer is lost, again and again; then one answer comes through."""
    lost = 3

    def script(match: object) -> Made | None:
        nonlocal lost
        lost -= 1
        if lost < 0:
            return None
        one.tables.put(match)  # type: ignore[arg-type]
        return Made(Making.UNKNOWN)

    one.tables.script = script
    await one.post("ada")
    await one.post("bob")
    await one.hears("ada", "seated")
    assert len(one.tables.made) == 1
    assert len(set(one.tables.attempts)) == 1
    assert len(one.tables.attempts) == 4


async def test_an_unknown_outcome_is_cleared_up_by_looking(one: Club) -> None:
    def script(match: object) -> Made:
        one.tables.put(match)  # type: ignore[arg-type]
        return Made(Making.UNKNOWN)

    one.tables.script = script
    await one.post("ada")
    await one.post("bob")
    await one.hears("ada", "seated")  # after the deadline, by GetTable
    await one.hears("bob", "seated")
    assert len(one.tables.made) == 1


async def test_an_unknown_outcome_is_undone_only_once_the_owner_knows_of_no_table(one: Club) -> None:
    one.tables.script = lambda _match: Made(Making.UNKNOWN)
    one.tables.looks = Making.UNKNOWN
    await one.post("ada", seek="s-a")
    await one.post("bob", seek="s-b")
    await eventually(lambda: len(one.tables.attempts) >= 5)
    [app] = one.apps
    await eventually(lambda: one.tables.looked >= 2)  # the deadline is over, and it still asks
    assert app.seating.in_hand == 1
    assert not [event for event in one.heard.get("ada", []) if event["ev"] == "seek_reopened"]
    assert refusal(await one.post("ada", "blitz")) == "UNAVAILABLE"
    one.tables.looks = Making.NOT_MADE
    await one.hears("ada", "seek_reopened", seek="s-a")


async def test_a_request_that_no_worker_will_ever_grant_ends_the_seeks(one: Club) -> None:
    one.tables.script = lambda _match: Made(Making.REFUSED, why="no such variant")
    await one.post("ada", seek="s-a")
    await one.post("bob", seek="s-b")
    assert (await one.hears("ada", "seek_ended", seek="s-a"))["reason"] == "unavailable"
    assert await one.listed() == []
    one.tables.script = lambda _match: None
    assert not (await one.post("ada")).HasField("reject")  # nobody is left seated


async def test_without_workers_nobody_is_matched_and_nothing_is_lost(one: Club) -> None:
    one.workers.there = False
    await one.post("ada", seek="s-a")
    await one.post("bob", seek="s-b")
    assert refusal(await one.accept("cid", "s-a")) == "UNAVAILABLE"
    assert await one.listed() == ["s-a", "s-b"]
    one.workers.there = True
    await one.hears("ada", "seated")


async def test_a_seek_ends_after_its_players_last_connection_but_a_reload_keeps_it(one: Club) -> None:
    await one.post("ada", seek="s-a", rating_min=1, rating_max=2)
    await one.post("bob", seek="s-b", rating_min=1, rating_max=2)
    await one.keep(["ada", "bob"])
    await one.leave("ada")
    await one.leave("bob")
    await one.stub.Greet(lobby_pb2.GreetRequest(player=common_pb2.Player(id="bob"), gateway="gw-2"))
    assert (await one.hears("ada", "seek_ended", seek="s-a"))["reason"] == "left"
    assert await one.listed() == ["s-b"]
    await one.keep(["bob"], gateway="gw-2")
    assert await one.listed() == ["s-b"]


async def test_seeks_of_a_dead_gateway_end_unless_their_player_is_elsewhere(one: Club) -> None:
    await one.post("ada", seek="s-a", rating_min=1, rating_max=2, gateway="gw-dead")
    await one.post("bob", seek="s-b", rating_min=1, rating_max=2, gateway="gw-dead")

    async def gone() -> bool:
        await one.keep(["bob"], gateway="gw-2")  # bob had another connection there all the time
        return await one.listed() == ["s-b"]

    await eventually(gone)
    assert (await one.hears("ada", "seek_ended", seek="s-a"))["reason"] == "left"


async def test_a_heartbeat_heals_what_was_not_heard(one: Club) -> None:
    posted = await one.post("ada", seek="s-a")
    other = await one.post("bob", "study", seek="s-b")
    kept = await one.keep(["ada", "bob"], seeks=[posted.seek, other.seek])
    assert (list(kept.ended), list(kept.seated)) == ([], [])
    assert kept.lease_ms == 1_200
    game = (await one.accept("cid", "s-a")).game
    await one.hears("ada", "seated")
    kept = await one.keep(["ada", "bob"], seeks=[posted.seek, other.seek])
    assert list(kept.ended) == ["s-a"]
    [notice] = kept.seated
    assert (notice.player, notice.game, list(notice.seeks)) == ("ada", game, ["s-a"])
    assert b'"seated"' in notice.text


async def test_an_emptied_redis_holds_matching_until_everybody_has_spoken(one: Club) -> None:
    """Redis comes back empty: a seek is posted again by its gateway with its age, seats by their worker."""
    playing = await one.play("eve", "fay")
    posted = await one.post("ada", seek="s-a")
    one.workers.is_idle = False
    asked = one.asked
    await one.redis.flushall()
    await eventually(lambda: not one.apps[0].gate.open)
    await eventually(lambda: one.asked > asked)
    await one.say(playing, "playing", version=2)
    kept = await one.keep(["ada"], seeks=[posted.seek])
    assert list(kept.ended) == []
    await eventually(lambda: one.status_of("eve", playing, "playing"))
    assert await one.listed() == ["s-a"]
    listed = await one.stub.ListSeeks(lobby_pb2.ListSeeksRequest())
    assert listed.seeks[0].since == posted.seek.since
    await one.post("bob", seek="s-b")
    await one.hears("ada", "seated")
    assert one.apps[0].gate.open
    assert refusal(await one.post("eve")) == "FORBIDDEN"


async def test_a_drain_finishes_the_match_in_hand(one: Club) -> None:
    """No other replica is there to find it abandoned: the two would wait for this one to come back."""
    down = True
    one.tables.script = lambda _match: Made(Making.NOT_MADE) if down else None
    await one.post("ada")
    await one.post("bob")
    [app] = one.apps
    await eventually(lambda: app.seating.in_hand == 1)
    draining = asyncio.create_task(app.drain())
    await eventually(lambda: app.draining)
    down = False
    await draining
    assert app.seating.in_hand == 0
    for player in ("ada", "bob"):
        await one.hears(player, "seated")


async def test_a_seat_is_told_by_the_tables_word_when_redis_has_lost_what_was_said(one: Club) -> None:
    """1. Two are seated, 2. Redis is emptied before both have heard, 3. the worker says who sits there, 4. the
    heartbeat of a player's gateway brings the very same `seated`."""
    game = await one.play("eve", "fay")
    said = await one.hears("eve", "seated", game=game)
    await one.redis.flushall()
    await one.say(game, "playing", version=0)
    await eventually(lambda: one.status_of("eve", game, "playing"))
    kept = await one.keep(["eve", "guest"])
    [notice] = kept.seated
    assert (notice.player, notice.game) == ("eve", game)
    assert json.loads(notice.text) == {key: value for key, value in said.items() if key != "_seeks"}


async def test_seats_are_pruned_by_a_whole_shards_word(one: Club) -> None:
    game = await one.play("ada", "bob")
    await one.say(game, "playing", version=1)
    await eventually(lambda: one.status_of("ada", game, "playing"))
    await one.redis.zadd("nb:{lobby}:heard", {game: now_ms() - 10_000})
    await one.whole_shard(7, [])
    await eventually(lambda: one.status_of("ada", game, None))


async def test_two_replicas_share_the_rooms_and_either_answers(two: Club) -> None:
    assert all(app.pools.owned for app in two.apps)
    for room in rooms().ids:
        await two.post(f"a-{room}", room, via=0)
        await two.post(f"b-{room}", room, via=1)
    for room in rooms().ids:
        await two.hears(f"a-{room}", "seated")
        await two.hears(f"b-{room}", "seated")
    assert len(two.tables.made) == 5


async def test_fifty_accept_at_the_same_instant_one_wins(two: Club) -> None:
    for turn in range(5):
        await two.post(f"host{turn}", seek=f"s-{turn}", rating_min=1, rating_max=2000)
        replies = await asyncio.gather(
            *(two.accept(f"guest{turn}-{number}", f"s-{turn}", via=number % 2) for number in range(50))
        )
        won = [reply.game for reply in replies if reply.game]
        assert len(won) == 1
        assert [refusal(reply) for reply in replies if not reply.game] == ["GONE"] * 49
        await two.hears(f"host{turn}", "seated", game=won[0])
    assert len(two.tables.made) == 5


async def test_when_a_replica_dies_the_other_takes_its_rooms_and_loses_no_match(two: Club) -> None:
    for room in rooms().ids:
        await two.post(f"a-{room}", room, via=0)
    await two.kill(1)
    for room in rooms().ids:
        await two.post(f"b-{room}", room, via=0)
    for room in rooms().ids:
        await two.hears(f"a-{room}", "seated")
        await two.hears(f"b-{room}", "seated")
    assert two.apps[0].pools.owned == set(rooms().ids)


async def test_a_match_left_lying_by_a_dead_replica_is_seated_under_the_same_game(two: Club) -> None:
    """The replica dies between CreateTable and the announcement."""
    hang = asyncio.Event()
    create = two.tables.create

    async def stuck(match: object) -> Made:
        made = await create(match)  # type: ignore[arg-type]
        if not hang.is_set():
            hang.set()
            await asyncio.Event().wait()
        return made

    two.tables.create = stuck  # type: ignore[method-assign]
    await two.post("ada", seek="s-a", rating_min=1, rating_max=2000)
    game = (await two.accept("bob", "s-a")).game
    await hang.wait()
    busy = next(number for number, app in enumerate(two.apps) if app.seating.in_hand)
    await two.kill(busy)
    await two.hears("ada", "seated", game=game)
    await two.hears("bob", "seated", game=game)
    assert list(two.tables.made) == [game]


async def test_a_drained_replica_gives_its_rooms_up_at_once(two: Club) -> None:
    await two.apps[1].drain()
    assert two.apps[1].pools.owned == set()
    await eventually(lambda: two.apps[0].pools.owned == set(rooms().ids))
