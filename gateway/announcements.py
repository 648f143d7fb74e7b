"""What an operator says to everybody: from the bus to every open connection of this gateway."""

import asyncio
from collections.abc import Callable, Collection
from typing import Protocol

from gateway.ports import Notices, Subscription
from numbridge.errors import Rejected
from numbridge.tasks import Tasks, delays

_AT_ONCE = 200  # connections told before the loop turns
_MOST_WAITING = 8  # announcements being told; beyond, one is dropped


class Hearer(Protocol):
    """A connection."""

    def on_notice(self, text: bytes) -> None:
        """An event for the player; nothing happens before a hello."""


class Announcements:
    """One a gateway."""

    def __init__(
        self, notices: Notices, hearers: Callable[[], Collection[Hearer]], dropped: Callable[[], None]
    ) -> None:
        self._notices = notices
        self._hearers = hearers
        self._dropped = dropped
        self._tasks = Tasks()
        self._telling = 0
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        """Begins to listen, as soon as the bus is there."""
        self._tasks.spawn(self._listen(), "announcements")

    async def stop(self) -> None:
        """Stops listening."""
        await self._tasks.close()
        if self._subscription is not None:
            self._subscription.end()

    async def _listen(self) -> None:
        for pause in delays(0.1, 2.0):
            try:
                self._subscription = await self._notices.announcements(self._on_text)
            except Rejected:
                await asyncio.sleep(pause)
            else:
                return

    def _on_text(self, text: bytes) -> None:
        if self._telling >= _MOST_WAITING:
            self._dropped()
            return
        self._telling += 1
        self._tasks.spawn(self._tell(text), "announce")

    async def _tell(self, text: bytes) -> None:
        """Thousands of sockets are not written in one go: moves go in between."""
        try:
            for number, hearer in enumerate(tuple(self._hearers()), 1):
                hearer.on_notice(text)
                if number % _AT_ONCE == 0:
                    await asyncio.sleep(0)
        finally:
            self._telling -= 1
