"""What the watchers of a room's list hear: numbered deltas, coalesced.

The mark in Redis is written before a delta goes out, so a snapshot taken
after a mark holds at least what the deltas up to it said: whoever applies the
later ones ends with the right list. A new run (another owner, a reload, an
overflow) tells watchers to take a snapshot again.
"""

import asyncio
from collections.abc import Awaitable, Callable

from lobby.metrics import Metrics
from lobby.ports import Announcer
from lobby.stored import StoredSeek
from numbridge.ids import random_token
from numbridge.redis_io import AWAY
from numbridge.wire import event

MOST_EVENTS = 2_000  # in one delta; more begin a new run
MOST_BYTES = 600_000  # in one delta: a NATS message holds 1 MiB

Mark = Callable[[str, str, int], Awaitable[None]]


class SeekList:
    """Deltas of one room. `run` sends them until it is cancelled."""

    def __init__(self, room: str, mark: Mark, announcer: Announcer, metrics: Metrics, every_s: float) -> None:
        self._room = room
        self._mark = mark
        self._announcer = announcer
        self._metrics = metrics
        self._every = every_s
        self._events: list[bytes] = []
        self._bytes = 0
        self._news = asyncio.Event()
        self._run = ""
        self._seq = 0
        self.restart()

    def restart(self) -> None:
        """Begins a new run: what was told so far may not be what is."""
        self._run = random_token(8)
        self._seq = 0
        self._clear()
        self._news.set()

    def added(self, seek: StoredSeek) -> None:
        """A seek is open."""
        self._add(event("seek_added", seek=seek.to_client()))

    def removed(self, seek: str) -> None:
        """A seek is not open any more."""
        self._add(event("seek_removed", seek=seek))

    def _add(self, text: bytes) -> None:
        self._events.append(text)
        self._bytes += len(text)
        if len(self._events) > MOST_EVENTS or self._bytes > MOST_BYTES:
            self._metrics.overflowed("seek_list")
            self.restart()
        self._news.set()

    def _clear(self) -> None:
        self._events = []
        self._bytes = 0

    async def run(self) -> None:
        """Tells what is new, at most once in the interval."""
        while True:
            await self._news.wait()
            self._news.clear()
            await self.send()
            await asyncio.sleep(self._every)

    async def send(self) -> None:
        """Sends what has gathered; after a restart also an empty delta, for it shows the new run."""
        self._seq += 1
        run, seq, events = self._run, self._seq, self._events
        self._clear()
        try:
            await self._mark(self._room, run, seq)
        except AWAY:
            pass  # snapshots can't be had either; those taken later stand for an older mark, and heal by a gap
        await self._announcer.delta(self._room, run, seq, events)
