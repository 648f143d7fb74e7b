"""The whole lobby on real NATS and Redis: seeks, acceptances, lists, company. Tables and ratings are fakes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from lobby import keys
from lobby.stored import Summary
from numbridge.v1 import common_pb2, lobby_pb2
from tests.contract.lobby_club import GATEWAY, Club, club
from tests.helpers.eventually import eventually

Reason = common_pb2.RejectReason


@pytest_asyncio.fixture
async def one(clean_nats: str, clean_redis: str) -> AsyncIterator[Club]:
    """A club with one replica."""
    async with club(clean_nats, clean_redis) as made:
        yield made


def refusal(reply: object) -> str:
    """Name of the reason of a refused call."""
    reject = getattr(reply, "reject", None)
    assert isinstance(reject, common_pb2.Reject)
    assert reject.reason, reply
    return common_pb2.RejectReason.Name(reject.reason).removeprefix("REJECT_REASON_")


async def test_two_seekers_alone_in_a_room_meet_at_once(one: Club) -> None:
    first = await one.post("ada", givens_min=24, givens_max=33, blocks="irregular", rated=False, highlight=True)
    assert first.seek.wish.givens_min == 24
    await one.post("bob", givens_min=31, givens_max=34)
    ada, bob = await one.hears("ada", "seated"), await one.hears("bob", "seated")
    assert ada["game"] == bob["game"]
    assert {ada["color"], bob["color"]} == {"blue", "red"}
    assert ada["opponent"] == {"id": "bob", "name": "Bob", "rating": 1500}
    assert ada["room"] == "bridge"
    assert ada["settings"] == bob["settings"]
    assert ada["settings"]["blocks"] == "irregular"
    assert ada["settings"]["givens"] == 31
    assert ada["settings"]["highlight"] is True
    assert ada["settings"]["rated"] is False
    assert ada["_seeks"] == [first.seek.seek]
    assert ada["game"].startswith("07-")
    assert one.tables.made.keys() == {ada["game"]}
    assert await one.listed() == []
    await eventually(lambda: one.apps[0].seating.in_hand == 0)


async def test_a_posted_seek_is_shown_normalised(one: Club) -> None:
    one.ratings.ratings["ada"] = 1623
    posted = await one.post("ada", "study", givens_min=25, givens_max=25, rating_min=1400, rating_max=1700)
    await one.post("bob", "bare", rated=True)
    shown = posted.seek
    assert (shown.player.name, shown.player.rating) == ("Ada", 1623)
    assert (shown.wish.blocks, shown.wish.givens_min, shown.wish.givens_max) == ("any", 25, 25)
    assert not shown.wish.HasField("highlight")
    assert shown.wish.HasField("rated")
    assert shown.wish.rated is False
    listed = await one.stub.ListSeeks(lobby_pb2.ListSeeksRequest(room="study"))
    assert list(listed.seeks) == [shown]
    events = await one.list_events(2)
    seeks = {event["seek"]["room"]: event["seek"] for event in events if event["ev"] == "seek_added"}
    assert seeks["study"] == {
        "seek": shown.seek,
        "room": "study",
        "player": {"id": "ada", "name": "Ada", "rating": 1623},
        "blocks": "any",
        "givens": 25,
        "highlight": "any",
        "rated": False,
        "rating": [1400, 1700],
        "since": shown.since,
    }
    bare = seeks["bare"]
    assert (bare["givens"], bare["highlight"], bare["rated"]) == ([22, 34], False, True)


@pytest.mark.parametrize(
    ("room", "fields", "says"),
    [
        ("bridge", {"givens_min": 21, "givens_max": 21}, ("givens", "22 to 34")),
        ("bridge", {"rating_min": 5, "rating_max": 4}, ("rating",)),
        ("study", {"rated": True}, ("rated",)),
        ("bare", {"highlight": True}, ("highlight",)),
        ("blitz", {"blocks": "regular", "givens_min": 7, "givens_max": 7}, ("givens", "8 to 12", "solution")),
    ],
)
async def test_a_seek_outside_the_limits_is_refused(
    one: Club, room: str, fields: dict[str, Any], says: tuple[str, ...]
) -> None:
    refused = await one.post("ada", room, **fields)
    assert refusal(refused) == "BAD_SEEK"
    for word in says:
        assert word in refused.reject.message
    assert await one.listed() == []


async def test_rooms_that_are_not_there_or_not_for_guests(one: Club) -> None:
    assert refusal(await one.post("ada", "nowhere")) == "NOT_FOUND"
    assert refusal(await one.stub.ListSeeks(lobby_pb2.ListSeeksRequest(room="nowhere"))) == "NOT_FOUND"
    assert refusal(await one.stub.ListGames(lobby_pb2.ListGamesRequest(room="nowhere"))) == "NOT_FOUND"
    assert refusal(await one.post("guest-1", "bare")) == "FORBIDDEN"


async def test_three_open_seeks_a_player_and_reposting_replaces(one: Club) -> None:
    """A fourth room is one too many, whatever else is wrong with it; in a room of the three the new one counts."""
    for room in ("bridge", "study", "blitz"):
        await one.post("ada", room, seek=f"s-{room}", rating_min=1, rating_max=2)
    fourth = await one.post("ada", "domains")
    assert refusal(fourth) == "LIMIT"
    assert fourth.reject.retry_ms > 0
    assert refusal(await one.post("ada", "nowhere")) == "LIMIT"
    assert not (await one.post("ada", "study", seek="s-new", rating_min=1, rating_max=2)).HasField("reject")
    assert await one.listed("study") == ["s-new"]
    assert (await one.hears("ada", "seek_ended", seek="s-study"))["reason"] == "replaced"


async def test_limits_off_lift_the_count_but_not_the_one_table(clean_nats: str, clean_redis: str) -> None:
    async with club(clean_nats, clean_redis, limits=False) as made:
        for room in ("bridge", "study", "blitz", "domains", "bare"):
            await made.post("ada", room, rating_min=1, rating_max=2)
        assert len(await made.listed()) == 5
        await made.play("bob", "cid")
        assert refusal(await made.post("bob")) == "FORBIDDEN"


async def test_a_repeated_post_of_a_seek_that_was_matched_at_once_is_answered_alike(one: Club) -> None:
    await one.post("ada", seek="s-a")
    await one.post("bob", seek="s-b")
    again = await one.post("bob", seek="s-b")
    assert again.seek.seek == "s-b"
    await one.hears("bob", "seated")
    assert (await one.post("bob", seek="s-b")).seek.seek == "s-b"
    assert refusal(await one.post("bob", seek="s-b2")) == "FORBIDDEN"
    assert len(one.tables.made) == 1


async def test_cancelling(one: Club) -> None:
    await one.post("ada", seek="s-a")
    ask = lobby_pb2.CancelSeekRequest
    assert refusal(await one.stub.CancelSeek(ask(seek="s-a", player="bob"))) == "FORBIDDEN"
    assert not (await one.stub.CancelSeek(ask(seek="s-a", player="ada"))).HasField("reject")
    assert refusal(await one.stub.CancelSeek(ask(seek="s-a", player="ada"))) == "GONE"
    assert (await one.hears("ada", "seek_ended", seek="s-a"))["reason"] == "cancelled"
    assert await one.listed() == []


async def test_an_accepter_takes_on_what_the_seek_leaves_open(one: Club) -> None:
    await one.post("ada", "blitz", seek="s-a", givens_min=7, givens_max=7, rating_min=1600, rating_max=1700)
    assert refusal(await one.accept("bob", "s-a")) == "FORBIDDEN"
    one.ratings.ratings["cid"] = 1650
    accepted = await one.accept("cid", "s-a")
    seated = await one.hears("cid", "seated")
    assert seated["game"] == accepted.game
    assert (seated["settings"]["blocks"], seated["settings"]["givens"]) == ("irregular", 7)
    assert seated["opponent"]["id"] == "ada"
    assert (await one.hears("ada", "seated"))["opponent"] == {"id": "cid", "name": "Cid", "rating": 1650}
    assert refusal(await one.accept("dan", "s-a")) == "GONE"
    assert refusal(await one.accept("dan", "s-never")) == "GONE"


async def test_nobody_accepts_his_own_or_a_blocked_players_seek(one: Club) -> None:
    one.ratings.blocks = {("ada", "bob"), ("cid", "ada")}
    await one.post("ada", seek="s-a")
    for player in ("ada", "bob", "cid"):
        assert refusal(await one.accept(player, "s-a")) == "FORBIDDEN", player
    assert await one.listed() == ["s-a"]


async def test_other_seeks_of_both_fall_with_a_match_and_the_players_are_told(one: Club) -> None:
    await one.post("ada", "blitz", seek="s-a2", rating_min=1, rating_max=2)
    await one.post("bob", "study", seek="s-b2", rating_min=1, rating_max=2)
    await one.post("ada", seek="s-a")
    await one.post("bob", seek="s-b")
    assert (await one.hears("ada", "seek_ended", seek="s-a2"))["reason"] == "matched"
    assert (await one.hears("bob", "seek_ended", seek="s-b2"))["reason"] == "matched"
    await one.hears("ada", "seated")
    assert await one.listed() == []


async def test_a_seated_player_can_neither_seek_nor_accept_until_the_game_is_over(one: Club) -> None:
    game = await one.play("ada", "bob")
    await one.post("cid", "study", seek="s-c", rating_min=1, rating_max=2000)
    for refused in (await one.post("ada", "blitz"), await one.accept("bob", "s-c")):
        assert refusal(refused) == "FORBIDDEN"
        assert game in refused.reject.message
    await one.say(game, "adjourned", version=3)
    await eventually(lambda: one.status_of("ada", game, "adjourned"))
    assert not (await one.post("ada", "blitz", seek="s-a")).HasField("reject")
    await one.say(game, "playing", version=4)
    await eventually(lambda: one.status_of("bob", game, "playing"))
    assert refusal(await one.accept("bob", "s-c")) == "FORBIDDEN"


async def test_a_game_that_is_just_over_bars_nobody_even_if_its_end_was_not_heard(one: Club) -> None:
    game = await one.play("ada", "bob")
    one.tables.finish(game)
    assert not (await one.post("ada", seek="s-a")).HasField("reject")
    assert not (await one.accept("bob", "s-a")).HasField("reject")


async def test_a_seek_whose_player_sits_down_elsewhere_is_not_matched(one: Club) -> None:
    """An adjourned game is resumed while a seek is open: the seek ends, the other waits on."""
    game = await one.play("ada", "bob")
    await one.say(game, "adjourned", version=3)
    await eventually(lambda: one.status_of("ada", game, "adjourned"))
    await one.post("ada", seek="s-a")
    await one.say(game, "playing", version=4)
    await eventually(lambda: one.status_of("ada", game, "playing"))
    await one.post("cid", seek="s-c")
    assert (await one.hears("ada", "seek_ended", seek="s-a"))["reason"] == "playing"
    assert await one.listed() == ["s-c"]


async def test_ratings_are_read_afresh_after_a_game(one: Club) -> None:
    await one.over(await one.play("ada", "bob"))
    await eventually(lambda: sorted(one.ratings.settling) == ["ada", "bob"])


async def test_the_same_two_do_not_meet_twice_while_another_waits(one: Club) -> None:
    one.ratings.ratings["cid"] = 1500
    await one.over(await one.play("ada", "bob"))
    await one.post("ada", "domains", seek="s-a")
    await one.post("cid", "domains", seek="s-c", rating_min=1, rating_max=2)  # nobody whom either could meet
    await one.post("bob", "domains", seek="s-b")
    await eventually(lambda: len([e for e in one.heard["ada"] if e["ev"] == "seated"]) == 2)
    assert await one.listed() == ["s-c"]


async def test_a_house_bot_leaves_somebody_it_has_just_met_to_others(one: Club) -> None:
    await one.over(await one.play("house-1", "ada"))
    one.workers.there = False  # nobody is matched by the lobby itself
    await one.post("ada", "bridge", seek="s-a")
    await one.post("bob", "bridge", seek="s-b")
    assert refusal(await one.accept("house-1", "s-a")) == "FORBIDDEN"
    await one.stub.CancelSeek(lobby_pb2.CancelSeekRequest(seek="s-b", player="bob"))
    one.workers.there = True
    assert not (await one.accept("house-1", "s-a")).HasField("reject")


async def test_deltas_are_numbered_and_a_snapshot_stands_for_a_place_in_them(one: Club) -> None:
    for number in range(6):
        await one.post(f"p{number}", "study", seek=f"s-{number}", rating_min=1, rating_max=2)
    listed = await one.stub.ListSeeks(lobby_pb2.ListSeeksRequest(room="study"))
    mark = listed.marks["study"]
    have = {seek.seek for seek in listed.seeks}
    for number in range(6, 9):
        await one.post(f"p{number}", "study", seek=f"s-{number}", rating_min=1, rating_max=2)
    await one.stub.CancelSeek(lobby_pb2.CancelSeekRequest(seek="s-2", player="p2"))
    expected = {f"s-{number}" for number in range(9)} - {"s-2"}

    def applied() -> bool:
        now, seq = set(have), mark.seq
        for delta in one.deltas:
            if delta.room == "study" and delta.run == mark.run and delta.seq > mark.seq:
                assert delta.seq == seq + 1
                seq = delta.seq
                for event in one.events_of(delta):
                    if event["ev"] == "seek_added":
                        now.add(event["seek"]["seek"])
                    else:
                        now.discard(event["seek"])
        return now == expected

    await eventually(applied)
    assert set(await one.listed("study")) == expected


async def test_rooms_games_and_greetings(one: Club) -> None:
    game = await one.play("ada", "bob")
    await one.say(game, "playing", version=1)
    await one.post("cid", "study", seek="s-c")

    async def counted() -> bool:
        reply = await one.stub.GetRooms(lobby_pb2.GetRoomsRequest())
        rooms = {room.id: (room.waiting, room.playing) for room in reply.rooms}
        return rooms["bridge"] == (0, 1) and rooms["study"] == (1, 0)

    await eventually(counted)
    games = await one.stub.ListGames(lobby_pb2.ListGamesRequest(room="bridge"))
    assert [summary.game for summary in games.games] == [game]
    assert not (await one.stub.ListGames(lobby_pb2.ListGamesRequest(room="blitz"))).games
    greeted = await one.stub.Greet(lobby_pb2.GreetRequest(player=common_pb2.Player(id="ada"), gateway=GATEWAY))
    assert (list(greeted.games), list(greeted.seeks)) == ([game], [])
    greeted = await one.stub.Greet(lobby_pb2.GreetRequest(player=common_pb2.Player(id="cid"), gateway=GATEWAY))
    assert (list(greeted.games), list(greeted.seeks)) == ([], ["s-c"])
    status = await one.stub.GetLobby(lobby_pb2.GetLobbyRequest())
    assert (status.seeks, status.seating, status.playing) == (1, 0, 1)
    assert len(status.pools) == 5


async def test_a_rematch_has_the_same_settings_and_swapped_colours(one: Club) -> None:
    game = await one.play("ada", "bob", blocks="irregular", givens_min=24, givens_max=24, rated=False)
    assert refusal(await one.rematch("ada", game)) == "FORBIDDEN"  # it is not over
    await one.over(game)
    first = await one.rematch("ada", game)
    assert (first.agreed, first.HasField("reject")) == (False, False)
    assert (await one.hears("bob", "rematch_asked", game=game))["by"] == "ada"
    assert refusal(await one.rematch("cid", game)) == "FORBIDDEN"
    assert refusal(await one.rematch("ada", "07-0000000000000000")) == "NOT_FOUND"
    assert (await one.rematch("bob", game)).agreed

    async def again() -> Summary | None:
        return next((made for name, made in one.tables.made.items() if name != game), None)

    new = await eventually(again)
    assert new is not None
    old = one.tables.made[game]
    assert new.settings == old.settings
    assert (new.blue.id, new.red.id) == (old.red.id, old.blue.id)
    await one.hears("ada", "seated", game=new.game)
    await one.hears("bob", "seated", game=new.game)


async def test_a_rematch_of_an_archived_game_and_the_hard_rules_on_that_path(one: Club) -> None:
    game = await one.play("ada", "bob")
    await one.over(game)
    one.ratings.archive[game] = one.tables.made.pop(game)
    assert not (await one.rematch("ada", game)).HasField("reject")
    one.ratings.blocks.add(("ada", "bob"))
    assert refusal(await one.rematch("bob", game)) == "FORBIDDEN"
    one.ratings.blocks.clear()
    await one.play("ada", "cid")
    assert refusal(await one.rematch("bob", game)) == "FORBIDDEN"  # ada plays another game by now


async def test_a_block_is_effective_at_once_and_so_is_its_end(one: Club) -> None:
    await one.post("ada", seek="s-a")
    block = lobby_pb2.SetBlockRequest(player="bob", other="ada", blocked=True)
    assert not (await one.stub.SetBlock(block)).HasField("reject")
    await one.post("bob", seek="s-b")
    assert refusal(await one.accept("ada", "s-b")) == "FORBIDDEN"
    assert set(await one.listed()) == {"s-a", "s-b"}
    block.blocked = False
    await one.stub.SetBlock(block)
    await one.hears("ada", "seated")
    block.other = "bob"
    assert refusal(await one.stub.SetBlock(block)) == "FORBIDDEN"


async def test_after_much_coming_and_going_nothing_is_left_behind(one: Club) -> None:
    async def left() -> set[str]:
        found = await one.redis.keys("*")
        return {key.decode() for key in found if isinstance(key, bytes)} - {
            keys.CHANGES,
            keys.MARKS,
            keys.LAST,
            keys.GATEWAYS,
        }

    before, tasks = await left(), len(asyncio.all_tasks())

    async def one_life(number: int) -> None:
        player = f"p{number}"
        match number % 4:
            case 0:
                await one.post(player, "bridge", rating_min=1, rating_max=2, seek=f"s-{number}")
                await one.stub.CancelSeek(lobby_pb2.CancelSeekRequest(seek=f"s-{number}", player=player))
            case 1:
                await one.post(player, "blitz", rating_min=1, rating_max=2)
                await one.leave(player)
            case _:
                await one.post(player, "domains")

    for start in range(0, 400, 40):
        await asyncio.gather(*(one_life(number) for number in range(start, start + 40)))
    await eventually(lambda: len(one.tables.made) == 100, timeout_s=30)
    for game in list(one.tables.made):
        await one.over(game)

    async def as_before() -> bool:
        await one.apps[0].seats.forget_ended(10**14)
        told = [key async for key in one.redis.scan_iter(match=keys.told("*"))]
        if told:
            await one.redis.delete(*told)  # they live a minute
        assert await left() == before
        return len(asyncio.all_tasks()) <= tasks + 2

    await eventually(as_before, timeout_s=20)
    assert one.apps[0].seating.in_hand == 0
