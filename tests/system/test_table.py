"""At the table, over the socket: what a move shows to whom, offers, clocks, refs and resume."""

import asyncio
from typing import Any

import pytest

from tests.helpers.client import Client, Club, Refused

MOVE_KEYS = {"game", "version", "by", "kind", "hands", "bag", "clock", "to_move", "pie", "mistakes"}
VIEW_KEYS = {
    "room", "settings", "players", "blocks", "field", "givens", "owners", "marks", "to_move", "moves_left", "hands",
    "bag", "mistakes", "clock", "pie", "status",
}  # fmt: skip


def any_place(view: dict[str, Any], hand: list[int]) -> dict[str, Any]:
    """Some legal placement: the first tile on the first empty cell (most likely a miss)."""
    side = view["settings"]["side"]
    index = view["field"].index(".")
    return {"tile": hand[0], "cell": f"{'abcdefghi'[index % side]}{index // side + 1}"}


async def refusal(asked: Any) -> Refused:
    with pytest.raises(Refused) as refused:
        await asked
    return refused.value


async def test_the_first_state_is_complete_and_each_sees_the_own_hand_only(club: Club) -> None:
    game, blue, red = await club.seat("blitz")
    watcher = await club.guest("Eve")
    state = await watcher.join(game)
    views = blue.views[game], red.views[game], state["view"]
    assert all(set(view) >= VIEW_KEYS for view in views)
    assert [view.get("you") for view in views] == ["blue", "red", None]
    assert [len(view.get("hand", ())) for view in views] == [3, 3, 0]
    assert "hand" not in views[2]
    assert views[0]["hands"] == {"blue": 3, "red": 3}
    assert views[0]["bag"] == 36 - views[0]["settings"]["givens"] - 6
    assert views[0]["to_move"] == "blue"
    assert state["version"] == 0
    settings = views[0]["settings"]
    assert settings | {"blocks": "", "highlight": None, "rated": None} == {
        "variant": "blitz", "side": 6, "blocks": "", "givens": 10, "claim_price": 2, "highlight": None,
        "rated": None, "move_ms": 30000, "game_ms": 300000,
    }  # fmt: skip
    clock = views[0]["clock"]
    assert clock["running"] is True
    assert clock["blue_ms"] == clock["red_ms"] == 300000
    assert clock["deadline_at"] > 1_600_000_000_000


async def test_a_move_reaches_everyone_with_what_each_may_see(club: Club) -> None:
    game, blue, red = await club.seat("blitz")
    watcher = await club.guest("Eve")
    await watcher.join(game)
    view = blue.views[game]
    ok = await blue.play(game, "place", **any_place(view, view["hand"]))
    moves = [await client.wait("move", lambda e: e["game"] == game) for client in (blue, red, watcher)]
    assert ok["version"] == 1
    assert all(set(move) >= MOVE_KEYS for move in moves)
    assert all((move["by"], move["kind"], move["version"]) == ("blue", "place", 1) for move in moves)
    assert all(move["hit"] in (True, False) for move in moves)
    assert all(move["digit"] == view["hand"][0] for move in moves)
    assert len(moves[0]["hand"]) == 3
    assert moves[1]["hand"] == red.views[game]["hand"]
    assert "hand" not in moves[2]
    exchange = await red.play(game, "exchange")
    assert exchange["version"] == 2
    for client in (blue, red, watcher):
        move = await client.wait("move", lambda e: e["game"] == game and e["version"] == 2)
        assert "digit" not in move
        assert ("hand" in move) is (client is not watcher)


async def test_refusals_at_the_table_change_nothing(club: Club) -> None:
    game, blue, red = await club.seat("study")
    watcher = await club.guest("Eve")
    await watcher.join(game)
    place = any_place(red.views[game], red.views[game]["hand"])
    assert (await refusal(red.play(game, "place", **place))).code == "not_your_turn"
    assert (await refusal(red.play(game, "place", version=7, **place))).code == "stale"
    stale = await refusal(blue.play(game, "place", version=7, **place))
    assert stale.code == "stale"
    assert stale.event["version"] == 0
    assert (await refusal(watcher.play(game, "exchange"))).code == "forbidden"
    given = next(i for i, c in enumerate(blue.views[game]["givens"]) if c != ".")
    cell = f"{'abcdefghi'[given % 9]}{given // 9 + 1}"
    assert (await refusal(blue.play(game, "place", tile=blue.views[game]["hand"][0], cell=cell))).code == "illegal"
    absent = next(d for d in range(1, 10) if d not in blue.views[game]["hand"])
    assert (await refusal(blue.play(game, "claim", tile=absent, cell=cell))).code == "illegal"
    assert (await refusal(blue.play(game, "pie"))).code == "illegal"
    assert (await refusal(blue.play(game, "accept_draw"))).code == "illegal"
    assert (await refusal(blue.play(game, "resume"))).code == "illegal"
    assert (await refusal(blue.ask("play", game="ff-0123456789abcdef", version=0, action={"kind": "resign"}))).code == (
        "not_found"
    )
    state = await blue.join(game)
    assert state["version"] == 0
    await blue.play(game, "resign")
    over = await red.wait("over", lambda e: e["game"] == game)
    assert (over["result"], over["reason"], over["version"]) == ("red", "resign", 1)
    assert (await refusal(red.play(game, "exchange"))).code == "over"
    assert (await refusal(watcher.play(game, "exchange"))).code == "forbidden"


