"""Time. Wall time is for people and records, monotonic time for measuring and deadlines."""

import time


def now_ms() -> int:
    """Wall clock, milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def monotonic() -> float:
    """Seconds from an arbitrary start; never goes back."""
    return time.monotonic()


class TableClock:
    """Milliseconds since the epoch that never go back while the process lives.

    Game clocks need both: times that mean something in a record, and
    differences that a step of the wall clock does not change.
    """

    def __init__(self) -> None:
        self._offset = time.time_ns() - time.monotonic_ns()

    def __call__(self) -> int:
        return (time.monotonic_ns() + self._offset) // 1_000_000
