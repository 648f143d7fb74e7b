"""What may happen to a game: the only thing that is logged, and all that is needed to rebuild it.

Every outcome of luck is in the event. `at` is milliseconds since the epoch and never runs backwards
within a game. Moved, Offered, Adjourned, Resumed and Ended each add one to the game's version; Opened is
version 0; Arrived and TakenOver carry none.
"""

from dataclasses import dataclass

from tablesvc.engine.seats import Seat
from tablesvc.engine.settings import Deal, GameSettings, Player


@dataclass(frozen=True, slots=True)
class Opened:
    """The table was made. Secret: holds the solution and both hands."""

    room: str
    settings: GameSettings
    blue: Player
    red: Player
    deal: Deal
    blue_hand: tuple[int, ...]
    red_hand: tuple[int, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Moved:
    """A move, a burned turn or a pass. Secret in parts: what a claim cost, what was drawn."""

    kind: str
    """`place`, `claim`, `exchange`, `pie`, `burn` or `pass`."""
    by: Seat
    cell: int | None
    """Cell index of place, claim and pie."""
    tile: int | None
    """Digit placed; None elsewhere."""
    hit: bool | None
    """For place: whether the digit was right; None elsewhere."""
    paid: tuple[int, ...]
    """Tiles that a claim cost, the chosen one first."""
    drew: tuple[int, ...]
    """Tiles drawn at the end of the move, in order."""
    used_ms: int
    """Taken off the mover's bank."""
    at: int


@dataclass(frozen=True, slots=True)
class Offered:
    """An offer was made, answered, or fell."""

    kind: str
    """`draw`, `adjourn` or `resume`."""
    by: Seat
    """Who made the offer, also when it is answered."""
    state: str
    """`open`, `accepted`, `declined` or `lapsed`."""
    at: int


@dataclass(frozen=True, slots=True)
class Adjourned:
    """The clocks stop and the table is put away."""

    at: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The game goes on."""

    at: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The game is over. Nothing follows but TakenOver."""

    result: str
    """`blue`, `red`, `draw` or `none`."""
    reason: str
    """`connection`, `blocks`, `resign`, `time`, `agreement`, `no_show` or `operator`."""
    chain: tuple[int, ...]
    """The winning chain from side to side, for `connection`; empty elsewhere."""
    at: int


@dataclass(frozen=True, slots=True)
class Arrived:
    """A player came to the table for the first time."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A new owner rebuilt the table."""

    at: int


Event = Opened | Moved | Offered | Adjourned | Resumed | Ended | Arrived | TakenOver

VERSIONED = (Moved, Offered, Adjourned, Resumed, Ended)
"""Each of these adds one to the game's version."""
