"""The player by deduction: always legal, always to an end, and it plays for the goal."""

from random import Random
from typing import Any

import pytest

from numbridge.bots.board import read
from numbridge.bots.brain import Action, choose
from numbridge.bots.deduction import deduce
from tablesvc.engine.seats import BLUE, RED
from tests.unit.bots.playing import View, opened, play_out, seen_by

GIVENS = {"bridge": (30, 22), "blitz": (10, 8), "domains": (30, 22)}
CASES = [
    (variant, blocks, givens, price)
    for variant, counts in GIVENS.items()
    for blocks in ("regular", "irregular")
    for givens in counts
    for price in (1, 2)
]


@pytest.mark.parametrize(("variant", "blocks", "givens", "price"), CASES)
def test_two_brains_play_a_whole_game(variant: str, blocks: str, givens: int, price: int) -> None:
    end, kinds = play_out(opened(variant, blocks, givens, price, 7), 7)
    assert end.reason == ("blocks" if variant == "domains" else "connection")
    assert kinds["place"] > 0


@pytest.mark.parametrize("variant", ["bridge", "blitz", "domains"])
def test_the_same_dice_give_the_same_game(variant: str) -> None:
    first, second = (play_out(opened(variant, "regular", GIVENS[variant][0], 1, 3), 3)[0] for _ in range(2))
    assert first == second


def careless(view: View, rng: Random) -> Action:
    """A player who places what is certain, anywhere, and claims or exchanges at random else."""
    board = read(view)
    names = board.layout.names
    sure = [(cell, digit) for cell, digit in deduce(board).certain.items() if digit in board.hand]
    if sure:
        cell, digit = rng.choice(sure)
        return {"kind": "place", "cell": names[cell], "tile": digit}
    if board.bag:
        return {"kind": "exchange"}
    return choose(view, rng)


@pytest.mark.parametrize("variant", ["bridge", "blitz", "domains"])
def test_it_beats_a_player_who_deduces_but_has_no_plan(variant: str) -> None:
    won = 0
    for seed in range(4):
        start = opened(variant, "regular", GIVENS[variant][0], 1, seed)
        won += play_out(start, seed, blue=choose, red=careless)[0].result == "blue"
        won += play_out(start, seed, blue=careless, red=choose)[0].result == "red"
    assert won >= 7


def fresh(variant: str = "blitz", **changes: Any) -> View:
    """The view of blue, who is to move, with some of it replaced."""
    return seen_by(opened(variant, "regular", GIVENS[variant][0], 1, 5), BLUE, 0) | changes


def test_it_is_asked_only_when_its_viewer_is_to_move() -> None:
    start = opened("blitz", "regular", 10, 1, 5)
    for view in (
        seen_by(start, RED, 0),
        fresh(to_move=None, status="over"),
        fresh(status="adjourned"),
        {key: value for key, value in fresh().items() if key != "you"},
    ):
        with pytest.raises(ValueError, match="not this viewer's turn"):
            choose(view, Random(1))


def all_open_but(view: View, *cells: str) -> View:
    """The view with every cell solved (or given) but the ones named, which are empty."""
    side = view["settings"]["side"]
    state = opened("blitz", "regular", 10, 1, 5)
    field = list(state.table.deal.solution)
    for cell in cells:
        field["abcdef".index(cell[0]) + side * (int(cell[1]) - 1)] = "."
    return view | {"field": "".join(field)}


def test_a_winning_cell_is_taken() -> None:
    view = all_open_but(fresh(), "c3", "f6")
    owners = ["."] * 36
    for cell in (2, 8, 20, 26, 32):
        owners[cell] = "b"
    solution = opened("blitz", "regular", 10, 1, 5).table.deal.solution
    view |= {"owners": "".join(owners), "hand": [int(solution[14]), int(solution[35])]}
    assert choose(view, Random(1))["cell"] in ("c3", "b4", "d2")


def test_the_last_gap_of_the_opponents_chain_is_closed() -> None:
    view = all_open_but(fresh(), "c3")
    owners = ["."] * 36
    for cell in (12, 13, 15, 16, 17):
        owners[cell] = "r"
    for cell in (8, 19, 9, 18, 20, 7, 21):
        owners[cell] = "b"
    digit = int(opened("blitz", "regular", 10, 1, 5).table.deal.solution[14])
    view |= {"owners": "".join(owners), "hand": [digit], "bag": 0, "hands": {"blue": 1, "red": 0}}
    assert choose(view, Random(1)) == {"kind": "place", "tile": digit, "cell": "c3"}


def test_a_miss_is_remembered_from_the_marks_from_the_last_move_and_from_the_caller() -> None:
    view = fresh()
    empty = next(cell for cell, char in enumerate(view["field"]) if char == ".")
    name = read(view).layout.names[empty]
    mask = deduce(read(view)).candidates[empty]
    digit = mask.bit_length() - 1
    mark = {"cell": name, "digit": digit, "by": "red", "at": 0}
    last = {"by": "red", "kind": "place", "cell": name, "digit": digit, "hit": False}
    for board in (
        read(view | {"marks": [mark]}),
        read(view | {"last": last}),
        read(view, [(name, digit)]),
    ):
        assert (empty, digit) in board.misses
        assert not deduce(board).candidates[empty] & 1 << digit


def test_only_what_is_certain_is_called_certain() -> None:
    for variant, blocks, givens, _ in CASES[::2]:
        start = opened(variant, blocks, givens, 1, 11)
        board = read(seen_by(start, BLUE, 0))
        known = deduce(board)
        solution = start.table.field.solution
        assert all(solution[cell] == digit for cell, digit in known.certain.items())
        assert all(known.candidates[cell] & 1 << solution[cell] for cell in board.empty())
        assert known.certain


def test_one_tile_cannot_pay_two() -> None:
    view = fresh(hand=[1], hands={"blue": 1, "red": 3}, bag=0)
    view["settings"] = view["settings"] | {"claim_price": 2}
    assert choose(view, Random(1))["kind"] == "place"


def test_an_empty_hand_claims_for_nothing() -> None:
    view = fresh(hand=[], hands={"blue": 0, "red": 3})
    view["settings"] = view["settings"] | {"claim_price": 2}
    action = choose(view, Random(1))
    assert action["kind"] == "claim"
    assert "tile" not in action


def test_nothing_to_play_is_said() -> None:
    view = all_open_but(fresh(hand=[], bag=0), "c3")
    view["owners"] = "b" * 14 + "." + "r" * 21
    with pytest.raises(ValueError, match="nothing to play"):
        choose(view, Random(1))


def test_misses_that_contradict_the_view_do_not_stop_it() -> None:
    view = all_open_but(fresh(bag=0), "c3")
    view["owners"] = "b" * 14 + "." + "r" * 21
    digit = int(opened("blitz", "regular", 10, 1, 5).table.deal.solution[14])
    view["hand"] = [digit]
    assert choose(view, Random(1), [("c3", digit)]) == {"kind": "place", "tile": digit, "cell": "c3"}


def test_a_central_first_stone_is_taken_by_the_pie_rule_and_a_poor_one_is_left() -> None:
    view = seen_by(opened("bridge", "regular", 30, 1, 5), BLUE, 0)
    taken = {}
    for cell in (40, 8 * 9 + 8):
        owners = ["."] * 81
        owners[cell] = "r"
        taken[cell] = choose(view | {"owners": "".join(owners), "pie": True}, Random(1))["kind"] == "pie"
    assert taken == {40: True, 80: False}
