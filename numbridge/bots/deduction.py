"""What follows from what is seen: candidates, and the cells whose digit is certain.

A sudoku player's first two rules, each applied as long as it gives something:
a cell with one candidate left, and a digit with one cell left in an area.
"""

from dataclasses import dataclass

from numbridge.bots.board import Board, Layout


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a player can know of the empty cells."""

    certain: dict[int, int]
    """Cell -> digit."""
    candidates: tuple[int, ...]
    """Sets of digits (bit d for digit d) that are possible still; 0 where a digit is shown."""

    def odds(self, tables: Layout, cell: int, digit: int) -> float:
        """A guess at the chance that `digit` belongs in `cell`: by the cell's candidates, or the places left for the
        digit in one of its areas, whichever is narrower."""
        bit = 1 << digit
        if not self.candidates[cell] & bit:
            return 0.0
        fewest = self.candidates[cell].bit_count()
        for area in tables.areas_of[cell]:
            fewest = min(fewest, sum(1 for other in tables.areas[area] if self.candidates[other] & bit))
        return 1.0 / fewest


def deduce(board: Board) -> Knowledge:
    """Everything that the two rules give, what is certain being used for further steps as if it were shown."""
    tables = board.layout
    candidates = _first_candidates(board)
    open_cells = board.empty()
    certain: dict[int, int] = {}
    fresh = True
    while fresh:
        fresh = False
        for cell in open_cells:
            left = candidates[cell]
            if left and not left & (left - 1) and cell not in certain:
                _settle(tables, candidates, certain, cell, left)
                fresh = True
        for area in tables.areas:
            once = twice = 0
            for cell in area:
                left = candidates[cell]
                twice |= once & left
                once |= left
            alone = once & ~twice
            if not alone:
                continue
            for cell in area:
                left = candidates[cell] & alone
                if left and not left & (left - 1) and cell not in certain:
                    _settle(tables, candidates, certain, cell, left)
                    fresh = True
    return Knowledge(certain, tuple(candidates))


def _first_candidates(board: Board) -> list[int]:
    tables = board.layout
    shown = [0] * len(tables.areas)
    for cell, digit in enumerate(board.digits):
        if digit:
            for area in tables.areas_of[cell]:
                shown[area] |= 1 << digit
    whole = (1 << (tables.side + 1)) - 2
    candidates = [0] * tables.cells
    for cell, digit in enumerate(board.digits):
        if not digit:
            row, column, block = tables.areas_of[cell]
            candidates[cell] = whole & ~(shown[row] | shown[column] | shown[block])
    for cell, digit in board.misses:
        candidates[cell] &= ~(1 << digit)
    return candidates


def _settle(tables: Layout, candidates: list[int], certain: dict[int, int], cell: int, bit: int) -> None:
    """The digit of `cell` is known: no other cell of its areas can have it."""
    certain[cell] = bit.bit_length() - 1
    candidates[cell] = bit
    for peer in tables.peers[cell]:
        candidates[peer] &= ~bit
