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
        digits_at = size * width
        letters = sorted(set(blocks))
        if len(blocks) != size or len(letters) != n or any(blocks.count(letter) != n for letter in letters):
            raise BadLayout(f"a layout of side {n} is {n} different letters, {n} times each")
        block_of = [letters.index(letter) for letter in blocks]
        frame = _frame(n)

        # One digit's share of the state, rows, columns, blocks: where each cell's bits lie, and whose the
        # bits of its blocks are.
        cell_bits: list[int] = []
        areas = list(frame.lines) + [0] * n
        block_cells = [0] * n
        block_owner = [0] * (n * width)
        filled = [0] * n
        for cell, block in enumerate(block_of):
            in_block = block * width + filled[block]
            filled[block] += 1
            block_owner[in_block] = cell * n
            bit = 1 << 2 * n * width + in_block
            cell_bits.append(frame.line_bits[cell] | bit)
            row, column = divmod(cell, n)
            areas[row] |= bit
            areas[n + column] |= bit
            areas[2 * n + block] |= cell_bits[cell]
            block_cells[block] |= 1 << cell * width
        self._cell_bits = cell_bits
        owner = list(frame.cell_owner)
        for digit in range(n):
            owner += frame.line_owner[digit]
            owner += [first + digit for first in block_owner]
        self.owner = owner

        self.guards = frame.guards
        self.start = start = frame.start
        every_digit, shifts = frame.every_digit, frame.shifts
        whole = (2 << n) - 1  # a field and its guard
        closed = [areas[area] | 1 << area * width + n for area in range(3 * n)]
        keep: list[int] = []
        for cell, block in enumerate(block_of):
            row, column = divmod(cell, n)
            bits = cell_bits[cell]
            # What choosing any digit here leaves of the state, and what one digit takes of that: the same
            # digit's bits of the peers, in their cells' fields and in its own share.
            own = start & ~(whole << cell * width | bits * every_digit << digits_at)
            peers = (frame.line_cells[cell] | block_cells[block]) & ~(1 << cell * width)
            digit_peers = (closed[row] | closed[n + column] | closed[2 * n + block]) & ~bits
            keep += [own ^ peers << low ^ digit_peers << high for low, high in shifts]
        self.keep = keep

    def bits(self, candidate: int) -> int:
        """The four bits that a candidate has in the state."""
        n = self.side
        width = n + 1
        cell, digit = divmod(candidate, n)
        offset = n * n * width + digit * 3 * n * width
        return 1 << cell * width + digit | self._cell_bits[cell] << offset


class _Frame:
    """What all layouts of a side share: rows, columns, and the shape of the state."""

    __slots__ = (
        "cell_owner",
        "every_digit",
        "guards",
        "line_bits",
        "line_cells",
        "line_owner",
        "lines",
        "shifts",
        "start",
    )

    def __init__(self, n: int) -> None:
        size, width = n * n, n + 1
        digits_at, span = size * width, 3 * n * width
        self.every_digit = sum(1 << digit * span for digit in range(n))
        """The lowest bit of each digit's share."""
        self.shifts = [(digit, digits_at + digit * span) for digit in range(n)]
        """By how much each digit shifts bits of the cells' fields, and of a share."""
        cells = sum(1 << cell * width for cell in range(size))
        areas = sum(1 << area * width for area in range(3 * n))
        lows = cells | areas * self.every_digit << digits_at
        self.guards = lows << n
        self.start = self.guards | lows * ((1 << n) - 1)
        self.line_bits = [
            1 << cell // n * width + cell % n | 1 << (n + cell % n) * width + cell // n for cell in range(size)
        ]
        """A cell's bits in the rows and columns of a share."""
        self.lines = [sum(self.line_bits[row * n : row * n + n]) for row in range(n)]
        self.lines += [sum(self.line_bits[column::n]) for column in range(n)]
        """Those of all cells of a row or column."""
        rows = [sum(1 << cell * width for cell in range(row * n, row * n + n)) for row in range(n)]
        columns = [sum(1 << cell * width for cell in range(column, size, n)) for column in range(n)]
        self.line_cells = [rows[cell // n] | columns[cell % n] for cell in range(size)]
        """The cells of a cell's row and column, as lowest bits of their fields."""
        self.cell_owner = [cell * n + digit for cell in range(size) for digit in (*range(n), 0)]
        line_owner = [0] * (2 * n * width)
        for cell, bits in enumerate(self.line_bits):
            line_owner[(bits & -bits).bit_length() - 1] = line_owner[bits.bit_length() - 1] = cell * n
        self.line_owner = [[first + digit for first in line_owner] for digit in range(n)]


_frame = lru_cache(maxsize=2)(_Frame)


@lru_cache(maxsize=32)
def cover(side: int, blocks: str) -> Cover:
    """The tables of a layout, kept for the last 32 layouts (some 350 kB each on a field of nine).

    Raises BadLayout.
    """
    return Cover(side, blocks)
