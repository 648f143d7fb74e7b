"""What each viewer is shown: the protocol's shapes, and nothing that is secret."""

import json

import pytest

from tablesvc.engine.commands import Accept, Exchange, Offer, Pie, Place, Resign, Resume, Tick
from tablesvc.engine.decided import MARK_MS
from tablesvc.engine.frames import Frame
from tablesvc.engine.seats import BLUE, RED
from tablesvc.engine.views import view
from tests.unit.engine.playing import ANN, BOB, Game, deals, empty_cells, late

VIEW = {
    "room", "settings", "players", "blocks", "field", "givens", "owners", "marks", "to_move", "moves_left", "hands",
    "bag", "mistakes", "clock", "pie", "status",
}  # fmt: skip
MOVE = {"ev", "game", "version", "by", "kind", "hands", "bag", "clock", "to_move", "moves_left", "pie", "mistakes"}


@pytest.fixture
def game() -> Game:
    return Game("bridge", "nine-a")


def last(game: Game) -> Frame:
    return game.frames[-1].watch


def test_a_spectators_view(game: Game) -> None:
    shown = view(game.state, None, game.now)
    _, deal = deals()["nine-a"]
    assert set(shown) == VIEW
    assert shown["room"] == "room"
    assert shown["settings"] == {
        "variant": "bridge",
        "side": 9,
        "blocks": "regular",
        "givens": 30,
        "claim_price": 1,
        "highlight": True,
        "rated": True,
        "move_ms": 60_000,
        "game_ms": 900_000,
    }
    assert shown["players"] == {
        "blue": {"id": "ann", "name": "Ann", "rating": 1500},
        "red": {"id": "bob", "name": "Bob"},
    }
    assert (shown["blocks"], shown["givens"], shown["field"]) == (deal.blocks, deal.givens, deal.givens)
    assert shown["owners"] == "." * 81
    assert (shown["hands"], shown["bag"]) == ({"blue": 3, "red": 3}, 45)
    assert (shown["to_move"], shown["moves_left"], shown["pie"], shown["status"]) == ("blue", 1, False, "playing")
    assert (ANN.rating, BOB.rating) == (1500, None)


@pytest.mark.parametrize("seat", [BLUE, RED])
def test_a_player_sees_the_own_hand(game: Game, seat: int) -> None:
    shown = view(game.state, seat, game.now)
    assert set(shown) == VIEW | {"you", "hand"}
    assert shown["you"] == ("blue" if seat == BLUE else "red")
    assert shown["hand"] == list(game.state.position.hands[seat])


def test_field_and_owners_after_moves(game: Game) -> None:
    place, claim = game.hit(), game.unowned()[0]
    game.do(place)
    game.do(game.claim())
    shown = view(game.state, None, game.now)
    assert str(shown["field"])[place.cell] == str(place.tile)
    assert str(shown["owners"])[place.cell] == "b"
    assert str(shown["owners"])[claim] == "r"
    assert shown["last"] == {"by": "red", "kind": "claim", "cell": game.state.table.field.geometry.names[claim]}


def test_marks_fade(game: Game) -> None:
    miss = game.miss()
    game.do(miss)
    name = game.state.table.field.geometry.names[miss.cell]
    mark = {"cell": name, "digit": miss.tile, "by": "blue", "at": game.now}
    assert view(game.state, None, game.now + MARK_MS - 1)["marks"] == [mark]
    assert view(game.state, None, game.now + MARK_MS)["marks"] == []
    assert view(game.state, None, game.now)["mistakes"] == {"blue": 1, "red": 0}


def test_an_open_offer_shows(game: Game) -> None:
    game.do(Offer(BLUE, "draw"))
    assert view(game.state, RED, game.now)["offer"] == {"kind": "draw", "by": "blue", "state": "open"}


def test_the_end_shows(game: Game) -> None:
    game.do(Resign(BLUE))
    shown = view(game.state, None, game.now)
    assert set(shown) == VIEW | {"result", "reason"}
    assert (shown["status"], shown["result"], shown["reason"]) == ("over", "red", "resign")
    assert (shown["to_move"], shown["moves_left"]) == (None, 0)
    assert shown["clock"] == {"blue_ms": 900_000, "red_ms": 900_000, "deadline_at": None, "running": False}


