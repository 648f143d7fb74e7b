"""Taking cells away from a full field until just so many are left, the solution staying the only one.

Cells are taken in a random order, several at once while that works and one by one where it does not: the
result is the same, for what can go together could have gone one after another. When no single cell can go any
more and there are still too many, a local search puts three random cells back and takes others instead.

Every second solution that turns up differs from the field in a set of cells. At least one of them must stay
given, so it is remembered: givens that miss a remembered set need no search to be refused.
"""

from random import Random

from tablesvc.dealing.cover import Cover
from tablesvc.dealing.dice import below, shuffle
from tablesvc.dealing.search import Steps, another, search

CHUNK = 8  # cells tried at once, halved whenever that fails
PUT_BACK = {6: 4, 9: 3}  # cells a step of the local search puts back, by side
SEARCH_STEPS = {6: 120, 9: 60}  # of the local search, on one field, by side


class Dig:
    """The search for givens on one field: the candidate of each cell, and what was learnt on the way."""

    __slots__ = ("_field", "_rng", "_sets", "_sets_at", "_steps", "_tables")

    def __init__(self, tables: Cover, field: list[int], rng: Random, steps: Steps) -> None:
        """steps: the dead ends that all searches together may meet."""
        self._tables = tables
        self._steps = steps
        self._field = field
        self._rng = rng
        self._sets: list[int] = []
        self._sets_at: list[list[int]] = [[] for _ in field]  # those that hold each cell
        for cells in rectangles(tables, field):
            self._remember(cells)

    def down_to(self, wanted: int) -> list[int] | None:
        """Cells that stay given, `wanted` of them in no special order; None when this field would not give
        them up. Raises Undecided when the steps are used up."""
        size = len(self._field)
        cells = list(range(size))
        shuffle(self._rng, cells)
        given = self._take(cells, wanted, size, CHUNK)
        for _ in range(SEARCH_STEPS[self._tables.side]):
            if len(given) == wanted:
                return given
            empty = sorted(set(range(size)).difference(given))
            cells = sorted(given)
            for _ in range(PUT_BACK[self._tables.side]):
                cells.append(empty.pop(below(self._rng, len(empty))))
            shuffle(self._rng, cells)
            given = self._take(cells, wanted, len(given), 1) or given
        return given if len(given) == wanted else None

    def _take(self, cells: list[int], wanted: int, most: int, chunk: int) -> list[int]:
        """What is left of uniquely solvable givens when each cell in turn is taken that can be, until
        `wanted` are left; nothing as soon as more than `most` have to stay."""
        tables, field, keep = self._tables, self._field, self._tables.keep
        # What the cells from each place on say, all together: state and set of cells.
        states, masks = [tables.start], [0]
        for cell in reversed(cells):
            states.append(states[-1] & keep[field[cell]])
            masks.append(masks[-1] | 1 << cell)
        states.reverse()
        masks.reverse()
        left: list[int] = []
        left_state, left_mask = tables.start, 0
        at, limit = 0, len(cells)
        spare = limit - wanted
        while at < limit and spare:
            size = min(chunk, limit - at, spare)
            behind = at + size
            if self.unique(left_state & states[behind], left_mask | masks[behind], cells[at:behind]):
                at = behind
                spare -= size
                chunk = size
            elif size > 1:
                chunk = size // 2
            elif len(left) == most:
                return []
            else:
                cell = cells[at]
                left.append(cell)
                left_state &= keep[field[cell]]
                left_mask |= 1 << cell
                at = behind
        return left + cells[at:]

    def unique(self, state: int, given: int, taken: list[int]) -> bool:
        """Whether the solution is still the only one after the cells were taken, given that it was before."""
        tables, field = self._tables, self._field
        if len(taken) == 1:
            cell = taken[0]
            for needed in self._sets_at[cell]:
                if not needed & given:
                    return False
            # A second solution must differ right there.
            found = search(tables, state & ~tables.bits(field[cell]), self._steps, near=field)
        else:
            for needed in self._sets:
                if not needed & given:
                    return False
            found = another(tables, state, field, self._steps)
        if found is None:
            return True
        n = tables.side
        self._remember([candidate // n for candidate in found if field[candidate // n] != candidate])
        return False

    def _remember(self, cells: list[int]) -> None:
        needed = 0
        for cell in cells:
            needed |= 1 << cell
        self._sets.append(needed)
        for cell in cells:
            self._sets_at[cell].append(needed)


def rectangles(tables: Cover, field: list[int]) -> list[list[int]]:
    """The four cells of every rectangle in which two digits could change places: the smallest of the sets
    that a second solution can differ in, and the most frequent ones."""
    n, blocks, found = tables.side, tables.blocks, []
    digits = [candidate % n for candidate in field]
    places: list[list[int]] = [[] for _ in range(n)]
    for cell, digit in enumerate(digits):
        places[digit].append(cell)
    for digit, cells in enumerate(places):
        for number, one in enumerate(cells):
            column = one % n
            row = one - column
            for two in cells[:number]:
                other = two % n
                above, below_ = row + other, two - other + column
                if digits[above] == digits[below_] > digit:
                    one_block, two_block = blocks[one], blocks[two]
                    if (blocks[above], blocks[below_]) in ((one_block, two_block), (two_block, one_block)):
                        found.append([one, two, above, below_])
    return found
