"""What operators restrict holds for every replica: closed rooms, muted players, ended games."""

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from numbridge.clock import now_ms
from numbridge.v1 import common_pb2, lobby_pb2
from tests.contract.lobby_club import GATEWAY, Club, club
from tests.contract.test_lobby_service import refusal
from tests.helpers.eventually import eventually

NOBODY: dict[str, Any] = {"rating_min": 1, "rating_max": 2}
HOUR = 3_600_000


@pytest_asyncio.fixture
async def two(clean_nats: str, clean_redis: str) -> AsyncIterator[Club]:
    """A club with two replicas."""
    async with club(clean_nats, clean_redis, replicas=2) as made:
        yield made


async def closed(made: Club, room: str, via: int) -> bool:
    """Whether a replica shows the room as closed."""
    reply = await made.stubs[via].GetRooms(lobby_pb2.GetRoomsRequest())
    return next(entry.closed for entry in reply.rooms if entry.id == room)


async def test_a_closed_room_takes_no_new_seeks_and_keeps_those_that_are_open(two: Club) -> None:
    await two.post("ada", "blitz", seek="s-ada", rating_min=1, rating_max=4000)
    two.ratings.closed = frozenset({"blitz"})
    await two.restrict()
    for via in (0, 1):
        await eventually(lambda via=via: closed(two, "blitz", via))  # type: ignore[misc]
        refused = await two.post("bob", "blitz", via=via)
        assert refusal(refused) == "FORBIDDEN"
        assert "closed" in refused.reject.message
    assert not await closed(two, "bridge", 0)
    assert not (await two.post("bob", "bridge", **NOBODY)).HasField("reject")
    assert await two.listed("blitz") == ["s-ada"]
    # Redis had lost it: its gateway posts it again
    eve = common_pb2.Player(id="eve", name="Eve")
    again = lobby_pb2.PostSeekRequest(
        seek="s-eve", player=eve, gateway=GATEWAY, wish=lobby_pb2.SeekWish(room="blitz", **NOBODY), since=5
    )
    assert not (await two.stub.PostSeek(again)).HasField("reject")
    accepted = await two.accept("cleo", "s-ada")
    await two.hears("ada", "seated", game=accepted.game)
    two.ratings.closed = frozenset()
    await two.restrict()
    await eventually(lambda: _posts(two, "dan", "blitz"))


async def _posts(made: Club, player: str, room: str) -> bool:
    return not (await made.post(player, room, **NOBODY)).HasField("reject")


async def test_a_muted_player_has_no_seeks_and_gets_none(two: Club) -> None:
    game = await two.play("eve", "fay")
    await two.over(game)
    await two.post("eve", "bridge", seek="s-1", **NOBODY)
    await two.post("eve", "study", seek="s-2", **NOBODY)
    await two.post("bob", "bridge", seek="s-bob", rating_min=0, rating_max=4000)
    two.ratings.muted = {"eve": now_ms() + HOUR}
    await two.restrict()
    for seek in ("s-1", "s-2"):
        await two.hears("eve", "seek_ended", seek=seek, reason="muted")
    assert await two.listed() == ["s-bob"]

    async def refused_everywhere() -> bool:
        replies: list[Any] = [
            *[await two.post("eve", via=via, **NOBODY) for via in (0, 1)],
            *[await two.accept("eve", "s-bob", via=via) for via in (0, 1)],
            await two.rematch("eve", game),
        ]
        return [refusal(reply) for reply in replies] == ["FORBIDDEN"] * 5 and all(
            "muted" in reply.reject.message for reply in replies
        )

    await eventually(refused_everywhere)
    assert [event["reason"] for event in two.heard["eve"] if event["ev"] == "seek_ended"].count("muted") >= 2
    assert not (await two.post("gil", **NOBODY)).HasField("reject")
    two.ratings.muted = {}
    await two.restrict()
    await eventually(lambda: _posts(two, "eve", "bridge"))


async def test_a_mute_ends_by_itself(two: Club) -> None:
    two.ratings.muted = {"eve": now_ms() + 400}
    await two.restrict()
    await eventually(lambda: _posts(two, "eve", "bridge"))
    assert two.apps[0].parts.restrictions.muted("eve") is False


async def test_what_was_known_stands_while_ratings_is_away(two: Club) -> None:
    two.ratings.closed = frozenset({"blitz"})
    await two.restrict()
    await eventually(lambda: closed(two, "blitz", 0))
    two.ratings.away = True
    await two.restrict()
    assert refusal(await two.post("ada", "blitz")) == "FORBIDDEN"
    assert not (await two.post("ada", "bridge", **NOBODY)).HasField("reject")


async def test_an_operator_ends_a_game(two: Club) -> None:
    game = await two.play("ada", "bob")
    ended = await two.stubs[1].EndGame(lobby_pb2.EndGameRequest(game=game))
    assert (ended.HasField("reject"), ended.was_over) == (False, False)
    assert (await two.stub.EndGame(lobby_pb2.EndGameRequest(game=game))).was_over
    assert refusal(await two.stub.EndGame(lobby_pb2.EndGameRequest(game="07-nowhere"))) == "NOT_FOUND"
