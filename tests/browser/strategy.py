"""Players for the tests: one who knows the solution and heads for the goal, one who does a bit of everything.

They see what the page shows (`Seen`) and the solved field, and name a move.
"""

import heapq
from dataclasses import dataclass
from random import Random

WALL = 10_000


@dataclass(frozen=True)
class Seen:
    """A table as one page shows it."""

    version: int
    mine: bool
    over: bool
    hand: list[int]
    field: str
    owners: str
    givens: str
    bag: int
    pie: bool


@dataclass(frozen=True)
class Move:
    """`place`, `claim`, `exchange` or `pie`."""

    kind: str
    cell: int = -1
    tile: int | None = None


@dataclass(frozen=True)
class Board:
    """What stays the same: side, blocks, solution, variant, price of a claim."""

    side: int
    blocks: str
    solution: str
    variant: str
    price: int

    def name(self, cell: int) -> str:
        """`e3`"""
        return f"{chr(97 + cell % self.side)}{cell // self.side + 1}"

    def neighbours(self, cell: int) -> list[int]:
        """Cells that touch this one."""
        row, column = divmod(cell, self.side)
        steps = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0))
        around = ((row + r, column + c) for r, c in steps)
        return [r * self.side + c for r, c in around if 0 <= r < self.side and 0 <= c < self.side]


def purposeful(board: Board, seen: Seen, color: str) -> Move:
    """The move of a player who wants to be done soon."""
    wanted = _block_cells(board, seen, color) if board.variant == "domains" else _path(board, seen, color)
    for cell in wanted:
        if seen.field[cell] == "." and int(board.solution[cell]) in seen.hand:
            return Move("place", cell, int(board.solution[cell]))
    claims = [cell for cell in wanted if seen.givens[cell] != "." and seen.owners[cell] == "."]
    if claims and (not seen.hand or len(seen.hand) >= board.price):
        return Move("claim", claims[0], _least_useful(board, seen, wanted))
    if seen.bag and len(seen.hand) > 0:
        return Move("exchange")
    return anything(board, seen)


def anything(board: Board, seen: Seen) -> Move:
    """Some legal move."""
    right = right_placements(board, seen)
    if right:
        return right[0]
    if seen.bag:
        return Move("exchange")
    free = [cell for cell, digit in enumerate(seen.givens) if digit != "." and seen.owners[cell] == "."]
    return Move("claim", free[0], seen.hand[0] if seen.hand else None)


def right_placements(board: Board, seen: Seen) -> list[Move]:
    """Tiles of the hand on cells where they belong."""
    return [
        Move("place", cell, int(board.solution[cell]))
        for cell, letter in enumerate(seen.field)
        if letter == "." and int(board.solution[cell]) in seen.hand
    ]


def wrong_placements(board: Board, seen: Seen) -> list[Move]:
    """The first tile of the hand on cells where it does not belong."""
    tile = seen.hand[0]
    return [
        Move("place", cell, tile)
        for cell, letter in enumerate(seen.field)
        if letter == "." and int(board.solution[cell]) != tile
    ]


def varied(board: Board, seen: Seen, dice: Random) -> Move:
    """Misses, exchanges, claims and right placements by turns."""
    free = [cell for cell, digit in enumerate(seen.givens) if digit != "." and seen.owners[cell] == "."]
    kind = dice.choice(("miss", "exchange", "claim", "place"))
    if kind == "miss" and seen.hand:
        wrong = wrong_placements(board, seen)
        if wrong:
            return dice.choice(wrong)
    if kind == "claim" and free and len(seen.hand) >= board.price:
        return Move("claim", dice.choice(free), dice.choice(seen.hand))
    if kind == "exchange" and seen.bag:
        return Move("exchange")
    return anything(board, seen)


def _least_useful(board: Board, seen: Seen, wanted: list[int]) -> int | None:
    needed = {int(board.solution[cell]) for cell in wanted if seen.field[cell] == "."}
    return next((tile for tile in seen.hand if tile not in needed), seen.hand[0]) if seen.hand else None


def _path(board: Board, seen: Seen, color: str) -> list[int]:
    """Cells still to be won on the cheapest chain between the own sides."""
    side, letter = board.side, color[0]
    starts = [k if color == "blue" else k * side for k in range(side)]

    def cost(cell: int) -> int:
        if seen.owners[cell] == letter:
            return 0
        if seen.owners[cell] != ".":
            return WALL
        if seen.givens[cell] != ".":
            return 10
        return 9 if int(board.solution[cell]) in seen.hand else 14

    best = {cell: cost(cell) for cell in starts}
    came: dict[int, int] = {}
    queue = [(price, cell) for cell, price in best.items()]
    heapq.heapify(queue)
    while queue:
        price, cell = heapq.heappop(queue)
        if price > best[cell]:
            continue
        for near in board.neighbours(cell):
            total = price + cost(near)
            if total < best.get(near, WALL * WALL):
                best[near] = total
                came[near] = cell
                heapq.heappush(queue, (total, near))
    ends = [side * (side - 1) + k if color == "blue" else k * side + side - 1 for k in range(side)]
    path = [min(ends, key=lambda end: best[end])]
    while path[-1] in came:
        path.append(came[path[-1]])
    return [cell for cell in path if seen.owners[cell] == "."]


def _block_cells(board: Board, seen: Seen, color: str) -> list[int]:
    """Free cells of the blocks that are worth winning, the nearest to a majority first."""
    half = board.side // 2
    ranked: list[tuple[int, str]] = []
    for block in sorted(set(board.blocks)):
        owners = [seen.owners[cell] for cell, letter in enumerate(board.blocks) if letter == block]
        own = owners.count(color[0])
        free = owners.count(".")
        if own <= half and own + free > half:
            ranked.append((half + 1 - own, block))
    cells: list[int] = []
    for _, block in sorted(ranked)[: half + 1]:
        cells += [cell for cell, letter in enumerate(board.blocks) if letter == block and seen.owners[cell] == "."]
    return cells
