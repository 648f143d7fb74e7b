"""Seeks over the socket: posting, matching, accepting, watching, and what ends them."""

import asyncio
from typing import Any

import pytest

from tests.helpers.client import Club, Refused
from tests.helpers.eventually import eventually


async def refusal(asked: Any) -> Refused:
    with pytest.raises(Refused) as refused:
        await asked
    return refused.value


async def test_two_fitting_seeks_meet_at_once(club: Club) -> None:
    one, two = await asyncio.gather(club.guest("Ada"), club.guest("Bob"))
    await one.ask("seek", room="domains", blocks="irregular", givens=[24, 33], rated=False, highlight=True)
    await two.ask("seek", room="domains", givens=[31, 34])
    seats = [await client.wait("seated") for client in (one, two)]
    assert seats[0]["game"] == seats[1]["game"]
    assert {seat["color"] for seat in seats} == {"blue", "red"}
    assert [seat["opponent"]["name"] for seat in seats] == ["Bob", "Ada"]
    settings = seats[0]["settings"]
    assert (settings["blocks"], settings["givens"], settings["rated"], settings["highlight"]) == (
        "irregular",
        31,
        False,
        True,
    )
    await one.join(seats[0]["game"])
    await one.play(seats[0]["game"], "resign")


async def test_seeks_that_do_not_fit_stay_open(club: Club) -> None:
    one, two = await asyncio.gather(club.guest("Ada"), club.guest("Bob"))
    first = await one.ask("seek", room="study", givens=22, blocks="regular")
    second = await two.ask("seek", room="study", givens=34, blocks="regular")
    open_ids = {seek["seek"] for seek in (await club.get("/api/seeks?room=study"))["seeks"]}
    assert {first["seek"], second["seek"]} <= open_ids
    for client, ok in ((one, first), (two, second)):
        await client.ask("cancel_seek", seek=ok["seek"])
    assert (await refusal(one.ask("cancel_seek", seek=first["seek"]))).code == "gone"


@pytest.mark.parametrize(
    ("wish", "names"),
    [
        ({"room": "blitz", "givens": 13}, "givens"),
        ({"room": "blitz", "givens": 6}, "givens"),
        ({"room": "blitz", "givens": [9, 8]}, "givens"),
        ({"room": "blitz", "givens": 7, "blocks": "regular"}, "givens"),
        ({"room": "study", "rated": True}, "rated"),
        ({"room": "burns", "highlight": True}, "highlight"),
        ({"room": "blitz", "rating": [1600, 1500]}, "rating"),
    ],
)
async def test_a_seek_outside_the_rooms_limits_names_the_field(club: Club, wish: dict[str, Any], names: str) -> None:
    ada = await club.guest()
    refused = await refusal(ada.ask("seek", **wish))
    assert refused.code == "bad_seek"
    assert names in refused.event["message"]


@pytest.mark.parametrize(
    "wish",
    [{"room": "study", "rated": False}, {"room": "burns", "highlight": False}, {"room": "blitz", "givens": [7, 12]}],
)
async def test_a_seek_may_ask_for_what_the_room_has_anyway(club: Club, wish: dict[str, Any]) -> None:
    ada = await club.guest()
    ok = await ada.ask("seek", rating=[1, 2], **wish)
    await ada.ask("cancel_seek", seek=ok["seek"])


async def test_an_unknown_room_is_not_found(club: Club) -> None:
    ada = await club.guest()
    assert (await refusal(ada.ask("seek", room="nowhere"))).code == "not_found"
    assert (await refusal(ada.ask("watch_lobby", room="nowhere"))).code == "not_found"
    assert (await refusal(ada.ask("accept_seek", seek="s-nothing"))).code in ("gone", "not_found")


async def test_own_seeks_and_narrow_ranges_cannot_be_accepted(club: Club) -> None:
    one, two = await asyncio.gather(club.guest("Ada"), club.guest("Bob"))
    ok = await one.ask("seek", room="bridge", rating=[100, 200])
    assert (await refusal(one.ask("accept_seek", seek=ok["seek"]))).code == "forbidden"
    assert (await refusal(two.ask("accept_seek", seek=ok["seek"]))).code == "forbidden"
    await one.ask("cancel_seek", seek=ok["seek"])


async def test_of_many_who_accept_at_once_one_gets_the_seat(club: Club) -> None:
    host = await club.guest("Host")
    guests = await asyncio.gather(*(club.guest(f"G{i}") for i in range(12)))
    ok = await host.ask("seek", room="study")

    async def accept(guest: Any) -> str:
        try:
            await guest.ask("accept_seek", seek=ok["seek"])
        except Refused as refused:
            return refused.code
        return "ok"

    outcomes = await asyncio.gather(*map(accept, guests))
    assert sorted(outcomes) == ["gone"] * 11 + ["ok"]
    winner = guests[outcomes.index("ok")]
    assert (await winner.wait("seated"))["opponent"]["id"] == host.id


async def test_one_player_is_never_matched_with_himself(club: Club) -> None:
    ada = await club.guest()
    tab = await club.again(ada)
    await ada.ask("seek", room="domains", givens=22, blocks="regular")
    second = await tab.ask("seek", room="domains", givens=22, blocks="regular")
    seeks = [s["seek"] for s in (await club.get("/api/seeks?room=domains"))["seeks"] if s["player"]["id"] == ada.id]
    assert seeks == [second["seek"]]  # re-posting replaces
    await tab.ask("cancel_seek", seek=second["seek"])
    assert not [e for e in ada.events + tab.events if e["ev"] == "seated"]


async def test_watchers_see_seeks_come_and_go(club: Club) -> None:
    watcher, ada = await asyncio.gather(club.guest("Eve"), club.guest("Ada"))
    await watcher.ask("watch_lobby", room="bridge")
    snapshot = await watcher.wait("seeks")
    assert isinstance(snapshot["seeks"], list)
    ok = await ada.ask("seek", room="bridge", rating=[1, 2])
    added = await watcher.wait("seek_added", lambda e: e["seek"]["seek"] == ok["seek"])
    assert added["seek"]["player"]["id"] == ada.id
    await ada.ask("cancel_seek", seek=ok["seek"])
    await watcher.wait("seek_removed", lambda e: e["seek"] == ok["seek"])
    await watcher.ask("unwatch_lobby", room="bridge")


async def test_a_seek_outlives_a_reload_but_not_its_player(club: Club) -> None:
    ada = await club.guest()
    ok = await ada.ask("seek", room="bridge", rating=[1, 2])
    await ada.close()
    ada = await club.again(ada)
    assert ok["seek"] in next(e for e in ada.events if e["ev"] == "hello")["seeks"]
    await ada.drop()

    async def gone() -> bool:
        return ok["seek"] not in {seek["seek"] for seek in (await club.get("/api/seeks?room=bridge"))["seeks"]}

    await eventually(gone, timeout_s=10)


async def test_a_seated_player_cannot_seek_until_the_game_is_over(club: Club) -> None:
    game, blue, red = await club.seat("study")
    assert (await refusal(blue.ask("seek", room="blitz"))).code == "forbidden"
    await red.play(game, "resign")
    await blue.wait("over")
    ok = await blue.ask("seek", room="blitz", rating=[1, 2])
    await blue.ask("cancel_seek", seek=ok["seek"])
