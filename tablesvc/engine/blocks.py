"""Block layouts: a letter for each cell, row by row."""

from functools import lru_cache

from tablesvc.engine.geometry import geometry

_ROWS_OF_BLOCK = {9: 3, 6: 2}
"""Rows of a regular block; it has side // rows columns."""


@lru_cache(maxsize=8)
def regular(side: int) -> str:
    """The regular layout: 3×3 for side 9, 2 rows × 3 columns for side 6. Raises KeyError for other sides."""
    rows = _ROWS_OF_BLOCK[side]
    columns = side // rows
    across = side // columns
    return "".join(
        chr(97 + (row // rows) * across + column // columns) for row in range(side) for column in range(side)
    )


def masks(side: int, layout: str) -> tuple[int, ...]:
    """The layout's blocks as sets of cells, in the order in which they first occur."""
    found: dict[str, int] = {}
    for cell, letter in enumerate(layout):
        found[letter] = found.get(letter, 0) | 1 << cell
    return tuple(found.values())


def is_regular(side: int, layout: str) -> bool:
    """Whether the layout is the regular one, whatever its letters are."""
    return masks(side, layout) == masks(side, regular(side))


def connected(side: int, block: int) -> bool:
    """Whether the cells of `block` hang together by the six neighbours. True for an empty block."""
    return geometry(side).spread(block & -block, block) == block


def fault(side: int, layout: str) -> str | None:
    """What is wrong with a layout of side*side letters, None when it has `side` connected blocks of `side` cells."""
    parts = masks(side, layout)
    names = list(dict.fromkeys(layout))
    if len(parts) != side:
        return f"there are {len(parts)} blocks, not {side}"
    for name, part in zip(names, parts, strict=True):
        if part.bit_count() != side:
            return f"block {name} has {part.bit_count()} cells, not {side}"
    for name, part in zip(names, parts, strict=True):
        if not connected(side, part):
            return f"block {name} is not connected"
    return None
