"""Seats, games and presence: the lobby's scripts on a real server, situation by situation."""

import msgspec

from lobby import keys, notices
from lobby.adapters.redis_seats import Forgot
from lobby.adapters.redis_seeks import Change, Posted
from tests.contract.lobby_store import GAME, OTHER, Store, store, taken_pair
from tests.unit.lobby.builders import stored_seek, summary_of

__all__ = ["store"]


async def test_the_highest_version_of_a_game_counts_whatever_the_order(store: Store) -> None:
    playing = summary_of(GAME, "ada", "bob", version=5)
    assert await store.seats.note([playing], 1) == 1
    assert await store.seats.note([playing], 2) == 0
    adjourned = summary_of(GAME, "ada", "bob", status="adjourned", version=7)
    assert await store.seats.note([adjourned, playing], 3) == 1
    assert await store.seats.get(GAME) == adjourned
    assert await store.seats.playing(["bridge"]) == [0]
    assert await store.seats.note([summary_of(GAME, "ada", "bob", version=8)], 4) == 1
    assert await store.seats.playing(["bridge"]) == [1]
    over = summary_of(GAME, "ada", "bob", status="over", version=9)
    assert await store.seats.note([over], 5) == 1
    assert await store.seats.note([playing, adjourned], 6) == 0  # late words do not bring it back
    assert await store.seats.of(["ada", "bob"]) == [{}, {}]
    assert await store.seats.listed(["bridge"], 10) == []
    await store.seats.forget_ended(5)
    assert await store.keys() == {keys.MARKER, keys.SEATING, keys.CHANGES}
    _, changes, _ = await store.seeks.changes("0-0", 1)
    assert [(change.what, change.room, change.seek) for change in changes] == [("over", "ada", "bob")]


async def test_games_are_listed_newest_first_over_rooms(store: Store) -> None:
    games = [
        summary_of(f"07-{number:016d}", f"a{number}", f"b{number}", room=room, started=number)
        for number, room in enumerate(["bridge", "blitz", "bridge", "study"])
    ]
    await store.seats.note(games, 1)
    assert [game.started_at for game in await store.seats.listed(["bridge"], 10)] == [2, 0]
    assert [game.started_at for game in await store.seats.listed(["bridge", "blitz", "study"], 3)] == [3, 2, 1]


async def test_a_shard_is_a_range_of_games(store: Store) -> None:
    await store.seats.note(
        [summary_of(f"{shard}-0000000000000001", f"a{shard}", "b") for shard in ("07", "70", "07f")], 1
    )
    assert await store.seats.of_shard(0x07) == {"07-0000000000000001"}
    assert await store.seats.of_shard(0x70) == {"70-0000000000000001"}


async def test_a_game_is_not_forgotten_while_it_is_seated_or_was_just_spoken_of(store: Store) -> None:
    _, _, _ = await taken_pair(store)
    assert await store.seats.forget(GAME, 10**13, "ada") is Forgot.STAYS
    await store.seats.note([summary_of(OTHER, "cid", "dan")], 100)
    assert await store.seats.forget(OTHER, 99) is Forgot.STAYS
    assert await store.seats.forget(OTHER, 100) is Forgot.FORGOTTEN
    assert await store.seats.forget(OTHER, 100) is Forgot.UNKNOWN
    assert await store.seats.of(["cid", "dan"]) == [{}, {}]
    assert await store.seats.silent(10**13, 10) == []


async def test_seeks_end_when_their_player_has_left_and_nobody_claims_him(store: Store) -> None:
    await store.post(stored_seek("s-1", "ada"), stored_seek("s-2", "ada", room="blitz"), stored_seek("s-3", "bob"))
    await store.presence.connected("ada", "gw-1", False, 500)
    await store.presence.connected("ada", "gw-1", False, 900)  # the first word counts
    await store.presence.connected("bob", "gw-2", False, 500)  # the seek does not hang on that gateway
    assert await store.presence.due(499, 10) == []
    assert await store.presence.due(500, 10) == ["ada"]
    assert set(await store.presence.end_player("ada", 500)) == {"s-1", "s-2"}
    assert await store.presence.end_player("ada", 500) == []
    assert await store.seeks.waiting(["bridge", "blitz"]) == [1, 0]


