"""What may be asked of a game. `by` is the seat that asks."""

from dataclasses import dataclass

from tablesvc.engine.seats import Seat


@dataclass(frozen=True, slots=True)
class Place:
    """Put the hand's tile `tile` (a digit) on the empty cell `cell` (index row*side + column)."""

    by: Seat
    cell: int
    tile: int


@dataclass(frozen=True, slots=True)
class Claim:
    """Take the unowned given at `cell`, paying `tile` first; `tile` is None exactly when the hand is empty."""

    by: Seat
    cell: int
    tile: int | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """Put the whole hand into the bag and draw anew."""

    by: Seat


@dataclass(frozen=True, slots=True)
class Pie:
    """Take the first owned cell of the game instead of moving."""

    by: Seat


@dataclass(frozen=True, slots=True)
class Resign:
    """Give the game up, on any turn."""

    by: Seat


@dataclass(frozen=True, slots=True)
class Offer:
    """Offer a `draw` or to `adjourn`."""

    by: Seat
    kind: str


@dataclass(frozen=True, slots=True)
class Accept:
    """Accept the opponent's open offer of `kind` (`draw` or `adjourn`)."""

    by: Seat
    kind: str


@dataclass(frozen=True, slots=True)
class Decline:
    """Decline the opponent's open offer of `kind` (`draw` or `adjourn`)."""

    by: Seat
    kind: str


@dataclass(frozen=True, slots=True)
class Resume:
    """Ask for an adjourned game to go on; the second player's asking makes it go on."""

    by: Seat


@dataclass(frozen=True, slots=True)
class Arrive:
    """The player in seat `by` came to the table. Nothing happens when it is not the first time, or the game is over."""

    by: Seat


@dataclass(frozen=True, slots=True)
class Tick:
    """Ask the clock: burn the turn, end on time or for a no-show, whatever is due; nothing when nothing is."""


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A new owner has rebuilt the table; the running clock goes on from where the last event left it."""


@dataclass(frozen=True, slots=True)
class EndByOperator:
    """The operator ends the game with result `none`."""


PlayerCommand = Place | Claim | Exchange | Pie | Resign | Offer | Accept | Decline | Resume
"""What a player's `play` turns into."""

Command = PlayerCommand | Arrive | Tick | TakeOver | EndByOperator
