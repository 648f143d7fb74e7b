"""The worker's pulse: notices that the log is away, or that the process itself stood still, and makes it good.

The log is away when the connection is gone, an append waits too long for its ack, or a question put to it twice a
second is not answered. While it is away nothing is judged; when it is back, every running clock gets the time
back (as an event in the log, by each table in its own turn), and the latest frames are said again where some may
be lost.
"""

import asyncio
from collections.abc import Callable

import structlog

from numbridge.clock import monotonic
from tablesvc.ports import Away
from tablesvc.registry import Registry
from tablesvc.table import Table
from tablesvc.world import World

log = structlog.get_logger("numbridge.tablesvc.pulse")

_BEAT_S = 0.1
_ASK_S = 0.5  # between questions to a log that answers
_DOUBT_MS = 5_000  # frames said so long before the log went away may be lost with the connection


class Pulse:
    """Beats ten times a second."""

    def __init__(self, world: World, registry: Registry, connected: Callable[[], bool]) -> None:
        self._world = world
        self._registry = registry
        self._connected = connected
        self._last = monotonic()
        self._cleared_at = 0.0
        self._asked_at = 0.0
        self._asking: asyncio.Task[None] | None = None
        self._late_s = world.settings.stall_ms / 1000

    def check(self) -> None:
        """Whether the process stood still since the last beat. Cheap: tables call it before they judge a clock."""
        now = monotonic()
        gap = now - self._last
        if gap > self._late_s:
            self._last = now
            at = self._world.clock()
            self._world.stalls.add(at - int(gap * 1000), at)
            self._world.metrics.stalls.inc()
            log.warning("process_stood_still", ms=int(gap * 1000))
            self._make_good(at - int(gap * 1000))

    async def run(self) -> None:
        """Beats for ever."""
        while True:
            self.check()
            self._last = monotonic()
            self._look_at_log()
            for shard in list(self._registry.shards.values()):
                if shard.waiting:
                    shard.expire()
            await asyncio.sleep(_BEAT_S)

    def _look_at_log(self) -> None:
        now = self._last
        if not self._connected():
            self._away(now)
        since = self._world.log.waiting_since()
        # An append sent before the last stall ended tells nothing new: its ack may be lost for good.
        if since is not None and since > self._cleared_at and now - since > self._late_s:
            self._away(since)
        if self._asking is not None and not self._asking.done():
            if now - self._asked_at > self._late_s:
                self._away(self._asked_at)
        elif self._world.stalls.open or now - self._asked_at > _ASK_S:
            self._asked_at = now
            self._asking = self._world.tasks.spawn(self._ask(), "log_probe")

    def _away(self, since: float) -> None:
        if not self._world.stalls.open:
            log.warning("log_away")
            self._world.metrics.stalls.inc()
        self._world.stalls.begin(self._world.clock() - int((self._last - since) * 1000))

    async def _ask(self) -> None:
        try:
            await self._world.log.ask()
        except Away:
            self._away(self._asked_at)
            return
        if not self._connected():
            return
        self._cleared_at = monotonic()
        began = self._world.stalls.end(self._world.clock())
        if began is not None:
            log.info("log_back", after_ms=self._world.clock() - began)
            self._make_good(began)

    def _make_good(self, began: int) -> None:
        """Clocks get their time back, and what may be lost is said again."""
        self._world.changed.fire()
        doubtful = began - _DOUBT_MS
        again = []
        for table in self._registry.tables():
            if table.due is not None:
                table.ring()
            if table.unsaid or table.state.last_at >= doubtful:
                again.append(table)
        self._world.tasks.spawn(_repeat(again), "repeat_frames")


async def _repeat(tables: list[Table]) -> None:
    for table in tables:
        await table.repeat()