async def test_a_reload_within_the_grace_keeps_the_seek(store: Store) -> None:
    await store.post(stored_seek("s-1", "ada"))
    await store.presence.connected("ada", "gw-1", False, 500)
    await store.presence.connected("ada", "gw-2", True, 0)
    assert await store.presence.end_player("ada", 10_000) == []
    assert await store.presence.due(10_000, 10) == []
    await store.presence.connected("ada", "gw-1", False, 500)  # it hangs on the other gateway now
    assert await store.presence.due(10_000, 10) == []


async def test_seeks_of_a_dead_gateway_are_stranded_unless_another_claims_their_players(store: Store) -> None:
    await store.post(stored_seek("s-1", "ada"), stored_seek("s-2", "bob"), stored_seek("s-3", "cid", gateway="gw-2"))
    await store.presence.keep_gateway("gw-1", 1_000)
    await store.presence.keep_gateway("gw-2", 9_000)
    assert await store.presence.lapsed_gateways(999) == []
    assert await store.presence.lapsed_gateways(1_000) == ["gw-1"]
    assert await store.presence.strand(1_000, 1_500) == 2
    assert await store.presence.lapsed_gateways(1_000) == []
    await store.presence.claim(["bob", "zoe"], "gw-2")
    assert await store.presence.due(1_500, 10) == ["ada"]


async def test_both_must_ask_for_a_rematch_in_time(store: Store) -> None:
    assert not await store.presence.ask_rematch(GAME, "ada", "bob", 0, 60_000)
    assert not await store.presence.ask_rematch(GAME, "ada", "bob", 10, 60_000)
    assert not await store.presence.ask_rematch(GAME, "bob", "ada", 60_011, 60_000)  # too late: a question of its own
    assert await store.presence.ask_rematch(GAME, "ada", "bob", 60_012, 60_000)
    assert not await store.presence.ask_rematch(GAME, "bob", "ada", 60_013, 60_000)
    await store.presence.forget_old(60_014, 0)
    assert keys.REMATCH not in await store.keys()


async def test_a_seek_that_was_matched_is_known_by_its_game(store: Store) -> None:
    a, _, entry = await taken_pair(store)
    assert await store.seating.came_of("s-a", GAME)
    assert not await store.seating.came_of("s-c", GAME)
    [match] = await store.seating.hold([GAME])
    assert match is not None
    told = notices.keep(50, notices.seated(match))
    await store.seating.seat(match, entry, 50, told, 60_000)
    assert await store.seating.came_of("s-a", GAME)
    assert not await store.seating.came_of("s-c", GAME)
    assert not await store.seating.came_of(a.seek, OTHER)


async def test_a_seek_tells_whom_its_player_has_met_last(store: Store) -> None:
    _, _, entry = await taken_pair(store)
    [match] = await store.seating.hold([GAME])
    assert match is not None
    await store.seating.seat(match, entry, 50, b"told", 60_000)
    at = await store.seeks.newest_change()
    again = stored_seek("s-again", "ada", since=60)
    assert await store.seeks.post(again, 3, False) == (Posted.POSTED, "")
    met = msgspec.structs.replace(again, last="bob")
    assert (await store.seeks.changes(at, 1))[1] == [Change("add", "bridge", "s-again", met)]
    assert [page async for page in store.seeks.all_of("bridge")] == [[met]]


async def test_latest_opponents_are_forgotten_in_time(store: Store) -> None:
    _, _, entry = await taken_pair(store)
    [match] = await store.seating.hold([GAME])
    assert match is not None
    await store.seating.seat(match, entry, 50, b"told", 60_000)
    await store.presence.forget_old(0, 50)
    assert await store.seeks.last_opponent("ada") == "bob"
    await store.presence.forget_old(0, 51)
    assert await store.seeks.last_opponent("ada") is None


async def test_marks_stand_for_rooms(store: Store) -> None:
    await store.seeks.mark("bridge", "run", 7)
    assert await store.seeks.marks(["bridge", "blitz"]) == {"bridge": ("run", 7)}


async def test_replicas_that_have_long_gone_leave_the_group(store: Store) -> None:
    await store.rival.next_entries(1, 1)
    assert await store.seating.forget_idle_consumers(60_000) == 0
    assert await store.seating.forget_idle_consumers(0) == 1
    assert await store.seating.forget_idle_consumers(0) == 0
