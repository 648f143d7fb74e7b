"""Does a field have exactly one solution? Questions about fields written as text.

Digits are characters "1".."n" and an empty cell is ".", as in a deal.
"""

from tablesvc.dealing.cover import Cover, cover
from tablesvc.dealing.errors import Undecided
from tablesvc.dealing.search import Steps, another, search

EMPTY = "."
DIGITS = "123456789"
FIRST_TRY = 64  # dead ends before the search for a first solution starts over with another order


def is_solution(side: int, blocks: str, grid: str) -> bool:
    """Whether every row, column and block of a full grid holds every digit once."""
    if len(grid) != side * side or len(blocks) != side * side:
        return False
    digits = set(DIGITS[:side])
    members: dict[str, list[str]] = {}
    for letter, digit in zip(blocks, grid, strict=True):
        members.setdefault(letter, []).append(digit)
    return (
        len(members) == side
        and all(set(grid[row * side : (row + 1) * side]) == digits for row in range(side))
        and all(set(grid[column::side]) == digits for column in range(side))
        and all(set(block) == digits for block in members.values())
    )


def solve(side: int, blocks: str, givens: str, max_steps: int | None = None) -> str | None:
    """A solution of the field, None when there is none.

    Few givens on irregular blocks can send any one order of search astray, so it starts over with another
    order after 64 dead ends, then after twice as many, and so on. max_steps bounds the dead ends in all.
    Raises Undecided beyond it, BadLayout.
    """
    tables = cover(side, blocks)
    chosen = _candidates(side, givens)
    state = _after(tables, chosen)
    if state is None:
        return None
    budget, spent, turn = FIRST_TRY, 0, 0
    while True:
        if max_steps is not None:
            budget = min(budget, max_steps - spent)
        try:
            found = search(tables, state, Steps(budget), turn)
        except Undecided:
            spent += budget
            if max_steps is not None and spent >= max_steps:
                raise
            budget *= 2
            turn += 1
            continue
        return None if found is None else as_text(side, chosen + found)


def second_solution(side: int, blocks: str, givens: str, solution: str, max_steps: int | None = None) -> str | None:
    """A solution of the field other than the one known, None when that is the only one.

    max_steps bounds the dead ends of the search. Raises Undecided beyond it, BadLayout, ValueError when
    `solution` is none.
    """
    tables = cover(side, blocks)
    if not is_solution(side, blocks, solution) or not _shows(solution, givens):
        raise ValueError("the known solution does not solve this field")
    shown = _candidates(side, givens)
    state = tables.start
    for candidate in shown:
        state &= tables.keep[candidate]
    steps = None if max_steps is None else Steps(max_steps)
    found = another(tables, state, _candidates(side, solution), steps)
    return None if found is None else as_text(side, shown + found)


def has_unique_solution(
    side: int, blocks: str, givens: str, solution: str | None = None, max_steps: int | None = None
) -> bool:
    """Whether the field has exactly one solution, and that is `solution` where one is named.

    Any number of givens will do, none included. Without max_steps the answer is always right and needs tens
    of microseconds for an ordinary deal; with it the search gives up after so many dead ends. Raises
    Undecided then, BadLayout.
    """
    if solution is None:
        solution = solve(side, blocks, givens, max_steps)
        if solution is None:
            return False
    try:
        return second_solution(side, blocks, givens, solution, max_steps) is None
    except ValueError:
        return False


def as_text(side: int, chosen: list[int]) -> str:
    """The grid in which the chosen candidates stand, "." elsewhere."""
    grid = [EMPTY] * (side * side)
    for candidate in chosen:
        cell, digit = divmod(candidate, side)
        grid[cell] = str(digit + 1)
    return "".join(grid)


def _candidates(side: int, grid: str) -> list[int]:
    return [cell * side + int(digit) - 1 for cell, digit in enumerate(grid) if digit != EMPTY]


def _after(tables: Cover, givens: list[int]) -> int | None:
    """The state with the givens chosen, None when two of them clash."""
    state = tables.start
    for candidate in givens:
        if not tables.bits(candidate) & state:
            return None
        state &= tables.keep[candidate]
    return state


def _shows(solution: str, givens: str) -> bool:
    return len(solution) == len(givens) and all(g in (EMPTY, s) for g, s in zip(givens, solution, strict=True))