async def test_a_ref_takes_effect_once_also_on_a_new_connection(club: Club) -> None:
    game, blue, red = await club.seat("study")
    place = any_place(blue.views[game], blue.views[game]["hand"])
    first = await blue.play(game, "place", version=0, ref="the-move", **place)
    again = await blue.play(game, "exchange", version=0, ref="the-move")
    other = await club.again(blue)
    elsewhere = await other.ask("play", game=game, version=0, action={"kind": "exchange"}, ref="the-move")
    assert first["version"] == again["version"] == elsewhere["version"] == 1
    assert (await refusal(red.play(game, "place", version=5, ref="mine", **place))).code == "stale"
    taken = await red.play(game, "exchange", version=1, ref="mine")  # a refused play has not used its ref up
    assert taken["version"] == 2


async def test_offers_open_lapse_decline_and_end(club: Club) -> None:
    game, blue, red = await club.seat("study")
    assert (await refusal(red.play(game, "offer_draw"))).code == "not_your_turn"
    await blue.play(game, "offer_draw")
    offer = await red.wait("offer", lambda e: e["state"] == "open")
    assert (offer["kind"], offer["by"], offer["version"]) == ("draw", "blue", 1)
    assert (await refusal(blue.play(game, "offer_adjourn"))).code == "illegal"
    await red.play(game, "decline_draw", version=0)  # answers go by their own state
    assert (await blue.wait("offer", lambda e: e["state"] == "declined"))["version"] == 2
    assert (await refusal(blue.play(game, "offer_draw"))).code == "illegal"  # once a turn
    await blue.play(game, "exchange")
    await red.wait("move", lambda e: e["version"] == 3)
    await red.play(game, "offer_adjourn")
    for client in (blue, red):
        await client.wait("offer", lambda e: e["state"] == "open" and e["kind"] == "adjourn")
    await red.play(game, "exchange")
    lapsed = await blue.wait("offer", lambda e: e["state"] == "lapsed")
    assert lapsed["version"] == 5
    await blue.wait("move", lambda e: e["version"] == 6)
    await blue.play(game, "offer_draw")
    await red.wait("offer", lambda e: e["version"] == 7)
    await red.play(game, "accept_draw")
    over = await blue.wait("over")
    assert (over["result"], over["reason"], over["version"]) == ("draw", "agreement", 9)
    assert blue.gaps == red.gaps == []


async def test_a_game_is_put_away_and_goes_on_when_both_ask(club: Club) -> None:
    game, blue, red = await club.seat("study")
    await blue.play(game, "offer_adjourn")
    await red.wait("offer", lambda e: e["state"] == "open")
    await red.play(game, "accept_adjourn")
    for client in (blue, red):
        assert (await client.wait("adjourned"))["version"] == 3
    await red.close()
    red = await club.again(red)
    assert game in next(e for e in red.events if e["ev"] == "hello")["games"]
    view = (await red.join(game))["view"]
    assert view["status"] == "adjourned"
    assert view["clock"]["running"] is False
    assert view["clock"]["deadline_at"] is None
    assert (await refusal(blue.play(game, "exchange"))).code == "illegal"
    await red.play(game, "resume")
    asked = await blue.wait("offer", lambda e: e["kind"] == "resume")
    assert (asked["by"], asked["state"], asked["version"]) == ("red", "open", 4)
    assert (await refusal(red.play(game, "resume"))).code == "illegal"
    await blue.play(game, "resume")
    resumed = await red.wait("resumed")
    assert resumed["version"] == 6
    assert resumed["clock"]["running"] is True
    await blue.wait("resumed")
    assert (await blue.play(game, "exchange"))["version"] == 7
    assert blue.gaps == red.gaps == []


