"""A player by deduction: the `view` of whoever is to move in, one of the protocol's actions out.

    view ─► board ─► deduction (what is certain) ─► chains | majority (what a cell is worth) ─► choose

Certain placements and claims are weighed by what the cell brings for the goal;
with nothing certain in the hand a guess and an exchange are weighed too.
Pure: luck is the `rng` that is passed in, and nothing of the game that the
player may not see is needed or used.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from numbridge.bots.board import Board, read
from numbridge.bots.chains import Chains
from numbridge.bots.deduction import Knowledge, deduce
from numbridge.bots.majority import Majority

Action = dict[str, Any]

_LOOKED_AT = 7  # cells whose worth is worked out in full
_GUESSES = 8  # guesses that are weighed
_CLAIM = {1: 0.98, 2: 0.7}  # what a claim is worth beside a placement: at price 2 the next hand is short
_EXCHANGE = 0.5  # the turn is gone, and the cell may be too
_GUESS = 0.9  # a miss tells the opponent something
_LEAST = 0.002  # what any own cell is worth, so that better odds decide between cells that bring nothing
_PIE = 1.25  # a stone counts for more than chains show while the field is open
_FIRST_STONE = 0.45  # of the best cell's gain: a better first stone would be taken by the pie rule
_FIRST_LOOK = 16


@dataclass(frozen=True, slots=True)
class _Option:
    worth: float
    action: Action


def choose(view: Mapping[str, Any], rng: Random, misses: Iterable[tuple[str, int]] = ()) -> Action:
    """A legal action for the viewer, who is to move.

    `misses`: (cell, digit) that the caller remembers; those that the view still
    marks need not be among them. Raises ValueError if it is not the viewer's
    turn, or nothing can be played (a pass, which happens by itself).
    """
    return _Mind(read(view, misses), rng).choose()


class _Mind:
    """One decision."""

    def __init__(self, board: Board, rng: Random) -> None:
        self._board = board
        self._rng = rng
        self._knowledge: Knowledge = deduce(board)
        self._judge = Majority(board) if board.domains else Chains(board, self._knowledge)
        self._gains: dict[int, float] = {}

    def choose(self) -> Action:
        board, certain = self._board, self._knowledge.certain
        mine = {cell: digit for cell, digit in certain.items() if digit in board.hand}
        claims = board.claimable()
        if board.untouched and not board.domains and (mine or claims):
            return self._first_stone(mine, claims)
        options = []
        for cell in self._judge.promising([*mine, *claims], _LOOKED_AT):
            if cell in mine:
                options.append(_Option(self._gain(cell), self._place(cell, mine[cell])))
            else:
                discount = _CLAIM[board.price] if board.hand else 1.0
                options.append(_Option(self._gain(cell) * discount, self._claim(cell, mine)))
        if board.pie is not None:
            options.append(_Option(self._gain(board.pie) * _PIE, {"kind": "pie"}))
        if not mine:
            options += self._guesses()
            if board.bag:
                options.append(_Option(self._worth_of_exchange(), {"kind": "exchange"}))
        if not options:
            options = self._anything()
        return max(options, key=lambda option: option.worth + 1e-7 * self._rng.random()).action

    def _gain(self, cell: int) -> float:
        if cell not in self._gains:
            self._gains[cell] = self._judge.gain(cell)
        return self._gains[cell]

    def _place(self, cell: int, tile: int) -> Action:
        return {"kind": "place", "tile": tile, "cell": self._board.layout.names[cell]}

    def _claim(self, cell: int, mine: dict[int, int]) -> Action:
        name = self._board.layout.names[cell]
        if not self._board.hand:
            return {"kind": "claim", "cell": name}
        return {"kind": "claim", "cell": name, "tile": self._least_useful(mine)}

    def _least_useful(self, mine: dict[int, int]) -> int:
        """The tile that is missed least: a second of its kind, one without a certain cell, one with a poor cell."""
        hand = list(self._board.hand)
        self._rng.shuffle(hand)

        def use(place: int) -> float:
            tile = hand[place]
            if tile in hand[:place]:
                return -1.0
            cells = [cell for cell, digit in mine.items() if digit == tile]
            return max((self._gains.get(cell, _LEAST) for cell in cells), default=-0.5)

        return hand[min(range(len(hand)), key=use)]

    def _first_stone(self, mine: dict[int, int], claims: list[int]) -> Action:
        """The opponent may take the first stone, so it is to be neither the best cell nor a bad one."""
        cells = [*mine, *claims]
        if len(cells) > _FIRST_LOOK:
            cells = self._rng.sample(cells, _FIRST_LOOK)
        aim = _FIRST_STONE * max(map(self._gain, cells))
        cell = min(cells, key=lambda cell: abs(self._gain(cell) - aim))
        return self._place(cell, mine[cell]) if cell in mine else self._claim(cell, mine)

    def _guesses(self) -> list[_Option]:
        """Placements that may be right, the likeliest first. The dice have a say, so that nobody who forgets his
        misses repeats one for ever."""
        board, knowledge = self._board, self._knowledge
        found = [
            (knowledge.odds(board.layout, cell, tile), self._rng.random(), cell, tile)
            for tile in sorted(set(board.hand))
            for cell in board.empty()
        ]
        likely = sorted((guess for guess in found if guess[0] > 0), reverse=True)[:_GUESSES]
        return [
            _Option(odds * _GUESS * (self._gain(cell) + _LEAST) * (0.7 + 0.3 * dice), self._place(cell, tile))
            for odds, dice, cell, tile in likely
        ]

    def _worth_of_exchange(self) -> float:
        """The best certain cell, times the chance of drawing a tile for some certain cell."""
        board, certain = self._board, self._knowledge.certain
        outside = dict.fromkeys(range(1, board.layout.side + 1), board.layout.side)
        for digit in (*board.digits, *board.hand):
            if digit:
                outside[digit] -= 1
        wanted = set(certain.values())
        tiles = sum(outside.values()) + len(board.hand)
        share = sum(outside[digit] for digit in wanted) / tiles if tiles else 0.0
        draws = min(3, board.bag + len(board.hand))
        best = max(map(self._gain, self._judge.promising(certain, 2)), default=0.0)
        return _EXCHANGE * (1 - (1 - share) ** draws) * best

    def _anything(self) -> list[_Option]:
        """Some move, where what is remembered contradicts what is seen."""
        board, empty = self._board, self._board.empty()
        if not board.hand or not empty:
            raise ValueError("there is nothing to play: a pass happens by itself")
        return [_Option(0.0, self._place(self._rng.choice(empty), self._rng.choice(board.hand)))]
