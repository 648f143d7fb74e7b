"""Uniqueness questions, against a SAT solver and at both ends of the number of givens."""

from random import Random

import pytest

from tablesvc.dealing.cover import REGULAR
from tablesvc.dealing.dealer import deal
from tablesvc.dealing.errors import BadLayout, Undecided
from tablesvc.dealing.layout import draw_layout
from tablesvc.dealing.solver import has_unique_solution, is_solution, second_solution, solve
from tests.unit.dealing.oracle import solutions

EASY = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
HARD = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."


def fewer(givens: str, count: int, rng: Random) -> str:
    """The givens without `count` of them."""
    shown = [cell for cell, given in enumerate(givens) if given != "."]
    gone = set(rng.sample(shown, count))
    return "".join("." if cell in gone else given for cell, given in enumerate(givens))


@pytest.mark.parametrize("givens", [EASY, HARD])
def test_a_known_puzzle_is_solved_and_its_solution_is_the_only_one(givens: str) -> None:
    solution = solve(9, REGULAR[9], givens)
    assert solution is not None
    assert is_solution(9, REGULAR[9], solution)
    assert all(given in (".", digit) for given, digit in zip(givens, solution, strict=True))
    assert has_unique_solution(9, REGULAR[9], givens)
    assert has_unique_solution(9, REGULAR[9], givens, solution)
    assert second_solution(9, REGULAR[9], givens, solution) is None


@pytest.mark.parametrize("side", [6, 9])
@pytest.mark.parametrize("blocks", ["regular", "irregular"])
def test_a_sat_solver_agrees_whether_thinned_givens_are_still_unique(side: int, blocks: str) -> None:
    rng = Random(side)
    verdicts = set()
    for seed in range(5):
        made = deal(side, blocks, 10 if side == 6 else 26, seed)
        for count in range(5):
            givens = fewer(made.givens, count, rng)
            expected = solutions(side, made.blocks, givens)
            unique = has_unique_solution(side, made.blocks, givens, made.solution)
            assert unique == (len(expected) == 1) == has_unique_solution(side, made.blocks, givens)
            verdicts.add(unique)
            other = second_solution(side, made.blocks, givens, made.solution)
            if other is not None:
                assert other != made.solution
                assert is_solution(side, made.blocks, other)
                assert all(given in (".", digit) for given, digit in zip(givens, other, strict=True))
    assert verdicts == {True, False}


@pytest.mark.parametrize("side", [6, 9])
@pytest.mark.parametrize("blocks", ["regular", "irregular"])
@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_few_givens_are_found_ambiguous_within_a_few_steps(side: int, blocks: str, count: int) -> None:
    rng = Random(count)
    for seed in range(8):
        made = deal(side, blocks, 12 if side == 6 else 30, seed)
        shown = made.givens.count(".")
        givens = fewer(made.givens, side * side - shown - count, rng)
        assert not has_unique_solution(side, made.blocks, givens, made.solution, max_steps=500)


def test_a_full_field_is_its_own_only_solution() -> None:
    made = deal(9, "irregular", 30, 5)
    assert has_unique_solution(9, made.blocks, made.solution, made.solution)
    assert solve(9, made.blocks, made.solution) == made.solution


def test_another_solution_than_the_one_named_is_not_the_one() -> None:
    one, other = deal(9, "regular", 30, 1), deal(9, "regular", 30, 2)
    assert not has_unique_solution(9, one.blocks, one.givens, other.solution)
    swapped = one.solution.translate(str.maketrans("12", "21"))
    assert not has_unique_solution(9, one.blocks, one.givens, swapped)
    assert not has_unique_solution(9, one.blocks, one.givens, "1" * 81)
    assert not has_unique_solution(9, one.blocks, one.givens, one.solution[:80])


def test_clashing_givens_have_no_solution() -> None:
    assert solve(9, REGULAR[9], "11" + "." * 79) is None
    assert solve(9, REGULAR[9], "1........" * 2 + "." * 63) is None
    assert not has_unique_solution(6, REGULAR[6], "1......1" + "." * 28)


def test_a_field_that_cannot_be_completed_has_no_solution() -> None:
    # a1 to e1 leave 6 for f1, and 6 stands below it.
    dead = "12345......6" + "." * 24
    assert solve(6, REGULAR[6], dead) is None


def test_a_step_limit_gives_up_instead_of_guessing() -> None:
    solution = solve(9, REGULAR[9], HARD)
    assert solution is not None
    with pytest.raises(Undecided):
        has_unique_solution(9, REGULAR[9], HARD, solution, max_steps=2)
    assert has_unique_solution(9, REGULAR[9], HARD, solution, max_steps=5000)


def test_a_first_solution_is_found_where_one_order_of_search_goes_astray() -> None:
    rng = Random(3)
    solved = 0
    for _ in range(12):
        blocks = draw_layout(9, rng)
        try:
            solution = solve(9, blocks, "." * 81, max_steps=4000)
        except Undecided:
            continue  # a layout may be impossible, and proving it takes more than this
        if solution is not None:
            assert is_solution(9, blocks, solution)
            solved += 1
    assert solved > 8


def test_the_known_solution_must_fit() -> None:
    made = deal(9, "regular", 30, 1)
    with pytest.raises(ValueError, match="does not solve"):
        second_solution(9, made.blocks, EASY, made.solution)


@pytest.mark.parametrize("blocks", ["a" * 36, REGULAR[6][:-1], REGULAR[6][:-1] + "g", REGULAR[6][:-1] + "a", ""])
def test_a_layout_must_have_n_letters_n_times_each(blocks: str) -> None:
    with pytest.raises(BadLayout, match="6 different letters"):
        solve(6, blocks, "." * 36)
