"""Times when the log, or this whole process, stood still: no player's clock pays for them.

A stall is known from its start, by three signs: the connection is gone, an append waits for its ack too long, or
the process's own pulse came late (it was stopped, or starved). It ends when the log answers again.
Times are the table clock's milliseconds.
"""

import asyncio
from collections import deque

_KEPT = 64  # longer ago than this many stalls nobody's turn has lasted


class Stalls:
    """The ledger of stalls."""

    def __init__(self) -> None:
        self._past: deque[tuple[int, int]] = deque(maxlen=_KEPT)
        self._began: int | None = None

    @property
    def open(self) -> bool:
        """Whether the log stands still now."""
        return self._began is not None

    @property
    def began(self) -> int | None:
        """When the open stall began."""
        return self._began

    def begin(self, at_ms: int) -> None:
        """The log has stood still since `at_ms`; an open stall goes on."""
        if self._began is None:
            self._began = at_ms
        else:
            self._began = min(self._began, at_ms)

    def end(self, at_ms: int) -> int | None:
        """The log answers again; when the stall began, None if there was none."""
        began, self._began = self._began, None
        if began is not None:
            self.add(began, at_ms)
        return began

    def add(self, began_ms: int, ended_ms: int) -> None:
        """A stall that is over already."""
        while self._past and began_ms <= self._past[-1][1]:  # it overlaps the last ones: one time is given back once
            last_began, last_ended = self._past.pop()
            began_ms, ended_ms = min(began_ms, last_began), max(ended_ms, last_ended)
        self._past.append((began_ms, ended_ms))

    def since(self, since_ms: int, now_ms: int) -> int:
        """Milliseconds between the two times that were stalled."""
        lost = 0
        for began, ended in reversed(self._past):
            if ended <= since_ms:
                break
            lost += max(0, min(ended, now_ms) - max(began, since_ms))
        if self._began is not None:
            lost += max(0, now_ms - max(self._began, since_ms))
        return lost


class Signal:
    """Wakes everybody who waits for something to change; whoever wakes looks for himself."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def fire(self) -> None:
        """Wakes all who wait now."""
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, timeout_s: float) -> None:
        """Returns when fired or after `timeout_s`."""
        try:
            async with asyncio.timeout(max(0.0, timeout_s)):
                await self._event.wait()
        except TimeoutError:
            pass
