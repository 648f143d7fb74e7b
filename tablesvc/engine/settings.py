"""What a game is played under, who plays it, and what was dealt."""

from dataclasses import dataclass
from typing import Final

SIDE_OF_VARIANT: Final = {"bridge": 9, "blitz": 6, "domains": 9}
"""The variants, and the side of the field each is played on."""


@dataclass(frozen=True, slots=True)
class GameSettings:
    """The record's `settings`: one field each, same names."""

    variant: str
    """`bridge`, `blitz` or `domains`."""
    side: int
    """Cells a side: 9 or 6, follows from the variant."""
    blocks: str
    """`regular` or `irregular`."""
    givens: int
    """Cells open from the start."""
    claim_price: int
    """Tiles that a claim costs: 1 or 2."""
    highlight: bool
    """Whether tables show candidates for a picked tile."""
    rated: bool
    move_ms: int
    """Milliseconds for one move."""
    game_ms: int
    """Milliseconds in each player's bank at the start."""

    def as_dict(self) -> dict[str, object]:
        """In the record's and the protocol's shape."""
        return {
            "variant": self.variant,
            "side": self.side,
            "blocks": self.blocks,
            "givens": self.givens,
            "claim_price": self.claim_price,
            "highlight": self.highlight,
            "rated": self.rated,
            "move_ms": self.move_ms,
            "game_ms": self.game_ms,
        }


@dataclass(frozen=True, slots=True)
class Player:
    """A player as the table shows one."""

    id: str
    name: str
    rating: int | None = None
    """At the time of seating; None where unknown."""

    def as_dict(self) -> dict[str, object]:
        """In the protocol's shape; `rating` only where known."""
        shown: dict[str, object] = {"id": self.id, "name": self.name}
        if self.rating is not None:
            shown["rating"] = self.rating
        return shown


@dataclass(frozen=True, slots=True)
class Deal:
    """A field with its secret. Each string has one character for each cell, row by row."""

    blocks: str
    """A letter for each cell: the block it is in."""
    solution: str
    """Digits. Secret while the game runs."""
    givens: str
    """Digits where open from the start, `.` elsewhere."""
