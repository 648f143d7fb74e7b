"""Whether matching may go on.

Redis carries a marker. If it is missing, Redis has come back empty: matching
is held until the table workers have said again who sits where and the
gateways which seeks are open, or until a bounded time has gone by. Where no
worker has any table there is nothing to wait for.
"""

import asyncio

import structlog

from lobby.adapters.redis_presence import Marker, RedisPresence
from lobby.metrics import Metrics
from lobby.ports import Announcer, Workers
from numbridge.clock import now_ms
from numbridge.redis_io import AWAY

log = structlog.get_logger("lobby.gate")

_LOOK_S = 0.25


class Gate:
    """Watches the marker; `run` for as long as the service lives."""

    def __init__(
        self, presence: RedisPresence, announcer: Announcer, workers: Workers, metrics: Metrics, hold_ms: int
    ) -> None:
        self._presence = presence
        self._announcer = announcer
        self._workers = workers
        self._metrics = metrics
        self._hold_ms = hold_ms
        self._opened = asyncio.Event()
        self._since: int | None = None  # marker of the Redis that this process has known
        self._asked = -1
        self.reachable = False  # whether Redis answered the last time

    @property
    def open(self) -> bool:
        """Whether matching may go on, as of the last look."""
        return self._opened.is_set()

    async def wait_open(self, timeout_s: float) -> bool:
        """Waits until it may, at most so long."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._opened.wait()
        except TimeoutError:
            return False
        return True

    async def run(self) -> None:
        """Looks again and again."""
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_S)

    async def look(self) -> None:
        """One look at the marker, with what follows from it."""
        try:
            marker = await self._presence.marker(now_ms())
            if not marker.ready and self._may_open(marker):
                marker = await self._presence.marker(now_ms(), open_for=marker.since)
        except AWAY:
            self.reachable = False
            self._close()
            return
        if not self.reachable or (not marker.ready and self._asked != marker.since):
            # Words that came while Redis was away are lost: ask for them again.
            self._asked = marker.since
            await self._announcer.ask_seats()
        self.reachable = True
        if marker.ready:
            if not self._opened.is_set():
                log.info("matching_open", since=marker.since)
            self._since = marker.since
            self._opened.set()
            self._metrics.held.set(0)
        else:
            self._close()

    def _close(self) -> None:
        if self._opened.is_set():
            log.warning("matching_held")
        self._opened.clear()
        self._metrics.held.set(1)

    def _may_open(self, marker: Marker) -> bool:
        if now_ms() - marker.since >= self._hold_ms:
            return True
        # A cluster that has just begun has nothing to announce.
        return self._since is None and self._workers.idle() is True
