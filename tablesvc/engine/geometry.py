"""The rhombus: names of cells, neighbours, sides, chains of neighbours. Any side from 2 to 26.

A set of cells is an int with bit `row*side + column` set for each.
"""

from dataclasses import dataclass
from functools import lru_cache

_STEPS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


@dataclass(frozen=True, slots=True)
class Geometry:
    """Tables for one side length; get one from `geometry`."""

    side: int
    cells: int
    full: int
    """All cells."""
    names: tuple[str, ...]
    """`names[index]`: column letter, then row number: `a1` is top left."""
    index: dict[str, int]
    """The reverse of `names`; a name that is not on the field is missing."""
    neighbours: tuple[tuple[int, ...], ...]
    """Indices of each cell's neighbours, ascending: six inside, fewer on the rim."""
    neighbour_mask: tuple[int, ...]
    """The same as sets."""
    top: int
    bottom: int
    left: int
    right: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    def spread(self, seed: int, within: int) -> int:
        """The cells of `within` that hang together with `seed` by neighbours, `seed & within` included."""
        side, not_left, not_right = self.side, self.full ^ self.left, self.full ^ self.right
        reached = seed & within
        front = reached
        while front:
            near = front << side | front >> side
            near |= (front << 1 | front >> (side - 1)) & not_left
            near |= (front >> 1 | front << (side - 1)) & not_right
            front = near & within & ~reached
            reached |= front
        return reached


@lru_cache(maxsize=32)
def geometry(side: int) -> Geometry:
    """The tables for a field of `side` cells a side. Raises ValueError unless 2 <= side <= 26."""
    if not 2 <= side <= 26:
        raise ValueError(f"a field has 2 to 26 cells a side, not {side}")
    names = tuple(f"{chr(97 + column)}{row + 1}" for row in range(side) for column in range(side))
    neighbours = tuple(
        tuple(
            (row + down) * side + column + across
            for down, across in _STEPS
            if 0 <= row + down < side and 0 <= column + across < side
        )
        for row in range(side)
        for column in range(side)
    )
    rows = tuple(((1 << side) - 1) << (row * side) for row in range(side))
    columns = tuple(sum(1 << (row * side + column) for row in range(side)) for column in range(side))
    return Geometry(
        side=side,
        cells=side * side,
        full=(1 << side * side) - 1,
        names=names,
        index={name: cell for cell, name in enumerate(names)},
        neighbours=neighbours,
        neighbour_mask=tuple(sum(1 << cell for cell in near) for near in neighbours),
        top=rows[0],
        bottom=rows[-1],
        left=columns[0],
        right=columns[-1],
        rows=rows,
        columns=columns,
    )


def cells_of(mask: int) -> list[int]:
    """The members of a set of cells, ascending."""
    cells = []
    while mask:
        low = mask & -mask
        cells.append(low.bit_length() - 1)
        mask ^= low
    return cells
