"""How long a deal takes, and how much longer with a textbook search: `python -m bench.deal [--count N]`.

The textbook search looks for two solutions by branching on the cell with fewest digits left. Everything else
is the same in both: layouts, full fields, the order of digging, the local search. They take turns in one
process, so that the ratios mean something on a busy machine. A deal of the club's settings is made ahead of
time, so these are not times that anybody waits.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from random import Random
from unittest.mock import patch

from bench.conditions import Conditions
from tablesvc.dealing import dealer
from tablesvc.dealing.cover import Cover
from tablesvc.dealing.dealer import deal
from tablesvc.dealing.digging import Dig
from tablesvc.dealing.search import Steps

SETTINGS: list[tuple[int, str, int]] = [
    (9, "regular", 34),
    (9, "regular", 30),
    (9, "regular", 22),
    (9, "irregular", 34),
    (9, "irregular", 30),
    (9, "irregular", 22),
    (6, "regular", 12),
    (6, "regular", 10),
    (6, "regular", 8),
    (6, "irregular", 10),
    (6, "irregular", 7),
]


class TextbookDig(Dig):
    """The same digging, but a textbook search says whether the solution is still the only one."""

    __slots__ = ("_digits", "_peers")

    def __init__(self, tables: Cover, field: list[int], rng: Random, steps: Steps) -> None:
        super().__init__(tables, field, rng, steps)
        n, size, blocks = tables.side, tables.side**2, tables.blocks
        self._digits = [1 << candidate % n for candidate in field]
        self._peers = [
            [
                other
                for other in range(size)
                if other != cell and (other // n == cell // n or other % n == cell % n or blocks[other] == blocks[cell])
            ]
            for cell in range(size)
        ]

    def unique(self, state: int, given: int, taken: list[int]) -> bool:
        n = self._tables.side
        every = (1 << n) - 1
        options = [every] * len(self._digits)
        empty = []
        for cell, digit in enumerate(self._digits):
            if given >> cell & 1:
                for other in self._peers[cell]:
                    options[other] &= ~digit
            else:
                empty.append(cell)
        return self._count(options, empty, 2) == 1

    def _count(self, options: list[int], empty: list[int], most: int) -> int:
        """Solutions, up to `most`: branch on the cell with fewest digits left."""
        if not empty:
            return 1
        best = min(empty, key=lambda cell: options[cell].bit_count())
        rest = [cell for cell in empty if cell != best]
        found, bits = 0, options[best]
        while bits and found < most:
            bit = bits & -bits
            bits ^= bit
            deeper = options[:]
            for other in self._peers[best]:
                deeper[other] &= ~bit
            found += self._count(deeper, rest, most - found)
        return found


def textbook_deal(side: int, blocks: str, givens: int, seed: int) -> None:
    """A deal as the dealer makes it, the textbook search in the place of its own."""
    with patch.object(dealer, "Dig", TextbookDig):
        deal(side, blocks, givens, seed)


def timed(make: Callable[[int, str, int, int], object], setting: tuple[int, str, int], seed: int) -> float:
    """Milliseconds of processor time of one deal."""
    start = time.process_time()
    make(*setting, seed)
    return (time.process_time() - start) * 1e3


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line for each setting."""
    parser = argparse.ArgumentParser(description="Times of dealing, against the textbook search.")
    parser.add_argument("--count", type=int, default=200, help="deals of each setting (default 200)")
    parser.add_argument("--textbook", type=int, default=20, help="deals the textbook way of each (default 20)")
    args = parser.parse_args(argv)
    conditions = Conditions()
    print(f"{'setting':<18}{'median ms':>10}{'p99':>8}{'max':>8}{'textbook ms':>13}{'ratio':>7}")
    for setting in SETTINGS:
        ours, theirs = [], []
        for number in range(max(args.count, args.textbook)):
            if number < args.count:
                ours.append(timed(deal, setting, number))
            if number < args.textbook:
                theirs.append(timed(textbook_deal, setting, number))
        ours.sort()
        median = statistics.median(ours)
        line = f"{setting[0]} {setting[1]:<10}{setting[2]:>3}  "
        line += f"{median:>12.2f}{ours[int(len(ours) * 0.99)]:>8.1f}{ours[-1]:>8.1f}"
        if theirs:
            other = statistics.median(theirs)
            line += f"{other:>13.1f}{other / median:>7.1f}"
        print(line, flush=True)
    print("\n" + conditions.line())
    return 0


if __name__ == "__main__":
    sys.exit(main())
