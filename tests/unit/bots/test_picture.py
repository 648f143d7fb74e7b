"""A table kept from its events."""

from random import Random

import pytest

from numbridge.bots.brain import choose
from numbridge.bots.picture import Event, Gap, Picture
from tablesvc.engine.decide import decide
from tablesvc.engine.evolve import evolve
from tablesvc.engine.frames import frames
from tablesvc.engine.seats import BLUE, RED
from tests.unit.bots.playing import SeededDice, View, command, seen_by
from tests.unit.bots.playing import opened as opened_game


def opened() -> Picture:
    view = {
        "settings": {"side": 6},
        "field": "." * 36,
        "owners": "." * 36,
        "marks": [],
        "status": "playing",
        "to_move": "blue",
        "clock": {"running": True},
    }
    return Picture({"ev": "state", "version": 3, "view": view})


def move(version: int, **fields: object) -> Event:
    return {"ev": "move", "game": "g", "version": version, "by": "blue", **fields}


def test_a_hit_shows_its_digit_and_owner() -> None:
    picture = opened()
    picture.apply(move(4, kind="place", cell="b1", digit=5, hit=True, to_move="red", hands={"blue": 3, "red": 3}))
    assert picture.view["field"][:3] == ".5."
    assert picture.view["owners"][:3] == ".b."
    assert picture.view["to_move"] == "red"
    assert picture.version == 4


def test_a_miss_leaves_a_mark() -> None:
    picture = opened()
    picture.apply(move(4, kind="place", cell="b1", digit=5, hit=False))
    assert picture.view["owners"] == picture.view["field"] == "." * 36
    assert picture.view["marks"] == [{"cell": "b1", "digit": 5, "by": "blue", "at": 0}]


def test_a_claim_and_the_pie_change_owners_only() -> None:
    picture = opened()
    picture.apply(move(4, kind="claim", cell="a2"))
    picture.apply({**move(5, kind="pie", cell="a2"), "by": "red"})
    assert picture.view["owners"][6] == "r"
    assert picture.view["field"] == "." * 36


def test_a_known_version_changes_nothing_and_a_missing_one_is_a_gap() -> None:
    picture = opened()
    picture.apply(move(3, kind="claim", cell="a2"))
    assert picture.view["owners"] == "." * 36
    with pytest.raises(Gap, match="version 5 after 3"):
        picture.apply(move(5, kind="exchange"))


def test_offers_open_and_close() -> None:
    picture = opened()
    picture.apply({"ev": "offer", "version": 4, "kind": "draw", "by": "red", "state": "open"})
    assert picture.view["offer"] == {"kind": "draw", "by": "red", "state": "open"}
    picture.apply({"ev": "offer", "version": 5, "kind": "draw", "by": "red", "state": "lapsed"})
    assert "offer" not in picture.view


def test_adjourned_resumed_over() -> None:
    picture = opened()
    picture.apply({"ev": "adjourned", "version": 4})
    assert picture.view["status"] == "adjourned"
    picture.apply({"ev": "resumed", "version": 5, "clock": {"running": True, "blue_ms": 1}})
    assert picture.view["status"] == "playing"
    assert picture.view["clock"]["blue_ms"] == 1
    picture.apply({"ev": "over", "version": 6, "result": "blue", "reason": "time"})
    assert (picture.view["status"], picture.view["result"], picture.view["to_move"]) == ("over", "blue", None)


def test_a_state_replaces_the_picture_unless_it_is_older() -> None:
    picture = opened()
    picture.apply({"ev": "state", "version": 2, "view": {"field": "old"}})
    assert picture.view["field"] == "." * 36
    picture.apply({"ev": "state", "version": 9, "view": {"field": "new"}})
    assert (picture.version, picture.view) == (9, {"field": "new"})


def test_presence_and_ratings_are_not_of_the_picture() -> None:
    picture = opened()
    picture.apply({"ev": "presence", "blue": True, "red": False, "watchers": 2})
    picture.apply({"ev": "rated", "before": {}, "after": {}})
    assert picture.version == 3


@pytest.mark.parametrize(("variant", "givens"), [("bridge", 24), ("blitz", 8), ("domains", 24)])
def test_a_picture_kept_from_events_is_the_view_of_the_server(variant: str, givens: int) -> None:
    state = opened_game(variant, "irregular", givens, 2, 5)
    dice, rng = SeededDice(5), Random(5)
    pictures = {seat: Picture({"version": 0, "view": seen_by(state, seat, 0)}) for seat in (BLUE, RED)}
    while not state.over:
        seat = state.position.to_move
        action = choose(pictures[seat].view, rng, pictures[seat].misses)
        for event in decide(state, command(state, action, seat), 0, dice):
            state = evolve(state, event)
            seen = frames("game", event, state)
            assert seen is not None
            pictures[BLUE].apply(seen.blue)
            pictures[RED].apply(seen.red)
        for seat, picture in pictures.items():
            assert picture.version == state.version
            assert comparable(picture.view) == comparable(seen_by(state, seat, 0))


def comparable(view: View) -> View:
    """Without what events do not tell: when a mark was made, and the winning chain, which `over` has for itself."""
    marks = sorted((mark["cell"], mark["digit"], mark["by"]) for mark in view["marks"])
    return {key: value for key, value in view.items() if key != "chain"} | {"marks": marks}
