"""What the service needs from outside, and how each may fail.

StoreAway      SQL cannot be asked just now; nothing was changed, ask again later
StoreRefused   SQL can never take this value; asking again changes nothing
BoardAway      the leaderboard cache cannot be asked; SQL can answer instead
StreamAway     the results stream cannot be read just now
"""

from typing import Protocol

from ratings.domain import (
    Blocks,
    Deed,
    FinishedGame,
    GameHead,
    PlayedGame,
    Profile,
    Ranked,
    Recorded,
    Restriction,
    Score,
)
from ratings.model.rules import Standing


class StoreAway(Exception):
    """SQL cannot be asked just now."""


class StoreRefused(Exception):
    """SQL can never take this value."""


class BoardAway(Exception):
    """The leaderboard cache cannot be asked just now."""


class StreamAway(Exception):
    """The results stream cannot be read just now."""


class Ledger(Protocol):
    """The way in. Every call is one transaction and may be repeated."""

    async def record(self, game: FinishedGame) -> Recorded:
        """Archives and rates the game, once however often it is called. Raises StoreAway, StoreRefused."""
        ...

    async def set_aside(self, subject: str, payload: bytes, why: str, at: int) -> None:
        """Keeps a message that is no result, for an operator's eyes. Raises StoreAway."""
        ...


class Library(Protocol):
    """Reads; each raises StoreAway and may be repeated."""

    async def profile(self, player: str) -> Profile | None:
        """The player, None if unknown."""
        ...

    async def standings(self, variant: str, players: list[str]) -> dict[str, Standing]:
        """Standings of those that have a rated game in the variant."""
        ...

    async def games_of(self, player: str, before: tuple[int, str] | None, limit: int) -> list[PlayedGame]:
        """Newest first, those before (ended_at, game)."""
        ...

    async def archived(self, game: str) -> FinishedGame | None:
        """The game with its record, None if it is not in the archive."""
        ...

    async def best(self, variant: str, limit: int) -> list[Ranked]:
        """The best of a variant, ties by id."""
        ...

    async def ranked(self, variant: str, players: list[str]) -> list[Ranked]:
        """These players of a variant, best first, ties by id."""
        ...

    async def scores(self, variant: str, after: str, limit: int) -> list[Score]:
        """Everybody on a variant's board, by id, those past `after`."""
        ...


class People(Protocol):
    """Players and who blocks whom; each call raises StoreAway, StoreRefused and may be repeated."""

    async def ensure(self, player: str, name: str, guest: bool, at: int) -> None:
        """Makes the player known, or updates name and kind."""
        ...

    async def blocks(self, player: str) -> Blocks:
        """Blocks in both directions."""
        ...

    async def put_block(self, player: str, other: str, blocked: bool, at: int, most: int) -> bool:
        """Blocks or unblocks; False if the player blocks `most` others already."""
        ...


class Office(Protocol):
    """What operators do; each call raises StoreAway, and `put` StoreRefused."""

    async def put(self, deed: Deed, stands: Restriction | None, lifts: tuple[str, str] | None, most: int) -> int | None:
        """Writes the deed down with what it restricts or lifts; its number, None if `most` restrictions stand.
        Not to be repeated: each call is a deed."""
        ...

    async def deeds(self, before: int | None, limit: int) -> list[tuple[int, Deed]]:
        """What was done, newest first, with its numbers; those with a lower number than `before`."""
        ...

    async def standing(self, now: int) -> list[Restriction]:
        """What stands, by kind and subject."""
        ...


class Board(Protocol):
    """Cache of who is where on a variant's leaderboard; each call raises BoardAway."""

    async def put(self, variant: str, scores: list[Score]) -> None:
        """Writes scores, each unless a newer one (by games) is there. May be repeated."""
        ...

    async def begin(self, variant: str) -> str:
        """Begins to put every player of the variant; the mark that `complete` asks for."""
        ...

    async def complete(self, variant: str, mark: str) -> bool:
        """Every player has been put: `top` may answer from now on. False if the cache lost something meanwhile."""
        ...

    async def top(self, variant: str, limit: int) -> list[str] | None:
        """Ids, best first, ties by id; None while the board is not complete."""
        ...

    async def forget(self, variant: str) -> None:
        """Drops the board."""
        ...


class Delivery(Protocol):
    """One message off the results stream. Exactly one of the three verbs ends it."""

    @property
    def subject(self) -> str:
        """Where it was published."""
        ...

    @property
    def payload(self) -> bytes:
        """What was published."""
        ...

    @property
    def deliveries(self) -> int:
        """How often it has been delivered, this time included."""
        ...

    async def ack(self) -> None:
        """It is done; a lost acknowledgement brings it again."""
        ...

    async def retry(self, delay_s: float) -> None:
        """Brings it again after a pause."""
        ...

    async def term(self) -> None:
        """It will never be done; takes it off the stream."""
        ...


class ResultReader(Protocol):
    """One reader of the results stream."""

    async def next(self) -> Delivery | None:
        """The next message; None if there was none for a moment. Raises StreamAway: open another reader then."""
        ...

    async def close(self) -> None:
        """Ends it; what was delivered and not acknowledged comes again elsewhere."""
        ...


class ResultSource(Protocol):
    """The results stream, shared by all readers of all replicas: each message goes to one at a time."""

    async def reader(self) -> ResultReader:
        """A new reader; makes the stream and its consumer where they are missing. Raises StreamAway."""
        ...

    async def waiting(self) -> int:
        """Results not done yet, those being worked on included. Raises StreamAway."""
        ...

    async def oldest_s(self) -> float:
        """Seconds that the oldest of them has waited; 0 if there is none. Raises StreamAway."""
        ...


class Announcer(Protocol):
    """Tells the rest of the cluster; nothing is waited for, what is lost is said again."""

    async def archived(self, subject: str, game: GameHead, recorded: Recorded) -> None:
        """The game, whose result came on `subject`, is in SQL; what it did to both ratings, if it counted."""
        ...

    async def restricted(self) -> None:
        """What operators have restricted has changed."""
        ...
