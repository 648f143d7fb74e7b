"""One heap of deadlines for all tables of a worker. What is due is asked again inside the table's own step."""

import asyncio
import heapq
from collections.abc import Callable
from typing import Protocol

Clock = Callable[[], int]
"""Milliseconds that never go back; see numbridge.clock.TableClock."""


class Timed(Protocol):
    """Somebody with a deadline."""

    due: int | None
    """When to ring, the clock's milliseconds; None: not at all. Set through `Clocks.arm` alone."""
    armed: int | None
    """The deadline of its living entry in the heap."""

    def ring(self) -> None:
        """The deadline has come. Must not block."""
        ...


class Clocks:
    """Rings tables at their deadlines.

    A table has one living entry: a deadline that moves away leaves the entry where it is and looks again when it
    comes up, so that a move costs no heap work at all in most cases.
    """

    def __init__(self, clock: Clock, rang: Callable[[int], None] | None = None) -> None:
        """`rang(late_ms)` is told of each ring: how long after its deadline it came."""
        self._clock = clock
        self._rang = rang
        self._heap: list[tuple[int, int, Timed]] = []
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at: int | None = None

    def arm(self, table: Timed, due: int | None) -> None:
        """Rings `table` at `due` from now on, instead of when it was to ring before."""
        table.due = due
        if due is not None and (table.armed is None or due < table.armed):
            self._push(table, due)

    def stop(self) -> None:
        """Rings nobody any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._heap.clear()

    def __len__(self) -> int:
        return len(self._heap)

    def _push(self, table: Timed, due: int) -> None:
        table.armed = due
        self._count += 1
        heapq.heappush(self._heap, (due, self._count, table))
        self._set_timer()

    def _set_timer(self) -> None:
        if not self._heap:
            return
        first = self._heap[0][0]
        if self._timer is not None:
            if self._timer_at is not None and self._timer_at <= first:
                return
            self._timer.cancel()
        self._timer_at = first
        delay = max(0, first - self._clock()) / 1000
        self._timer = asyncio.get_running_loop().call_later(delay, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = self._clock()
        while self._heap and self._heap[0][0] <= now:
            due, _, table = heapq.heappop(self._heap)
            if table.armed != due:  # an earlier deadline has replaced this entry
                continue
            table.armed = None
            if table.due is None:
                continue
            if table.due > now:
                self._push(table, table.due)
            else:
                if self._rang is not None:
                    self._rang(now - table.due)
                table.ring()
        self._set_timer()
