"""Telling thousands of watchers, a slice at a time: what players do goes in between.

Each watcher gets everything in order. A watcher who comes while others are being told begins with a whole list, and
is told only what came after it. What waits is bounded: beyond MOST_TEXTS changes everybody gets the whole list.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence, Set

from gateway.ports import Watcher
from numbridge.tasks import Tasks

SLICE = 400  # events written before the loop turns
MOST_TEXTS = 2_000  # changes that wait to be told


class Fanout:
    """One list's watchers."""

    def __init__(self, watchers: Set[Watcher], whole: Callable[[], bytes], tasks: Tasks) -> None:
        """`watchers`: those of the moment; whoever has left is told no more. `whole`: the list as an event."""
        self._watchers = watchers
        self._whole = whole
        self._tasks = tasks
        self._waiting: deque[tuple[list[bytes], tuple[Watcher, ...]]] = deque()
        self._running = False

    def tell(self, texts: Sequence[bytes]) -> None:
        """Tells all who watch now; at once, if they are few."""
        if not texts or not self._watchers:
            return
        if not self._running and len(texts) * len(self._watchers) <= SLICE:
            for watcher in tuple(self._watchers):
                watcher.on_lobby(texts)
            return
        now = tuple(self._watchers)
        if sum(len(batch) for batch, _ in self._waiting) + len(texts) > MOST_TEXTS:
            self._waiting.clear()
            self._waiting.append(([self._whole()], now))
        elif self._waiting and self._waiting[-1][1] == now:
            self._waiting[-1][0].extend(texts)
        else:
            self._waiting.append((list(texts), now))
        if not self._running:
            self._running = True
            self._tasks.spawn(self._run(), "seek_list_telling")

    async def _run(self) -> None:
        try:
            while self._waiting:
                texts, watchers = self._waiting.popleft()
                written = 0
                for watcher in watchers:
                    if watcher in self._watchers:
                        watcher.on_lobby(texts)
                        written += len(texts)
                    if written >= SLICE:
                        written = 0
                        await asyncio.sleep(0)
        finally:
            self._running = False
