"""A game in progress: position, clocks, offers, status. Made by `opening.open_state`, changed by `evolve` alone.

Structs are frozen; msgspec's are used for what changes with every event because they copy in a fraction of
the time that a dataclass takes.
"""

from dataclasses import dataclass

from msgspec import Struct

from tablesvc.engine.events import Moved
from tablesvc.engine.field import Field
from tablesvc.engine.position import Position
from tablesvc.engine.seats import BLUE, Seat
from tablesvc.engine.settings import Deal, GameSettings, Player


@dataclass(frozen=True, slots=True)
class Table:
    """What stays the same from the opening to the end."""

    room: str
    settings: GameSettings
    blue: Player
    red: Player
    deal: Deal
    field: Field
    opened_at: int

    def player(self, seat: Seat) -> Player:
        """Who sits there."""
        return self.blue if seat == BLUE else self.red


class Mark(Struct, frozen=True):
    """A miss, shown on its cell for `decided.MARK_MS` from `at`."""

    cell: int
    digit: int
    by: Seat
    at: int


class OpenOffer(Struct, frozen=True):
    """An offer waiting for its answer: `draw`, `adjourn` or `resume`, made by `by`."""

    kind: str
    by: Seat


class State(Struct, frozen=True):
    """Everything there is to know about a game. Secret as a whole: see `views` and `frames` for what may go out."""

    table: Table
    position: Position
    version: int
    """Versioned events so far."""
    status: str
    """`playing`, `adjourned` or `over`."""
    banks: tuple[int, int]
    """Milliseconds left, by seat, as they stood at the start of the running turn."""
    turn_started_at: int
    """When the running turn's clock began, milliseconds since the epoch."""
    waiting_since: int
    """When the wait for both players began."""
    last_at: int
    """When the latest event happened."""
    arrived: tuple[bool, bool]
    """Who has come to the table, by seat."""
    offer: OpenOffer | None
    offer_used: bool
    """Whether the mover has made this turn's one offer."""
    marks: tuple[Mark, ...]
    """Misses of late; those older than `decided.MARK_MS` may still be among them."""
    last: Moved | None
    """The latest move, burn or pass."""
    result: str | None
    reason: str | None
    chain: tuple[int, ...]

    @property
    def to_move(self) -> Seat | None:
        """The mover; None once the game is decided."""
        if self.status == "over" or self.position.winner is not None:
            return None
        return self.position.to_move

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.status == "over"

    @property
    def both_arrived(self) -> bool:
        """Whether both players have come to the table."""
        return self.arrived[0] and self.arrived[1]
