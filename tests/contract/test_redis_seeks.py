"""Seeks and matches: the lobby's scripts on a real server, situation by situation."""

import asyncio

from lobby import keys
from lobby.adapters.redis_seating import Side, Took
from lobby.adapters.redis_seeks import Change, Ended, Posted
from tests.contract.lobby_store import GAME, OTHER, Store, entries, store, taken_pair
from tests.unit.lobby.builders import match_of, stored_seek, summary_of

__all__ = ["store"]


async def test_seeks_are_listed_by_room_oldest_first(store: Store) -> None:
    await store.post(stored_seek("s-2", "bob", since=20), stored_seek("s-1", "ada", since=10))
    await store.post(stored_seek("s-3", "cid", room="blitz", since=5), stored_seek("s-4", "dan", room="blitz2"))
    assert [seek.seek for seek in await store.seeks.listed("bridge", 10)] == ["s-1", "s-2"]
    assert [seek.seek for seek in await store.seeks.listed("bridge", 1)] == ["s-1"]
    assert [seek.seek for seek in await store.seeks.listed("blitz", 10)] == ["s-3"]
    assert await store.seeks.waiting(["bridge", "blitz", "study"]) == [2, 1, 0]
    assert [[s.seek for s in page] async for page in store.seeks.all_of("bridge")] == [["s-1", "s-2"]]


async def test_posting_again_in_a_room_replaces(store: Store) -> None:
    await store.post(stored_seek("s-1", "ada"))
    assert await store.seeks.post(stored_seek("s-2", "ada", since=7), 3, True) == (Posted.POSTED, "s-1")
    assert await store.seeks.get(["s-1", "s-2"]) == [None, stored_seek("s-2", "ada", since=7)]
    assert await store.seeks.waiting(["bridge"]) == [1]
    assert await store.seeks.of_player("ada") == {"bridge": "s-2"}


async def test_posting_the_same_seek_twice_changes_nothing(store: Store) -> None:
    await store.post(stored_seek("s-1", "ada"))
    before = await store.seeks.newest_change()
    assert await store.seeks.post(stored_seek("s-1", "ada"), 3, True) == (Posted.OPEN_ALREADY, "")
    assert await store.seeks.newest_change() == before


async def test_the_fourth_room_is_one_too_many_unless_limits_are_off(store: Store) -> None:
    for room in ("bridge", "study", "blitz"):
        await store.post(stored_seek(f"s-{room}", "ada", room=room))
    assert await store.seeks.post(stored_seek("s-4", "ada", room="domains"), 3, True) == (Posted.TOO_MANY, "")
    assert await store.seeks.post(stored_seek("s-5", "ada", room="blitz"), 3, True) == (Posted.POSTED, "s-blitz")
    assert await store.seeks.post(stored_seek("s-4", "ada", room="domains"), 0, True) == (Posted.POSTED, "")


async def test_a_seated_player_cannot_seek_but_an_adjourned_game_is_no_bar(store: Store) -> None:
    await store.seats.note([summary_of(GAME, "ada", "bob")], 1)
    assert await store.seeks.post(stored_seek("s-1", "ada"), 3, True) == (Posted.HAS_GAME, GAME)
    assert await store.seeks.post(stored_seek("s-2", "bob"), 3, False) == (Posted.POSTED, "")
    await store.seats.note([summary_of(GAME, "ada", "bob", status="adjourned", version=3)], 2)
    await store.post(stored_seek("s-1", "ada"))


async def test_only_the_owner_ends_a_seek_and_only_once(store: Store) -> None:
    await store.post(stored_seek("s-1", "ada"), stored_seek("s-2", "ada", room="blitz"))
    assert await store.seeks.end("s-1", "bob") is Ended.ANOTHERS
    assert await store.seeks.end("s-1", "ada") is Ended.ENDED
    assert await store.seeks.end("s-1", "ada") is Ended.GONE
    assert await store.seeks.of_player("ada") == {"blitz": "s-2"}
    assert await store.seeks.end("s-2", "ada") is Ended.ENDED
    assert await store.keys() == {keys.CHANGES, keys.MARKER, keys.SEATING}


