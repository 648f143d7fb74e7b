"""Whether SQL answers, as known by asking now and then."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from ratings.metrics import Metrics

log = structlog.get_logger("numbridge.ratings")

CHECK_S = 2.0  # while all is well
CHECK_AWAY_S = 0.25  # while it is away: cheap, and what waits goes on soon


class StoreHealth:
    """Asks in the background; others report what they meet and wait for better times."""

    def __init__(self, ping: Callable[[], Awaitable[bool]], metrics: Metrics) -> None:
        self._ping = ping
        self._metrics = metrics
        self._up = asyncio.Event()
        self._lost = asyncio.Event()

    @property
    def ok(self) -> bool:
        """Whether SQL answered the last time."""
        return self._up.is_set()

    def lost(self) -> None:
        """Somebody has met SQL away: ask at once."""
        self._up.clear()
        self._lost.set()

    async def wait_ok(self) -> None:
        """Until SQL answers. The caller bounds or cancels the wait."""
        await self._up.wait()

    async def watch(self) -> None:
        """Asks for ever."""
        was: bool | None = None
        while True:
            self._lost.clear()
            up = await self._ping()
            if up and not self._lost.is_set():
                self._up.set()
            elif not up:
                self._up.clear()
            if up != was:
                self._metrics.sql(up)
                (log.info if up else log.error)("sql_up" if up else "sql_away")
                was = up
            try:
                async with asyncio.timeout(CHECK_S if self.ok else CHECK_AWAY_S):
                    await self._lost.wait()
            except TimeoutError:
                continue
            await asyncio.sleep(CHECK_AWAY_S)
