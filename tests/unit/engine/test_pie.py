"""The pie rule."""

import pytest

from tablesvc.engine.commands import Command, Exchange, Pie, Tick
from tablesvc.engine.errors import Illegal
from tablesvc.engine.events import Moved
from tablesvc.engine.seats import BLUE, RED
from tablesvc.engine.views import view
from tests.unit.engine.playing import Game


def offered(game: Game) -> bool:
    """What the table shows, which is what the engine holds."""
    shown = view(game.state, None, game.now)["pie"]
    assert shown == (game.state.position.pie is not None)
    return bool(shown)


@pytest.mark.parametrize("variant", ["bridge", "blitz"])
@pytest.mark.parametrize("first", ["place", "claim"])
def test_the_first_cell_may_be_taken_by_the_opponent(variant: str, first: str) -> None:
    game = Game(variant, "nine-a" if variant == "bridge" else "blitz-a")
    assert not offered(game)
    stone = game.hit() if first == "place" else game.claim()
    game.do(stone)
    assert offered(game)
    (move,) = game.do(Pie(RED))
    assert isinstance(move, Moved)
    assert (move.kind, move.cell, move.drew) == ("pie", stone.cell, ())
    assert game.state.position.owned[RED] == 1 << stone.cell
    assert game.state.position.owned[BLUE] == 0
    assert game.mover == BLUE
    assert not offered(game)


def test_it_cannot_be_taken_back() -> None:
    game = Game("bridge", "nine-a")
    game.do(game.hit())
    game.do(Pie(RED))
    with pytest.raises(Illegal, match="right after"):
        game.do(Pie(BLUE))


def test_after_a_miss_the_first_cell_is_reds_and_blue_may_take_it_on_move_three() -> None:
    game = Game("bridge", "nine-a")
    game.do(game.miss())
    assert not offered(game)
    stone = game.hit()
    game.do(stone)
    assert offered(game)
    game.do(Pie(BLUE))
    assert game.state.position.owned[BLUE] == 1 << stone.cell


def test_a_burn_before_the_first_cell_loses_no_offer() -> None:
    game = Game("bridge", "nine-a")
    game.do(game.miss())
    game.now += 60_000
    game.do(Tick())
    assert game.mover == BLUE
    game.do(game.hit())
    assert offered(game)


def test_a_burn_after_the_first_cell_loses_it_for_good() -> None:
    game = Game("bridge", "nine-a")
    game.do(game.hit())
    game.now += 60_000
    (burn,) = game.do(Tick())
    assert isinstance(burn, Moved)
    assert burn.kind == "burn"
    assert not offered(game)
    game.do(Exchange(BLUE))
    with pytest.raises(Illegal, match="right after"):
        game.do(Pie(RED))


@pytest.mark.parametrize("how", ["miss", "hit", "claim", "exchange"])
def test_any_ordinary_move_loses_it(how: str) -> None:
    game = Game("bridge", "nine-a")
    game.do(game.hit())
    moves: dict[str, Command] = {
        "miss": game.miss(),
        "hit": game.hit(),
        "claim": game.claim(),
        "exchange": Exchange(RED),
    }
    game.do(moves[how])
    assert not offered(game)
    with pytest.raises(Illegal, match="right after"):
        game.do(Pie(BLUE))


def test_domains_has_no_pie() -> None:
    game = Game("domains", "nine-a")
    game.do(game.hit())
    assert not offered(game)
    with pytest.raises(Illegal, match="right after"):
        game.do(Pie(RED))


def test_the_pie_comes_with_the_refill_of_a_thin_hand() -> None:
    game = Game("blitz", "blitz-a", price=2)
    bag = game.state.position.bag
    red = game.state.position.hands[RED][:1]
    freed = game.state.position.hands[RED][1:]
    fuller = [count + freed.count(digit) for digit, count in enumerate(bag)]
    game.set(hands=(red, game.state.position.hands[BLUE]), bag=tuple(fuller), bag_size=sum(fuller))
    game.do(game.hit())
    (move,) = game.do(Pie(RED))
    assert isinstance(move, Moved)
    assert len(move.drew) == 2