async def test_changes_are_read_in_order_from_a_place(store: Store) -> None:
    start = await store.seeks.newest_change()
    first = stored_seek("s-1", "ada")
    await store.post(first)
    await store.seeks.post(stored_seek("s-2", "ada"), 3, True)
    await store.seeks.say_block("ada", "bob", True)
    assert await store.seeks.amend(stored_seek("s-2", "ada", avoid=("bob",)), stored_seek("s-2", "ada"))
    assert not await store.seeks.amend(stored_seek("s-2", "ada"), stored_seek("s-2", "ada"))  # read before that
    await store.seeks.end("s-2", "ada")
    at, changes, lost = await store.seeks.changes(start, 1)
    assert not lost
    assert [(change.what, change.room, change.seek) for change in changes] == [
        ("add", "bridge", "s-1"),
        ("drop", "bridge", "s-1"),
        ("add", "bridge", "s-2"),
        ("block", "ada", "bob"),
        ("amend", "bridge", "s-2"),
        ("drop", "bridge", "s-2"),
    ]
    assert changes[0] == Change("add", "bridge", "s-1", first)
    assert changes[4].stored == stored_seek("s-2", "ada", avoid=("bob",))
    assert (await store.seeks.changes(at, 1))[1:] == ([], False)


async def test_an_emptied_server_shows_as_lost_changes(store: Store) -> None:
    await store.post(stored_seek("s-1", "ada"))
    at = await store.seeks.newest_change()
    await store.redis.flushall()
    assert await store.seeks.changes(at, 1) == (at, [], True)


async def test_changes_that_the_bound_has_cut_off_show_as_lost(store: Store) -> None:
    await store.post(stored_seek("s-1", "ada"))
    at = await store.seeks.newest_change()
    for number in range(600):
        await store.seeks.say_block("ada", f"p-{number}", True)
    assert (await store.seeks.changes(at, 1))[2] is False
    await store.redis.xtrim(keys.CHANGES, maxlen=550, approximate=False)
    assert (await store.seeks.changes(at, 1))[2] is True


async def test_a_pair_is_taken_whole_and_all_their_seeks_fall(store: Store) -> None:
    a, b = stored_seek("s-a", "ada"), stored_seek("s-b", "bob")
    await store.post(a, b, stored_seek("s-a2", "ada", room="blitz"), stored_seek("s-c", "cid"))
    [taken] = await store.seating.take([(match_of(GAME, a, b), Side("ada", "s-a"), Side("bob", "s-b"))])
    assert taken.code is Took.TAKEN
    assert set(taken.fell) == {("ada", "s-a"), ("ada", "s-a2"), ("bob", "s-b")}
    assert [seek.seek for seek in await store.seeks.listed("bridge", 10)] == ["s-c"]
    assert await store.seeks.of_player("ada") == {}
    assert [list(seats) for seats in await store.seats.of(["ada", "bob", "cid"])] == [[GAME], [GAME], []]
    assert await store.seeks.post(stored_seek("s-9", "ada"), 3, True) == (Posted.HAS_GAME, GAME)
    assert [entry.game for entry in await entries(store)] == [GAME]
    assert await store.seating.pending() == 1


async def test_taking_again_under_the_same_game_is_known_for_what_it_is(store: Store) -> None:
    """The reply was lost: the seeks are gone because of this very match."""
    a, b = stored_seek("s-a", "ada"), stored_seek("s-b", "bob")
    await store.post(a, b)
    request = (match_of(GAME, a, b), Side("ada", "s-a"), Side("bob", "s-b"))
    await store.seating.take([request])
    assert [taken.code for taken in await store.seating.take([request])] == [Took.TAKEN_BEFORE]
    assert len(await entries(store)) == 1


async def test_neither_is_taken_if_one_is_gone_or_has_a_game(store: Store) -> None:
    a, b, c = stored_seek("s-a", "ada"), stored_seek("s-b", "bob"), stored_seek("s-c", "cid")
    await store.post(a, b, c)
    await store.seeks.end("s-b", "bob")
    gone = await store.seating.take(
        [
            (match_of(GAME, a, b), Side("ada", "s-a"), Side("bob", "s-b")),
            (match_of(GAME, b, a), Side("bob", "s-b"), Side("ada", "s-a")),
            (match_of(GAME, a, c), Side("ada", "s-c"), Side("cid", "s-c")),  # a seek is not another player's
        ]
    )
    assert [taken.code for taken in gone] == [Took.SECOND_GONE, Took.FIRST_GONE, Took.FIRST_GONE]
    await store.seats.note([summary_of(OTHER, "cid", "dan")], 1)
    [busy] = await store.seating.take([(match_of(GAME, a, c), Side("ada", "s-a"), Side("cid", "s-c"))])
    assert (busy.code, busy.game) == (Took.SECOND_HAS_GAME, OTHER)
    assert [seek.seek for seek in await store.seeks.listed("bridge", 10)] == ["s-a", "s-c"]
    assert await store.seating.pending() == 0