def test_a_move_frame(game: Game) -> None:
    place = game.hit()
    game.do(place)
    frames = game.frames[-1]
    assert set(frames.watch) == MOVE | {"cell", "digit", "hit"}
    assert frames.watch == {
        "ev": "move",
        "game": "game",
        "version": 1,
        "by": "blue",
        "kind": "place",
        "cell": game.state.table.field.geometry.names[place.cell],
        "digit": place.tile,
        "hit": True,
        "hands": {"blue": 3, "red": 3},
        "bag": 44,
        "clock": {"blue_ms": 900_000, "red_ms": 900_000, "deadline_at": game.now + 60_000, "running": True},
        "to_move": "red",
        "moves_left": 1,
        "pie": True,
        "mistakes": {"blue": 0, "red": 0},
    }
    assert frames.blue == frames.watch | {"hand": list(game.state.position.hands[BLUE])}
    assert frames.red == frames.watch | {"hand": list(game.state.position.hands[RED])}


def test_a_misss_digit_is_public(game: Game) -> None:
    miss = game.miss()
    game.do(miss)
    assert (last(game)["digit"], last(game)["hit"]) == (miss.tile, False)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [("claim", {"cell"}), ("exchange", set()), ("burn", set()), ("pie", {"cell"})],
)
def test_other_moves_bear_no_digit(game: Game, kind: str, fields: set[str]) -> None:
    if kind == "claim":
        game.do(game.claim())
    elif kind == "exchange":
        game.do(Exchange(BLUE))
    elif kind == "burn":
        game.now += 60_000
        game.do(Tick())
    else:
        game.do(game.hit())
        game.do(Pie(RED))
    assert last(game)["kind"] == kind
    assert set(last(game)) == MOVE | fields


def test_offers_adjournment_and_resumption(game: Game) -> None:
    game.do(Offer(BLUE, "adjourn"))
    head = {"ev": "offer", "game": "game"}
    assert last(game) == head | {"version": 1, "kind": "adjourn", "by": "blue", "state": "open"}
    game.do(Accept(RED, "adjourn"))
    assert game.frames[-2].watch == head | {"version": 2, "kind": "adjourn", "by": "blue", "state": "accepted"}
    assert (last(game)["ev"], last(game)["version"]) == ("adjourned", 3)
    game.do(Resume(RED))
    assert last(game) == head | {"version": 4, "kind": "resume", "by": "red", "state": "open"}
    game.do(Resume(BLUE))
    assert (last(game)["ev"], last(game)["version"]) == ("resumed", 6)
    assert last(game)["clock"] == view(game.state, None, game.now)["clock"]


def test_the_winning_move_and_its_end() -> None:
    game = Game("blitz", "blitz-a")
    field = game.state.table.field
    place = game.hit()
    line = field.geometry.columns[place.cell % 6] & ~(1 << place.cell)
    names = [field.geometry.names[cell] for cell in empty_cells(game.state) if not line >> cell & 1]
    tiles = [field.solution[game.cell(name)] for name in names if game.cell(name) != place.cell]
    late(game, names, blue=(place.tile, *tiles[:2]), red=tuple(tiles[2:5]), owned=(0, line))
    game.do(Place(BLUE, place.cell, place.tile))
    move, over = game.frames[-2].watch, game.frames[-1].watch
    assert (move["ev"], move["version"], move["to_move"], move["pie"]) == ("move", 1, None, False)
    assert move["clock"] == {"blue_ms": 900_000, "red_ms": 900_000, "deadline_at": None, "running": False}
    chain = [name for name in field.geometry.names if name[0] == "abcdef"[place.cell % 6]]
    assert over == {
        "ev": "over",
        "game": "game",
        "version": 2,
        "result": "blue",
        "reason": "connection",
        "chain": chain,
    }
    assert view(game.state, None, game.now)["chain"] == chain


def test_everything_shown_is_json(game: Game) -> None:
    game.do(game.miss())
    game.do(Offer(RED, "draw"))
    for frames in game.frames:
        for frame in (frames.blue, frames.red, frames.watch):
            assert json.loads(json.dumps(frame)) == frame
    for seat in (BLUE, RED, None):
        shown = view(game.state, seat, game.now)
        assert json.loads(json.dumps(shown)) == shown


def test_events_that_are_alike_for_all_are_one_object(game: Game) -> None:
    game.do(Resign(BLUE))
    frames = game.frames[-1]
    assert frames.blue is frames.red is frames.watch
