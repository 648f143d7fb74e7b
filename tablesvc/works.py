"""What a table can be asked, and what it answers. Plain values: no gRPC in here, no engine."""

from collections.abc import Callable
from dataclasses import dataclass, field

from numbridge.clock import monotonic
from numbridge.errors import Rejected
from numbridge.names import Seat
from numbridge.v1 import common_pb2 as common


@dataclass(frozen=True, slots=True)
class Play:
    """A player's action; see the link's `Play`."""

    player: str
    ref: str
    version: int
    action: str
    cell: str | None
    tile: int | None
    lag_ms: int


@dataclass(frozen=True, slots=True)
class Join:
    """A viewer asks for what it has missed (or, without `since`, for everything)."""

    player: str
    since: int | None
    arrive: bool


@dataclass(frozen=True, slots=True)
class Look:
    """Which seat is the player's?"""

    player: str


@dataclass(frozen=True, slots=True)
class GetRecord:
    """The record of a finished game."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The game as lists show it."""


@dataclass(frozen=True, slots=True)
class Present:
    """How many connections one link has at the table now."""

    link: int
    blue: int
    red: int
    watchers: int


@dataclass(frozen=True, slots=True)
class EndIt:
    """The operator ends the game."""


@dataclass(frozen=True, slots=True)
class Ring:
    """The table's deadline has come, or its clock may be owed time."""


Ask = Play | Join | Look | GetRecord | Summary | Present | EndIt | Ring
READS = (Join, Look, GetRecord, Summary, Present)
"""Asked at an idle table they are answered in place, unless a join has to be logged as an arrival."""

KIND: dict[type, str] = {
    Play: "play",
    Join: "join",
    Look: "look",
    GetRecord: "record",
    Summary: "summary",
    Present: "presence",
    EndIt: "end",
    Ring: "ring",
}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The action took effect; the game's version after the whole command."""

    version: int


@dataclass(frozen=True, slots=True)
class Seated:
    """What a viewer sits as, and the game's status."""

    seat: Seat
    status: str


@dataclass(frozen=True, slots=True)
class Joined:
    """One `state` text, or the frames after `since`; and who is there."""

    seat: Seat
    version: int
    state: bytes | None
    frames: list[tuple[int, bytes]]
    presence: bytes


@dataclass(frozen=True, slots=True)
class Ended:
    """The operator's end; `was_over`: the game had ended before."""

    was_over: bool


Outcome = Accepted | Seated | Joined | Ended | bytes | common.GameSummary | Rejected | None
"""bytes: a record. None: taken in, nothing to say."""


def nobody(_outcome: Outcome) -> None:
    """For what nobody waits for."""


@dataclass(slots=True)
class Work:
    """One thing in a table's mailbox."""

    ask: Ask
    reply: Callable[[Outcome], None] = nobody
    at: float = field(default_factory=monotonic)
    answered: bool = False