async def test_fifty_at_the_same_instant_one_wins(store: Store) -> None:
    seek = stored_seek("s-a", "ada")
    await store.post(seek)

    async def accept(number: int) -> Took:
        game, guest = f"07-{number:016d}", f"guest{number}"
        match = match_of(game, seek, stored_seek("", guest))
        [taken] = await (store.seating if number % 2 else store.rival).take([(match, Side("ada", "s-a"), Side(guest))])
        return taken.code

    codes = await asyncio.gather(*(accept(number) for number in range(50)))
    assert sorted(codes) == [Took.FIRST_GONE] * 49 + [Took.TAKEN]
    assert await store.seating.pending() == 1


async def test_matching_is_held_until_the_marker_says_ready(store: Store) -> None:
    a, b = stored_seek("s-a", "ada"), stored_seek("s-b", "bob")
    await store.redis.flushall()
    await store.post(a, b)
    request = (match_of(GAME, a, b), Side("ada", "s-a"), Side("bob", "s-b"))
    assert [taken.code for taken in await store.seating.take([request])] == [Took.HELD]
    marker = await store.presence.marker(77)
    assert (marker.ready, marker.since) == (False, 77)
    assert [taken.code for taken in await store.seating.take([request])] == [Took.HELD]
    assert (await store.presence.marker(99, open_for=5)).ready is False  # another emptying's
    assert (await store.presence.marker(99, open_for=77)).ready is True
    assert [taken.code for taken in await store.seating.take([request])] == [Took.TAKEN]


async def test_a_seated_match_leaves_seats_and_what_was_told(store: Store) -> None:
    a, b, entry = await taken_pair(store)
    [match] = await store.seating.hold([GAME])
    assert match is not None
    assert match == match_of(GAME, a, b)
    assert await store.seating.seat(match, entry, 50, b"told", 60_000)
    assert not await store.seating.seat(match, entry, 51, b"told", 60_000)
    [seats] = await store.seats.of(["ada"])
    assert seats == {GAME: ("playing", match.at)}
    assert await store.seats.told([GAME, OTHER]) == [b"told", None]
    assert await store.seeks.last_opponent("ada") == "bob"
    assert await store.seeks.last_opponent("bob") == "ada"
    assert await store.seating.hold([GAME, OTHER]) == [None, None]
    assert await store.seating.pending() == 0
    assert await store.redis.xlen(keys.SEATING) == 0
    assert await store.seating.abandoned(0, 10) == []


async def test_an_undone_match_gives_the_seeks_back_with_their_age(store: Store) -> None:
    a, b, entry = await taken_pair(store)
    [match] = await store.seating.hold([GAME])
    assert match is not None
    assert await store.seating.undo(match, entry, 900, reopen=True) == ["s-a", "s-b"]
    assert await store.seeks.listed("bridge", 10) == [a, b]
    assert await store.seats.of(["ada", "bob"]) == [{}, {}]
    assert await store.presence.due(899, 10) == []
    assert set(await store.presence.due(900, 10)) == {"ada", "bob"}  # unless a gateway claims them
    await store.presence.claim(["ada"], "gw-2")
    assert await store.presence.due(900, 10) == ["bob"]


async def test_an_undone_match_does_not_push_a_newer_seek_aside(store: Store) -> None:
    a, b, entry = await taken_pair(store)
    [match] = await store.seating.hold([GAME])
    assert match is not None
    await store.seats.forget(GAME, 10**13, "ada")
    newer = stored_seek("s-new", "ada", since=9)
    assert await store.seeks.post(newer, 3, False) == (Posted.POSTED, "")
    assert await store.seating.undo(match, entry, 900, reopen=True) == ["s-b"]
    assert await store.seeks.listed("bridge", 10) == [b, newer]
    assert a not in await store.seeks.listed("bridge", 10)


async def test_only_the_holder_may_undo(store: Store) -> None:
    """A replica that fell silent comes back while another has taken the match in hand."""
    _, _, entry = await taken_pair(store)
    [match] = await store.seating.hold([GAME])
    assert match is not None
    [again] = await store.rival.abandoned(0, 10)
    assert again == entry
    assert await store.rival.hold([GAME]) == [match]
    assert await store.seating.undo(match, entry, 900, reopen=True) is None
    assert await store.seeks.listed("bridge", 10) == []
    assert await store.rival.undo(match, entry, 900, reopen=False) == []
    assert await store.seats.of(["ada", "bob"]) == [{}, {}]


async def test_an_entry_that_is_worked_on_is_not_abandoned(store: Store) -> None:
    _, _, entry = await taken_pair(store)
    assert await store.rival.abandoned(60_000, 10) == []
    await store.seating.still_at_it(entry)
    assert await store.rival.abandoned(60_000, 10) == []
    assert await store.rival.abandoned(0, 10) == [entry]
