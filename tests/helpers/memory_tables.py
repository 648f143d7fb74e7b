"""In-memory twins of a table worker's ports: one Cluster stands for the servers, one MemoryHome for a connection.

A home can be cut off (`cut`, `mend`), and the log can be told to lose acks or refuse appends. What was said and
stored can be read back.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from numbridge.frames import unpack
from numbridge.names import Seat
from numbridge.routing import ShardEntry, WorkerEntry
from numbridge.v1 import log_pb2 as pb
from tablesvc.dealing.dealer import deal
from tablesvc.engine.settings import Deal
from tablesvc.ports import Archived, Away, Lease, LeaseAway, LeaseTaken, Logged, Refused, Sign, WrongLast

OWNER = "owner"


@dataclass
class Cluster:
    """What the servers hold."""

    messages: list[tuple[int, Logged]] = field(default_factory=list)
    """(shard, message), in the order of the stream."""
    sequence: int = 0
    ids: dict[str, int] = field(default_factory=dict)
    workers: dict[str, Sign] = field(default_factory=dict)
    shards: dict[int, Lease] = field(default_factory=dict)
    revision: int = 0
    results: list[tuple[str, bytes]] = field(default_factory=list)
    result_ids: set[str] = field(default_factory=set)
    frames: list[tuple[str, Seat, int, bytes]] = field(default_factory=list)
    notices: list[pb.SeatNotice] = field(default_factory=list)
    watchers: list[Callable[[], None]] = field(default_factory=list)
    archived: list[Archived] = field(default_factory=list)
    seats_asked: list[Callable[[], None]] = field(default_factory=list)

    def last(self, shard: int, game: str) -> int:
        """Sequence of the last message on a game's subject."""
        return next((m.seq for s, m in reversed(self.messages) if s == shard and m.game == game), 0)

    def store(self, shard: int, game: str, data: bytes, append: str) -> int:
        """Takes a message, once an id."""
        if append in self.ids:
            return self.ids[append]
        self.sequence += 1
        self.messages.append((shard, Logged(game, self.sequence, data)))
        self.ids[append] = self.sequence
        return self.sequence

    def of_game(self, game: str) -> list[pb.LogRecord]:
        """The game's records."""
        return [pb.LogRecord.FromString(m.data) for _, m in self.messages if m.game == game]

    def told(self, game: str, seat: Seat = "watch") -> list[tuple[int, bytes]]:
        """Frames said to one kind of viewer, presence left out."""
        return [(v, text) for g, s, v, text in self.frames if (g, s) == (game, seat) and v]

    def tell_watchers(self) -> None:
        """Entries have changed."""
        for watcher in list(self.watchers):
            watcher()


async def _turn() -> None:
    """An append takes at least one turn of the loop, as it would over a wire."""
    loop = asyncio.get_running_loop()
    turn: asyncio.Future[None] = loop.create_future()
    loop.call_soon(turn.set_result, None)
    await turn


class MemoryLog:
    """See ports.TableLog."""

    def __init__(self, cluster: Cluster, home: "MemoryHome") -> None:
        self._cluster = cluster
        self._home = home
        self.lose_acks = 0
        """So many appends from now on are stored without an ack."""
        self.lose_appends = 0
        """So many appends from now on are lost on their way."""
        self.refuse = False
        self.hold: asyncio.Event | None = None
        """Appends wait for it before they are stored."""
        self._waiting: list[float] = []

    async def start(self) -> None:
        """Nothing to do."""

    async def stop(self) -> None:
        """Nothing to do."""

    async def append(self, shard: int, game: str, data: bytes, expected: int, append: str) -> Awaitable[int]:
        self._home.check()
        sent = time.monotonic()
        self._waiting.append(sent)
        return asyncio.ensure_future(self._store(shard, game, data, game, expected, append, sent))

    async def create(self, shard: int, game: str, data: bytes, mark: int, append: str) -> int:
        self._home.check()
        return await self._store(shard, game, data, OWNER, mark, append, None)

    async def mark(self, shard: int, data: bytes, expected: int, append: str) -> int:
        self._home.check()
        return await self._store(shard, OWNER, data, OWNER, expected, append, None)

    async def _store(
        self, shard: int, game: str, data: bytes, fence: str, expected: int, append: str, sent: float | None
    ) -> int:
        try:
            if self.hold is not None:
                await self.hold.wait()
            await _turn()
            if self.lose_appends:
                self.lose_appends -= 1
                raise Away("lost on its way")
            self._home.check()
            if self.refuse:
                raise Refused("the stream is full")
            last = self._cluster.last(shard, fence)
            if last != expected:
                raise WrongLast(f"wrong last sequence: {last}")
            sequence = self._cluster.store(shard, game, data, append)
            if self.lose_acks:
                self.lose_acks -= 1
                raise Away("no ack in time")
            return sequence
        finally:
            if sent is not None:
                self._waiting.remove(sent)

    async def last_mark(self, shard: int) -> Logged | None:
        self._home.check()
        marks = [m for s, m in self._cluster.messages if s == shard and m.game == OWNER]
        return marks[-1] if marks else None

    async def forget_marks(self, shard: int) -> None:
        self._home.check()
        last = self._cluster.last(shard, OWNER)
        self._cluster.messages = [
            (s, m) for s, m in self._cluster.messages if (s, m.game) != (shard, OWNER) or m.seq == last
        ]

    async def read_shard(self, shard: int, upto: int) -> list[Logged]:
        self._home.check()
        return [m for s, m in self._cluster.messages if s == shard and m.seq <= upto]

    async def read_game(self, shard: int, game: str, after: int) -> list[Logged]:
        self._home.check()
        return [m for s, m in self._cluster.messages if (s, m.game) == (shard, game) and m.seq > after]

    async def purge(self, shard: int, game: str) -> None:
        self._home.check()
        self._cluster.messages = [(s, m) for s, m in self._cluster.messages if (s, m.game) != (shard, game)]

    async def ask(self) -> None:
        self._home.check()

    def waiting_since(self) -> float | None:
        return min(self._waiting, default=None)


