"""What a player sees, as a board: cells by index, areas, owners. Read from the protocol's `view`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_STEPS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))

BLUE, RED, NOBODY = "b", "r", "."


@dataclass(frozen=True, slots=True)
class Layout:
    """Tables of one field: what follows from its side and its blocks. Cells are indices row*side + column."""

    side: int
    cells: int
    names: tuple[str, ...]
    index: dict[str, int]
    neighbours: tuple[tuple[int, ...], ...]
    """The up to six cells around each cell."""
    blocks: tuple[tuple[int, ...], ...]
    areas: tuple[tuple[int, ...], ...]
    """Rows, columns and blocks."""
    areas_of: tuple[tuple[int, ...], ...]
    """The areas that each cell is in, by their place in `areas`."""
    peers: tuple[tuple[int, ...], ...]
    """The cells that share an area with each cell."""
    top: tuple[int, ...]
    bottom: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]


@lru_cache(maxsize=128)
def layout(side: int, blocks: str) -> Layout:
    """The tables for a field whose blocks are written as side*side letters."""
    cells = side * side
    rows = [tuple(range(row * side, row * side + side)) for row in range(side)]
    columns = [tuple(range(column, cells, side)) for column in range(side)]
    parts = [tuple(cell for cell in range(cells) if blocks[cell] == letter) for letter in dict.fromkeys(blocks)]
    areas = (*rows, *columns, *parts)
    areas_of: list[list[int]] = [[] for _ in range(cells)]
    for number, area in enumerate(areas):
        for cell in area:
            areas_of[cell].append(number)
    names = tuple(f"{chr(97 + cell % side)}{cell // side + 1}" for cell in range(cells))
    return Layout(
        side=side,
        cells=cells,
        names=names,
        index={name: cell for cell, name in enumerate(names)},
        neighbours=tuple(
            tuple(
                (cell // side + down) * side + cell % side + across
                for down, across in _STEPS
                if 0 <= cell // side + down < side and 0 <= cell % side + across < side
            )
            for cell in range(cells)
        ),
        blocks=tuple(parts),
        areas=areas,
        areas_of=tuple(map(tuple, areas_of)),
        peers=tuple(
            tuple(sorted({other for number in areas_of[cell] for other in areas[number]} - {cell}))
            for cell in range(cells)
        ),
        top=rows[0],
        bottom=rows[-1],
        left=columns[0],
        right=columns[-1],
    )


@dataclass(frozen=True, slots=True)
class Board:
    """The position from one player's chair."""

    layout: Layout
    domains: bool
    me: str
    """BLUE or RED."""
    digits: tuple[int, ...]
    """The digit that each cell shows, 0 where it is empty."""
    owners: tuple[str, ...]
    """BLUE, RED or NOBODY."""
    givens: tuple[bool, ...]
    hand: tuple[int, ...]
    bag: int
    price: int
    pie: int | None
    """The cell that may be taken by the pie rule now."""
    misses: frozenset[tuple[int, int]]
    """(cell, digit) that are known to be wrong."""

    @property
    def foe(self) -> str:
        """The opponent's letter."""
        return RED if self.me == BLUE else BLUE

    @property
    def untouched(self) -> bool:
        """Whether no cell has an owner yet."""
        return all(owner == NOBODY for owner in self.owners)

    def empty(self) -> list[int]:
        """Cells that show no digit."""
        return [cell for cell, digit in enumerate(self.digits) if not digit]

    def claimable(self) -> list[int]:
        """Givens without an owner, if the hand can pay for one."""
        if self.hand and len(self.hand) < self.price:
            return []
        return [cell for cell, given in enumerate(self.givens) if given and self.owners[cell] == NOBODY]


def read(view: Mapping[str, Any], misses: Iterable[tuple[str, int]] = ()) -> Board:
    """The board in a player's `view`; `misses` are (cell, digit) remembered beyond the view's marks.

    Raises ValueError if it is not the viewer's turn.
    """
    you = view.get("you")
    if you is None or view["to_move"] != you or view["status"] != "playing":
        raise ValueError("it is not this viewer's turn")
    settings = view["settings"]
    tables = layout(settings["side"], view["blocks"])
    owners = tuple(view["owners"])
    pie = None
    if view["pie"]:
        pie = next((cell for cell, owner in enumerate(owners) if owner != NOBODY), None)
    wrong = {(tables.index[cell], digit) for cell, digit in misses_in(view)}
    wrong.update((tables.index[cell], digit) for cell, digit in misses)
    return Board(
        layout=tables,
        domains=settings["variant"] == "domains",
        me=you[0],
        digits=tuple(0 if char == "." else int(char) for char in view["field"]),
        owners=owners,
        givens=tuple(char != "." for char in view["givens"]),
        hand=tuple(view["hand"]),
        bag=view["bag"],
        price=settings["claim_price"],
        pie=pie,
        misses=frozenset(wrong),
    )


def misses_in(view: Mapping[str, Any]) -> set[tuple[str, int]]:
    """(cell, digit) that the view shows to be wrong: the marks, and the latest move."""
    wrong = {(mark["cell"], int(mark["digit"])) for mark in view.get("marks", ())}
    last = view.get("last")
    if last is not None and last["kind"] == "place" and not last["hit"]:
        wrong.add((last["cell"], int(last["digit"])))
    return wrong
