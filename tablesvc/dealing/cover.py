"""The field as an exact cover, held in one integer.

Every way to fill one cell, a *candidate* (cell, digit), satisfies four constraints: its cell has a digit, and
its row, its column and its block have that digit. Each of the 4*n*n constraints is a field of n bits, one for
each candidate that could still satisfy it, and a guard bit above them that says the constraint is open. All
of them lie side by side in one Python integer, the *state*, so that one subtraction asks every constraint at
once how many candidates it has left:

    state - lows   borrows from the guard of an empty field (a contradiction), and
    state & that   is left with nothing in a field that had one candidate (naked and hidden singles alike).

Choosing a candidate is one AND with ``keep[candidate]``, which clears whatever conflicts with it and the four
constraints it satisfies; banning one is one AND with the complement of ``bits(candidate)``.

Candidates are numbered ``cell * n + digit``, digits from 0. The cells' fields lie lowest, a1 first; above
them, digit by digit, rows, columns and blocks.
"""

from functools import lru_cache

from tablesvc.dealing.errors import BadLayout

REGULAR = {
    6: "aaabbb" * 2 + "cccddd" * 2 + "eeefff" * 2,
    9: "aaabbbccc" * 3 + "dddeeefff" * 3 + "ggghhhiii" * 3,
}
"""The regular layout of each side: 2 rows by 3 columns on six, 3 by 3 on nine."""


class Cover:
    """The tables of one block layout. Nothing in it changes after it is made, so it is shared freely.

    side: n. blocks: the layout, n*n letters. guards: the guard bit of every constraint. start: the state of
    the empty field. keep: the AND mask that chooses a candidate. owner: the candidate at a bit position of
    the state.
    """

    __slots__ = ("_cell_bits", "blocks", "guards", "keep", "owner", "side", "start")

    def __init__(self, side: int, blocks: str) -> None:
        self.side = side
        self.blocks = blocks
        n, size, width = side, side * side, side + 1
        digits_at, span = size * width, 3 * n * width
        letters = sorted(set(blocks))
        if len(blocks) != size or len(letters) != n or any(blocks.count(letter) != n for letter in letters):
            raise BadLayout(f"a layout of side {n} is {n} different letters, {n} times each")
        block_of = [letters.index(letter) for letter in blocks]
        row_cells, column_cells, every_cell, every_area, every_digit, cell_owner = _frame(n)

        # One digit's share of the state, rows, columns, blocks: where each cell's bits lie, and whose each
        # bit is.
        share = [0] * span
        areas = [0] * (3 * n)
        block_cells = [0] * n
        cell_bits: list[int] = []
        filled = [0] * n
        for cell, block in enumerate(block_of):
            row, column = divmod(cell, n)
            in_row, in_column = row * width + column, (n + column) * width + row
            in_block = (2 * n + block) * width + filled[block]
            filled[block] += 1
            bits = 1 << in_row | 1 << in_column | 1 << in_block
            cell_bits.append(bits)
            share[in_row] = share[in_column] = share[in_block] = cell * n
            areas[row] |= bits
            areas[n + column] |= bits
            areas[2 * n + block] |= bits
            block_cells[block] |= 1 << cell * width
        self._cell_bits = cell_bits
        self.owner = cell_owner + [first + digit for digit in range(n) for first in share]

        lows = every_cell | every_area * every_digit << digits_at
        self.guards = lows << n
        self.start = start = self.guards | lows * ((1 << n) - 1)
        whole = (2 << n) - 1  # a field and its guard
        closed = [areas[area] | 1 << area * width + n for area in range(3 * n)]
        shifts = [(digit, digits_at + digit * span) for digit in range(n)]
        keep: list[int] = []
        for cell, block in enumerate(block_of):
            row, column = divmod(cell, n)
            own = start & ~(whole << cell * width | cell_bits[cell] * every_digit << digits_at)
            peers = row_cells[row] | column_cells[column] | block_cells[block]
            digit_peers = closed[row] | closed[n + column] | closed[2 * n + block]
            keep += [own & ~(peers << low | digit_peers << high) for low, high in shifts]
        self.keep = keep

    def bits(self, candidate: int) -> int:
        """The four bits that a candidate has in the state."""
        n = self.side
        width = n + 1
        cell, digit = divmod(candidate, n)
        offset = n * n * width + digit * 3 * n * width
        return 1 << cell * width + digit | self._cell_bits[cell] << offset


@lru_cache(maxsize=2)
def _frame(n: int) -> tuple[list[int], list[int], int, int, int, list[int]]:
    """What no layout changes: the cells of each row and column as lowest bits of their fields, the lowest
    bits of all cells' fields, of one digit's share and of all shares, and the owners of the cells' bits."""
    width = n + 1
    row_cells = [sum(1 << (row * n + column) * width for column in range(n)) for row in range(n)]
    column_cells = [sum(1 << (row * n + column) * width for row in range(n)) for column in range(n)]
    every_area = sum(1 << area * width for area in range(3 * n))
    every_digit = sum(1 << digit * 3 * n * width for digit in range(n))
    cell_owner = [cell * n + digit for cell in range(n * n) for digit in (*range(n), 0)]
    return row_cells, column_cells, sum(row_cells), every_area, every_digit, cell_owner


@lru_cache(maxsize=32)
def cover(side: int, blocks: str) -> Cover:
    """The tables of a layout, kept for the last 32 layouts (some 350 kB each on a field of nine).

    Raises BadLayout.
    """
    return Cover(side, blocks)