class MemoryLeases:
    """See ports.Leases."""

    def __init__(self, cluster: Cluster, home: "MemoryHome") -> None:
        self._cluster = cluster
        self._home = home

    async def start(self) -> None:
        """Nothing to do."""

    async def stop(self) -> None:
        """Nothing to do."""

    def shards(self) -> Mapping[int, Lease]:
        return self._cluster.shards

    def workers(self) -> Mapping[str, Sign]:
        return self._cluster.workers

    async def put_worker(self, entry: WorkerEntry, revision: int) -> int:
        self._home.check_lease()
        known = self._cluster.workers.get(entry.name)
        if (known.revision if known is not None else 0) != revision:
            raise LeaseTaken(entry.name)
        self._cluster.revision += 1
        self._cluster.workers[entry.name] = Sign(entry, self._cluster.revision, time.monotonic())
        self._cluster.tell_watchers()
        return self._cluster.revision

    async def put_shard(self, shard: int, entry: ShardEntry, revision: int) -> int:
        self._home.check_lease()
        known = self._cluster.shards.get(shard)
        if (known.revision if known is not None else 0) != revision:
            raise LeaseTaken(str(shard))
        self._cluster.revision += 1
        self._cluster.shards[shard] = Lease(entry, self._cluster.revision)
        self._cluster.tell_watchers()
        return self._cluster.revision

    async def remove_worker(self, name: str, revision: int) -> None:
        self._home.check_lease()
        known = self._cluster.workers.get(name)
        if known is None or known.revision != revision:
            raise LeaseTaken(name)
        del self._cluster.workers[name]
        self._cluster.tell_watchers()

    async def reread_worker(self, name: str) -> Sign | None:
        self._home.check_lease()
        return self._cluster.workers.get(name)

    def watched(self) -> int:
        return self._cluster.revision

    def refresh(self) -> None:
        """What is read here is never out of date."""

    def on_change(self, callback: Callable[[], None]) -> None:
        self._cluster.watchers.append(callback)


class MemoryViews:
    """See ports.Views."""

    def __init__(self, cluster: Cluster, home: "MemoryHome") -> None:
        self._cluster = cluster
        self._home = home

    async def frames(self, game: str, seat: Seat, payload: bytes) -> None:
        if self._home.connected:
            self._cluster.frames.extend((game, seat, version, text) for version, text in unpack(payload))

    async def seats(self, shard: int, notice: pb.SeatNotice) -> None:
        if self._home.connected:
            self._cluster.notices.append(notice)


class MemoryResults:
    """See ports.Results."""

    def __init__(self, cluster: Cluster, home: "MemoryHome") -> None:
        self._cluster = cluster
        self._home = home

    async def publish(self, shard: int, game: str, data: bytes, once: bool) -> None:
        self._home.check()
        if once and game in self._cluster.result_ids:
            return
        self._cluster.result_ids.add(game)
        self._cluster.results.append((game, data))


class MemoryHome:
    """See wiring.Home."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.connected = True
        self.log = MemoryLog(cluster, self)
        self.leases = MemoryLeases(cluster, self)
        self.views = MemoryViews(cluster, self)
        self.results = MemoryResults(cluster, self)

    async def start(self) -> None:
        """Nothing to do."""

    async def stop(self) -> None:
        """Hears nothing any more."""
        self.connected = False

    def cut(self) -> None:
        """The connection is gone."""
        self.connected = False

    def mend(self) -> None:
        """The connection is back."""
        self.connected = True

    def check(self) -> None:
        if not self.connected:
            raise Away("not connected")

    def check_lease(self) -> None:
        if not self.connected:
            raise LeaseAway("not connected")

    async def on_archived(self, callback: Archived) -> None:
        self.cluster.archived.append(callback)

    async def on_seats_asked(self, callback: Callable[[], None]) -> None:
        self.cluster.seats_asked.append(callback)


@cache
def some_deal(side: int, blocks: Literal["regular", "irregular"], givens: int) -> Deal:
    """A deal, always the same."""
    made = deal(side, blocks, givens, seed=7)
    return Deal(made.blocks, made.solution, made.givens)


class QuickDealer:
    """See ports.Dealer: one deal for each setting."""

    async def take(self, side: int, blocks: str, givens: int) -> Deal:
        return some_deal(side, "regular" if blocks == "regular" else "irregular", givens)
