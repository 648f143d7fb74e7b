"""What a table worker needs from the world.

    TableLog    the log of games: the truth, and the fence
    Leases      who lives and who owns what, by compare-and-set
    Views       what viewers, lobbies and others are told, at most once
    Results     finished games on their way to SQL
    Dealer      deals, in stock

    LogError
    ├── WrongLast    not stored by this try: the subject's last message is another than expected
    ├── Refused      not stored by this try: the log takes nothing now (a full stream)
    └── Away         unknown: no answer in time
    LeaseError
    ├── LeaseTaken   somebody else changed the entry first
    └── LeaseAway    unknown: no answer in time

After WrongLast and Away an earlier try of the same append may have landed all the same: read the subject and
compare before concluding anything. Trying the very same append again is always safe: at most one copy can land.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from numbridge.names import Seat
from numbridge.routing import ShardEntry, WorkerEntry
from numbridge.v1 import log_pb2 as pb
from tablesvc.engine.settings import Deal


class LogError(Exception):
    """Base of what an append may end with."""


class WrongLast(LogError):
    """The subject's last message is not the expected one (or another append to it is in flight)."""


class Refused(LogError):
    """The log takes nothing just now."""


class Away(LogError):
    """No answer in time: the append may have landed or not."""


class LeaseError(Exception):
    """Base of what a change of a lease may end with."""


class LeaseTaken(LeaseError):
    """The entry is at another revision than expected."""


class LeaseAway(LeaseError):
    """No answer in time: the change may have happened or not."""


@dataclass(frozen=True, slots=True)
class Logged:
    """One message of the log."""

    game: str
    seq: int
    """Its sequence in the stream: what the next append to its subject must expect."""
    data: bytes


class TableLog(Protocol):
    """The log of running games: one subject a game, and one a shard for the owners' marks."""

    async def append(self, shard: int, game: str, data: bytes, expected: int, append: str) -> Awaitable[int]:
        """Sends an append and returns what will be its sequence.

        Stored only if the last message of the game's subject has sequence `expected` (0: there is none).
        `append` is the record's own id. The returned awaitable raises WrongLast, Refused or Away.
        """
        ...

    async def create(self, shard: int, game: str, data: bytes, mark: int, append: str) -> int:
        """Stores a game's first record, only if the last mark of the shard has sequence `mark`.

        So a former owner cannot make a game that the next one does not know of. Raises WrongLast, Refused, Away.
        """
        ...

    async def last_mark(self, shard: int) -> Logged | None:
        """The latest mark of the shard. Raises Away."""
        ...

    async def mark(self, shard: int, data: bytes, expected: int, append: str) -> int:
        """Stores an owner's mark, only if the last one has sequence `expected`. Raises WrongLast, Refused, Away."""
        ...

    async def forget_marks(self, shard: int) -> None:
        """Drops all marks of the shard but the latest. Raises Away; safe to repeat."""
        ...

    async def read_shard(self, shard: int, upto: int) -> list[Logged]:
        """Everything of the shard's subjects up to sequence `upto`, in order, marks included, in one pass.

        `upto` must be the sequence of a mark: reading ends when it has been read. Raises Away.
        """
        ...

    async def read_game(self, shard: int, game: str, after: int) -> list[Logged]:
        """The game's messages after sequence `after`, in order, as the stream's leader has them. Raises Away."""
        ...

    async def purge(self, shard: int, game: str) -> None:
        """Drops the game's messages. Raises Away; safe to repeat."""
        ...

    async def ask(self) -> None:
        """Returns when the log answers. Raises Away."""
        ...

    def waiting_since(self) -> float | None:
        """When the oldest append that waits for its ack was sent, monotonic seconds; None if none waits."""
        ...


@dataclass(frozen=True, slots=True)
class Lease:
    """An entry of the `shards` bucket and its revision."""

    entry: ShardEntry
    revision: int


@dataclass(frozen=True, slots=True)
class Sign:
    """A worker's sign of life, and when it last changed by this process's monotonic clock (seconds)."""

    entry: WorkerEntry
    revision: int
    changed_at: float


class Leases(Protocol):
    """The buckets `workers` and `shards`. Reads are of what has been watched; changes are by compare-and-set."""

    def shards(self) -> Mapping[int, Lease]:
        """Entries of all shards that ever had an owner."""
        ...

    def workers(self) -> Mapping[str, Sign]:
        """Entries of all workers, dead ones too until somebody removes them."""
        ...

    async def put_worker(self, entry: WorkerEntry, revision: int) -> int:
        """Writes a worker's entry if it is at `revision` (0: not there); the new revision.

        Raises LeaseTaken, LeaseAway.
        """
        ...

    async def put_shard(self, shard: int, entry: ShardEntry, revision: int) -> int:
        """Writes a shard's entry likewise."""
        ...

    async def remove_worker(self, name: str, revision: int) -> None:
        """Removes a worker's entry if it is at `revision`. Raises LeaseTaken, LeaseAway."""
        ...

    async def reread_worker(self, name: str) -> Sign | None:
        """The worker's entry as the server has it now. Raises LeaseAway."""
        ...

    def watched(self) -> int:
        """The latest revision of the workers' bucket that the watch has brought."""
        ...

    def refresh(self) -> None:
        """Reads both buckets again from the server, and watches from there."""
        ...

    def on_change(self, callback: Callable[[], None]) -> None:
        """`callback` runs in the loop after entries changed; it must not block."""
        ...


class Views(Protocol):
    """Word that is sent once and may be lost; whoever misses some asks. Sending never waits for the network.

    While the connection is away everything is dropped (and counted): what viewers missed they ask for.
    """

    async def frames(self, game: str, seat: Seat, payload: bytes) -> None:
        """Frames for one kind of viewer; see numbridge.frames."""
        ...

    async def seats(self, shard: int, notice: pb.SeatNotice) -> None:
        """Who sits where in the shard."""
        ...


class Results(Protocol):
    """The stream of finished games."""

    async def publish(self, shard: int, game: str, data: bytes, once: bool) -> None:
        """Stores a GameResult. `once`: with the game as message id, so that a repeat soon after is dropped.

        Raises Away (or Refused): try again; whoever reads the stream drops repeats.
        """
        ...


class Dealer(Protocol):
    """Deals with exactly one solution and the asked number of givens, from stock where there is some."""

    async def take(self, side: int, blocks: str, givens: int) -> Deal:
        """A fresh deal. Raises dealing.errors.NoSuchDeal for what cannot exist, DealingError for what was not found."""
        ...


Archived = Callable[[str], None]
"""Called with a game whose record is in SQL."""
