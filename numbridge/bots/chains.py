"""The worth of cells where sides are to be connected (Bridge, Blitz).

A player's distance to the goal is the cost of the cheapest chain still to be
built. A cell that can be reached in two ways costs less than one with a single
way to it, for the single way can be closed (two-distance, softened).
"""

from collections.abc import Iterable
from heapq import heappop, heappush

from numbridge.bots.board import BLUE, NOBODY, Board, Layout
from numbridge.bots.deduction import Knowledge

FAR = 1e9
ONE_WAY = 0.7  # what it adds to a cell's distance that there is only one way to it
_IN_HAND, _KNOWN, _UNKNOWN = 1.0, 1.1, 1.6  # costs of an empty cell: how soon a tile for it can be played
_GIVEN = {1: 1.0, 2: 1.25}  # costs of an unowned given, by the price of a claim
_NEAR = 0.4  # softens 1/distance
_WON = 10.0
_DEFENCE = 1.1  # the opponent moves next, so that his distance counts a little more


class Chains:
    """Judges positions that differ from the board by a cell or two."""

    def __init__(self, board: Board, knowledge: Knowledge) -> None:
        self._board = board
        self._mine = _costs(board, knowledge, board.hand)
        self._foes = _costs(board, knowledge, ())
        self._now = self._worth(list(board.owners))

    def gain(self, cell: int) -> float:
        """How much better the position is once the mover owns `cell`."""
        owners = list(self._board.owners)
        owners[cell] = self._board.me
        return self._worth(owners) - self._now

    def promising(self, cells: Iterable[int], most: int) -> list[int]:
        """Those of `cells` that lie best on the cheapest chains of both players, the best first."""
        through = self._through()
        return sorted(cells, key=lambda cell: through[cell])[:most]

    def _through(self) -> list[float]:
        board = self._board
        owners = list(board.owners)
        total = [0.0] * board.layout.cells
        for who, costs in ((board.me, self._mine), (board.foe, self._foes)):
            start, finish = sides(board.layout, who)
            there = distances(board.layout, owners, who, costs, start)
            back = distances(board.layout, owners, who, costs, finish)
            for cell, cost in enumerate(costs):
                total[cell] += min(there[cell] + back[cell] - cost, 100.0)
        return total

    def _worth(self, owners: list[str]) -> float:
        board = self._board
        mine = distance(board.layout, owners, board.me, self._mine)
        if mine == 0:
            return _WON
        foes = distance(board.layout, owners, board.foe, self._foes)
        return 1 / (mine + _NEAR) - _DEFENCE / (foes + _NEAR)


def sides(tables: Layout, who: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The two sides that a player connects."""
    return (tables.top, tables.bottom) if who == BLUE else (tables.left, tables.right)


def distance(tables: Layout, owners: list[str], who: str, costs: list[float]) -> float:
    """Cost of the rest of the cheapest chain; 0 when it stands, FAR when there can be none."""
    start, finish = sides(tables, who)
    reached = distances(tables, owners, who, costs, start)
    return min(reached[cell] for cell in finish)


def distances(tables: Layout, owners: list[str], who: str, costs: list[float], start: Iterable[int]) -> list[float]:
    """What it costs to own each cell and a chain from it to `start`; 0 for cells that hang together with
    it."""
    cells, neighbours = tables.cells, tables.neighbours
    group, fringes = _groups(tables, owners, who)
    # Nodes: the cells, then the own chains, which cost nothing and may be left in any direction.
    price = [*costs, *(0.0 for _ in fringes)]
    final = [FAR] * len(price)
    ways = [0] * len(price)
    heap: list[tuple[float, int]] = []
    for cell in start:
        if owners[cell] == who:
            heappush(heap, (0.0, cells + group[cell]))
        elif owners[cell] == NOBODY:
            heappush(heap, (costs[cell], cell))
    while heap:
        far, node = heappop(heap)
        if final[node] < FAR:
            continue
        final[node] = far
        if node >= cells:
            for cell in fringes[node - cells]:
                if final[cell] == FAR:
                    heappush(heap, (far + costs[cell], cell))
            continue
        for cell in neighbours[node]:
            owner = owners[cell]
            if owner == who:
                cell = cells + group[cell]
            elif owner != NOBODY:
                continue
            if final[cell] == FAR and ways[cell] < 2:
                ways[cell] += 1
                heappush(heap, (far + price[cell] + (ONE_WAY if ways[cell] == 1 else 0.0), cell))
    reached = final[:cells]
    for cell, number in enumerate(group):
        if number >= 0:
            reached[cell] = final[cells + number]
    return reached


def _groups(tables: Layout, owners: list[str], who: str) -> tuple[list[int], list[set[int]]]:
    """Number of the chain that each own cell is in (-1 elsewhere), and each chain's free neighbours."""
    group = [-1] * tables.cells
    fringes: list[set[int]] = []
    for first, owner in enumerate(owners):
        if owner != who or group[first] >= 0:
            continue
        number = len(fringes)
        fringe: set[int] = set()
        group[first] = number
        stack = [first]
        while stack:
            for cell in tables.neighbours[stack.pop()]:
                if owners[cell] == who:
                    if group[cell] < 0:
                        group[cell] = number
                        stack.append(cell)
                elif owners[cell] == NOBODY:
                    fringe.add(cell)
        fringes.append(fringe)
    return group, fringes


def _costs(board: Board, knowledge: Knowledge, hand: tuple[int, ...]) -> list[float]:
    """What each unowned cell costs a player whose tiles are `hand` (none known: the opponent)."""
    costs = [0.0] * board.layout.cells
    for cell, given in enumerate(board.givens):
        if board.owners[cell] != NOBODY:
            continue
        if given:
            costs[cell] = _GIVEN[board.price]
        elif (digit := knowledge.certain.get(cell)) is None:
            costs[cell] = _UNKNOWN
        else:
            costs[cell] = _IN_HAND if digit in hand else _KNOWN
    return costs
