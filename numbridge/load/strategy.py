"""What a load player plays: legal moves as cheap to find as possible, in the proportions of real games. Pure.

Real games have places that hit and miss, exchanges and resignations; who plays at random among the empty cells has
all of them, and the game's length is cut to what club players need by a resignation.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

EXCHANGE_SHARE = 0.1


@dataclass(slots=True)
class Board:
    """What a player must know to play anything legal."""

    side: int
    empty: set[int] = field(default_factory=set)
    """Cells without a digit: row * side + column."""
    hand: list[int] = field(default_factory=list)
    bag: int = 0

    @classmethod
    def of(cls, view: dict[str, Any]) -> "Board":
        """From the `view` of a `state`."""
        side = int(view["settings"]["side"])
        empty = {cell for cell, char in enumerate(view["field"]) if char == "."}
        return cls(side, empty, list(view.get("hand", [])), int(view["bag"]))

    def closed(self, cell: str) -> None:
        """A cell has got its digit."""
        self.empty.discard((int(cell[1:]) - 1) * self.side + ord(cell[0]) - ord("a"))

    def name(self, cell: int) -> str:
        """A cell as the protocol names it."""
        return f"{chr(ord('a') + cell % self.side)}{cell // self.side + 1}"


def choose(board: Board, rng: Random) -> dict[str, Any]:
    """The `action` of the next `play`; a resignation when nothing else is sure to be legal."""
    if board.bag and (not board.hand or rng.random() < EXCHANGE_SHARE):
        return {"kind": "exchange"}
    if board.hand and board.empty:
        cell = rng.choice(tuple(board.empty))
        return {"kind": "place", "cell": board.name(cell), "tile": rng.choice(board.hand)}
    return {"kind": "resign"}