async def test_a_client_that_was_away_gets_exactly_what_it_missed(club: Club) -> None:
    game, blue, red = await club.seat("study")
    await blue.play(game, "exchange")
    await red.wait("move", lambda e: e["version"] == 1)
    await red.drop()
    place = None
    red_again = await club.again(red)
    await red_again.join(game, since=1)
    await red_again.play(game, "exchange", version=1)
    await blue.wait("move", lambda e: e["version"] == 2)
    place = any_place(blue.views[game], (await blue.wait("move", lambda e: e["version"] == 2))["hand"])
    await blue.play(game, "place", **place)
    late = await club.again(red)
    late.versions[game] = 1
    await late.join(game, since=1)
    await late.wait("move", lambda e: e["version"] == 3)
    assert [e["version"] for e in late.events if e["ev"] == "move"] == [2, 3]
    original = [e for e in red_again.events if e["ev"] == "move"]
    assert [e for e in late.events if e["ev"] == "move"] == original
    current = await club.again(red)
    await current.join(game, since=3)
    assert not [e for e in current.events if e["ev"] in ("move", "state")]
    ahead = await club.again(red)
    await ahead.join(game, since=99)
    assert (await ahead.wait("state"))["version"] == 3


async def test_two_tabs_of_one_player_stay_in_step(club: Club) -> None:
    game, blue, _red = await club.seat("study")
    tab = await club.again(blue)
    assert (await tab.join(game))["view"]["hand"] == blue.views[game]["hand"]
    await tab.play(game, "exchange")
    moves = [await client.wait("move") for client in (blue, tab)]
    assert moves[0] == moves[1]


async def test_presence_tells_who_is_there(club: Club) -> None:
    game, blue, red = await club.seat("study")
    watcher = await club.guest("Eve")
    await watcher.join(game)
    await blue.wait("presence", lambda e: e["blue"] and e["red"] and e["watchers"] == 1)
    await red.close()
    await blue.wait("presence", lambda e: e["blue"] and not e["red"])
    await watcher.ask("leave", game=game)
    await blue.wait("presence", lambda e: not e["red"] and e["watchers"] == 0)


async def test_a_turn_burns_and_the_game_goes_on(club: Club) -> None:
    game, blue, red = await club.seat("burns")
    burn = await red.wait("move", lambda e: e["kind"] == "burn")
    assert (burn["by"], burn["to_move"], burn["version"]) == ("blue", "red", 1)
    assert burn["mistakes"] == {"blue": 0, "red": 0}
    assert burn["clock"]["blue_ms"] == 59000
    assert (await blue.wait("move", lambda e: e["version"] == 2))["by"] == "red"
    await blue.play(game, "resign")


async def test_an_empty_bank_loses_and_is_rated(club: Club) -> None:
    game, blue, red = await club.seat("flags", rated=True)
    over = await blue.wait("over", timeout_s=20)
    assert over["reason"] == "time"
    assert over["result"] in ("blue", "red")
    for client in (blue, red):
        await client.wait("rated", lambda e: e["game"] == game)
    record = await club.get(f"/api/games/{game}/record")
    assert record["end"]["reason"] == "time"
    mover = {"blue": "red", "red": "blue"}[record["end"]["result"]]
    burns = [move["by"] for move in record["moves"]]
    assert mover == ("blue" if len(burns) % 2 == 0 else "red")


async def test_who_never_comes_ends_the_game_unrated(club: Club) -> None:
    one, two = await asyncio.gather(club.guest("Ada"), club.guest("Bob"))
    seek = await one.ask("seek", room="flags")
    await two.ask("accept_seek", seek=seek["seek"])
    game = (await one.wait("seated"))["game"]
    await one.join(game)
    over = await one.wait("over", timeout_s=45)
    assert (over["result"], over["reason"]) == ("none", "no_show")
    profile = await club.get(f"/api/players/{one.id}")
    assert profile["ratings"].get("blitz", {}).get("games", 0) == 0


async def test_a_spectator_may_not_act_and_a_stranger_may_watch(club: Club) -> None:
    game, blue, _red = await club.seat("study")
    watcher = await club.guest("Eve")
    await watcher.join(game)
    for kind in ("resign", "offer_draw", "accept_draw", "resume", "pie"):
        assert (await refusal(watcher.play(game, kind))).code == "forbidden"
    await blue.play(game, "exchange")
    await watcher.wait("move")
    assert watcher.gaps == []


async def test_a_finished_game_can_still_be_joined(club: Club) -> None:
    game, blue, _red = await club.seat("blitz")
    await blue.play(game, "resign")
    await blue.wait("over")
    late = await club.guest("Eve")
    state = await late.join(game)
    assert state["view"]["status"] == "over"
    assert state["view"]["result"] == "red"
    played = await refusal(late.ask("play", game=game, version=1, action={"kind": "resign"}))
    assert played.code == "forbidden"


def test_helpers_name_cells_like_the_rules() -> None:
    view = {"settings": {"side": 6}, "field": "1" * 7 + "." + "1" * 28}
    assert any_place(view, [4]) == {"tile": 4, "cell": "b2"}


__all__ = ["Client"]
