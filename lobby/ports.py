"""What the lobby asks of others, apart from Redis (whose scripts are part of the lobby itself).

Tables     makes tables, looks at them
Ratings    ratings and block lists
Announcer  tells players and the watchers of a list
Workers    chooses where the next table is made
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from lobby.stored import Match, Summary


class Making(Enum):
    """How an attempt to make a table ended."""

    MADE = "made"  # it is there, made now or before
    NOT_MADE = "not_made"  # certainly not by this attempt; another may
    UNKNOWN = "unknown"  # the answer is lost: it may be there, or come to be
    REFUSED = "refused"  # no worker will ever make it: the request itself is wrong


@dataclass(frozen=True, slots=True)
class Made:
    """The outcome, with the table's summary where there is one."""

    outcome: Making
    summary: Summary | None = None
    why: str = ""


class Tables(Protocol):
    """Table workers."""

    async def create(self, match: Match) -> Made:
        """One bounded attempt. May be repeated with the same match: it is idempotent by game id."""
        ...

    async def withdraw(self, game: str) -> None:
        """Ends a table that nobody has been told of. One bounded attempt that never raises."""
        ...

    async def end(self, game: str) -> bool:
        """Ends a running game with result `none`; whether it was over before. One bounded attempt, may be repeated.
        Raises Rejected: NOT_FOUND, UNAVAILABLE."""
        ...

    async def look(self, game: str) -> Made:
        """Whether the game is there: MADE with a summary, NOT_MADE where its owner knows of none, else UNKNOWN."""
        ...


class Ratings(Protocol):
    """The ratings service. Calls are bounded, may be repeated, and raise Rejected(UNAVAILABLE)."""

    async def rating(self, variant: str, player: str) -> int:
        """The player's rating, rounded; a new player's is the initial one. After `game_over` it is read afresh."""
        ...

    async def avoids(self, player: str) -> frozenset[str]:
        """Whom the player blocks or is blocked by. May lag behind, but not behind `block` and `forget_blocks`."""
        ...

    async def warm(self, player: str) -> None:
        """Reads ahead what a seek of the player's will need. Never raises for a service that is away."""
        ...

    async def block(self, player: str, other: str, blocked: bool) -> None:
        """Writes or lifts a block. Idempotent."""
        ...

    def forget_blocks(self, player: str) -> None:
        """Somebody has changed this player's block list."""
        ...

    def game_over(self, player: str) -> None:
        """A game of this player's has ended: his ratings are about to change."""
        ...

    def forget_all(self) -> None:
        """Some change was not heard."""
        ...

    async def restrictions(self) -> tuple[frozenset[str], dict[str, int]]:
        """Rooms closed for new seeks; players who may not seek, with the end of it in milliseconds."""
        ...

    async def finished(self, game: str) -> Summary | None:
        """A finished game of the archive; None if it holds none."""
        ...


@dataclass(frozen=True, slots=True)
class Notice:
    """Something one player must hear."""

    player: str
    text: bytes
    game: str = ""
    seeks: tuple[str, ...] = ()


class Announcer(Protocol):
    """Core NATS: at most once. What is lost is healed by the gateways' heartbeat and by gaps in the numbering."""

    async def tell(self, notices: Sequence[Notice]) -> None:
        """Tells players. Never raises for a server that is away."""
        ...

    async def delta(self, room: str, run: str, seq: int, events: Sequence[bytes]) -> None:
        """Tells the watchers of a list. Never raises for a server that is away."""
        ...

    async def ask_seats(self) -> None:
        """Asks every worker to say who sits where."""
        ...


class Workers(Protocol):
    """The shard map."""

    def pick(self) -> int | None:
        """A shard of the least loaded live worker; None while there is none."""
        ...

    @property
    def any(self) -> bool:
        """Whether there is one."""
        ...

    def idle(self) -> bool | None:
        """Whether no worker has any table; None while no worker is known."""
        ...
