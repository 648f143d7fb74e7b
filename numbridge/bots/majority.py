"""The worth of cells where blocks are counted (Domains).

A block is a race to more than half of its cells; with even chances for every
cell to come, the numbers still needed give the odds. The blocks together are a
race of the same kind, with each block's own odds.
"""

from collections.abc import Iterable
from functools import lru_cache
from math import comb

from numbridge.bots.board import Board


@lru_cache(maxsize=256)
def race(mine: int, foes: int) -> float:
    """Chance of getting `mine` more cells before the opponent gets `foes` more."""
    if mine <= 0:
        return 1.0
    if foes <= 0:
        return 0.0
    rounds = mine + foes - 1
    return sum(comb(rounds, hits) for hits in range(mine, rounds + 1)) / float(2**rounds)


def more_than_half(odds: list[float]) -> float:
    """Chance of winning more than half of the blocks, given the chance for each."""
    wins = [1.0]
    for chance in odds:
        longer = [0.0] * (len(wins) + 1)
        for number, weight in enumerate(wins):
            longer[number] += weight * (1 - chance)
            longer[number + 1] += weight * chance
        wins = longer
    return sum(wins[len(odds) // 2 + 1 :])


class Majority:
    """Judges what a cell of a block is worth."""

    def __init__(self, board: Board) -> None:
        self._block_of: dict[int, int] = {}
        odds: list[float] = []
        with_one: list[float] = []
        without: list[float] = []
        for number, block in enumerate(board.layout.blocks):
            need = len(block) // 2 + 1
            mine = need - sum(board.owners[cell] == board.me for cell in block)
            foes = need - sum(board.owners[cell] == board.foe for cell in block)
            odds.append(race(mine, foes))
            # A block that somebody has is nobody's any more.
            with_one.append(race(mine - 1, foes) if foes > 0 else 0.0)
            without.append(race(mine, foes - 1) if mine > 0 else 1.0)
            self._block_of.update(dict.fromkeys(block, number))
        now = more_than_half(odds)

        def changed(number: int, chance: float) -> float:
            return more_than_half([*odds[:number], chance, *odds[number + 1 :]])

        # To take a cell is worth what it brings, and what it takes from the opponent's next move.
        self._gains = [
            changed(number, with_one[number]) - now + 0.5 * (now - changed(number, without[number]))
            for number in range(len(odds))
        ]

    def gain(self, cell: int) -> float:
        """How much the mover's chances rise with `cell`, and the opponent's without."""
        return self._gains[self._block_of[cell]]

    def promising(self, cells: Iterable[int], most: int) -> list[int]:
        """Those of `cells` that are worth most, the best first."""
        return sorted(cells, key=self.gain, reverse=True)[:most]
