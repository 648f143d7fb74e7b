"""How long a deal takes, and how much longer the textbook way would: `python -m bench.deal [--count N]`.

The textbook way: the same layouts, one full field by backtracking, cells taken one by one in a random order, each time
counting solutions up to two with a search that branches on the cell with fewest candidates; a new order when that
ends with too many givens. Both run in turn in one process, so that the ratios mean something on a busy machine.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from random import Random

from tablesvc.dealing.cover import REGULAR
from tablesvc.dealing.dealer import deal
from tablesvc.dealing.dice import below, seeded, shuffle
from tablesvc.dealing.layout import draw_layout

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
FILL_NODES = 300


class Textbook:
    """Rows, columns and blocks as bit sets of the digits used; a search over the cell with fewest candidates."""

    def __init__(self, side: int, blocks: str) -> None:
        self.side, self.size = side, side * side
        letters = sorted(set(blocks))
        self.block = [letters.index(letter) for letter in blocks]
        self.all = (1 << side) - 1

    def solutions(self, grid: list[int], rng: Random | None, nodes: int = 1 << 60) -> Iterator[list[int]]:
        """Every solution of a grid of digit bits, 0 for empty; digits in random order with rng."""
        n = self.side
        rows, columns, blocks = [0] * n, [0] * n, [0] * n
        for cell, bit in enumerate(grid):
            rows[cell // n] |= bit
            columns[cell % n] |= bit
            blocks[self.block[cell]] |= bit
        left = [nodes]

        def down() -> Iterator[list[int]]:
            left[0] -= 1
            best, options = -1, 0
            fewest = n + 1
            for cell in range(self.size):
                if not grid[cell]:
                    free = self.all & ~(rows[cell // n] | columns[cell % n] | blocks[self.block[cell]])
                    count = free.bit_count()
                    if count < fewest:
                        best, options, fewest = cell, free, count
                        if count < 2:
                            break
            if best < 0:
                yield grid[:]
                return
            bits = [1 << digit for digit in range(n) if options >> digit & 1]
            if rng is not None:
                shuffle(rng, bits)
            for bit in bits:
                if left[0] <= 0:
                    return
                row, column, block = best // n, best % n, self.block[best]
                grid[best] = bit
                rows[row] |= bit
                columns[column] |= bit
                blocks[block] |= bit
                yield from down()
                grid[best] = 0
                rows[row] ^= bit
                columns[column] ^= bit
                blocks[block] ^= bit

        return down()

    def unique(self, grid: list[int]) -> bool:
        found = self.solutions(grid[:], None)
        next(found)
        return next(found, None) is None


def textbook_deal(side: int, blocks: str, givens: int, seed: int) -> list[int]:
    """A deal the textbook way, as a grid of digit bits."""
    rng = seeded("textbook", side, blocks, givens, seed)
    while True:
        book = Textbook(side, REGULAR[side] if blocks == "regular" else draw_layout(side, rng))
        field = next(book.solutions([0] * side * side, rng, FILL_NODES), None)
        if field is None:
            continue
        order = list(range(side * side))
        shuffle(rng, order)
        grid, left = field[:], side * side
        for cell in order:
            if left == givens:
                return grid
            grid[cell] = 0
            if book.unique(grid):
                left -= 1
            else:
                grid[cell] = field[cell]
        if left == givens:
            return grid


def timed(make: Callable[[int, str, int, int], object], setting: tuple[int, str, int], seed: int) -> float:
    """Milliseconds of one deal."""
    start = time.perf_counter()
    make(*setting, seed)
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description="Times of dealing, against the textbook search.")
    parser.add_argument("--count", type=int, default=200, help="deals of each setting (default 200)")
    parser.add_argument("--textbook", type=int, default=20, help="deals the textbook way of each (default 20)")
    args = parser.parse_args()
    first = below(seeded("bench"), 1 << 30)
    print(f"{'setting':<18}{'median ms':>10}{'p99':>8}{'max':>8}{'textbook ms':>13}{'ratio':>7}")
    for setting in SETTINGS:
        ours, theirs = [], []
        for number in range(max(args.count, args.textbook)):
            if number < args.count:
                ours.append(timed(deal, setting, first + number))
            if number < args.textbook:
                theirs.append(timed(textbook_deal, setting, first + number))
        ours.sort()
        median = statistics.median(ours)
        line = f"{setting[0]} {setting[1]:<10}{setting[2]:>3}  "
        line += f"{median:>12.2f}{ours[int(len(ours) * 0.99)]:>8.1f}{ours[-1]:>8.1f}"
        if theirs:
            other = statistics.median(theirs)
            line += f"{other:>13.1f}{other / median:>7.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
