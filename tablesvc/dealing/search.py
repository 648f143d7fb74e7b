"""Depth-first search over the exact cover: forced choices first, then a constraint with fewest candidates.

``another`` walks down the known solution first and looks for another one on the way back up, the deepest
branch first. So each subtree it opens has almost all of the known solution fixed, and the freedom grows only
as long as nothing is found. That makes it quick at both ends: a field with exactly one solution is mostly
settled without any branch, and one with few givens or none, which has solutions by the billion, shows a
second one within a few steps of the bottom instead of sending the search off into the open.
"""

from tablesvc.dealing.cover import Cover
from tablesvc.dealing.errors import Undecided

BITS = [tuple(bit for bit in range(9) if field >> bit & 1) for field in range(1 << 9)]  # set in each number


class Steps:
    """How many more dead ends a search may meet."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self) -> None:
        """Count one. Raises Undecided when none was left."""
        if self.left <= 0:
            raise Undecided("the search used up its steps")
        self.left -= 1


def propagate(tables: Cover, state: int, chosen: list[int]) -> int:
    """Choose whatever is forced, appending it to `chosen`. The state where nothing is forced any more: 0 when
    the field is solved, -1 when it cannot be."""
    n, guards, owner, keep = tables.side, tables.guards, tables.owner, tables.keep
    while True:
        open_ = state & guards
        if not open_:
            return 0
        low = open_ >> n
        less = state - low
        if less & open_ != open_:
            return -1
        more = state & less
        single = (more - low) & open_ ^ open_
        if not single:
            return state
        forced = state & (single - (single >> n))
        while forced:
            candidate = owner[forced.bit_length() - 1]
            mask = keep[candidate]
            state &= mask
            chosen.append(candidate)
            # Drops its other bits, and those that it rules out: their field is then empty, which the next
            # round sees.
            forced &= mask


def choices(tables: Cover, state: int, turn: int = 0) -> list[int]:
    """The candidates of an open constraint that has fewest, in a state where nothing is forced.

    turn: which of the constraints with fewest; 0 is the lowest, top left cells first.
    """
    n = tables.side
    open_ = state & tables.guards
    low = open_ >> n
    more = state & (state - low)
    while True:
        more &= more - low
        fewest = (more - low) & open_ ^ open_
        if fewest:
            break
    if turn:
        for _ in range(turn % fewest.bit_count()):
            fewest &= fewest - 1
    at = (fewest & -fewest).bit_length() - 1 - n
    owner = tables.owner
    return [owner[at + bit] for bit in BITS[state >> at & ((1 << n) - 1)]]


def search(
    tables: Cover, state: int, steps: Steps | None = None, turn: int = 0, near: list[int] | None = None
) -> list[int] | None:
    """The candidates of any solution, None when there is none. Raises Undecided.

    turn: another number, another order. near: a full field (a candidate for each cell, in order) to stay near
    to where there is a choice, so that what is found differs from it in few cells.
    """
    n, keep = tables.side, tables.keep
    chosen: list[int] = []
    stack: list[tuple[int, int]] = []  # states before a choice, and how many were chosen before it
    while True:
        state = propagate(tables, state, chosen)
        if state == 0:
            return chosen
        if state > 0:
            options = choices(tables, state, turn)
            candidate = options[turn % 2]
            if near is not None:
                for option in options:
                    if near[option // n] == option:
                        candidate = option
                        break
            stack.append((state, len(chosen)))
            state &= keep[candidate]
            chosen.append(candidate)
            continue
        if not stack:
            return None
        if steps is not None:
            steps.take()
        state, length = stack.pop()
        state &= ~tables.bits(chosen[length])
        del chosen[length:]


def another(tables: Cover, state: int, known: list[int], steps: Steps | None = None) -> list[int] | None:
    """The candidates of a solution other than the known one (a candidate for each cell, in order), None when
    there is none.

    The known solution must fit the state. Raises Undecided.
    """
    chosen: list[int] = []
    stack: list[tuple[int, int]] = []  # states before a choice, and how many were chosen before it
    n, keep = tables.side, tables.keep
    while state := propagate(tables, state, chosen):
        candidate = next(c for c in choices(tables, state) if known[c // n] == c)
        stack.append((state, len(chosen)))
        state &= keep[candidate]
        chosen.append(candidate)
    while stack:
        state, length = stack.pop()
        state &= ~tables.bits(chosen[length])
        del chosen[length:]
        # The other side of a branch that the known solution took: whatever solves it is new.
        if steps is not None:
            steps.take()
        found = search(tables, state, steps, near=known)
        if found is not None:
            return chosen + found
    return None
