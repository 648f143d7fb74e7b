"""What one client asks about one thing is done in order; different things do not wait for one another."""

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Lanes(Generic[T]):
    """Named queues with one item each under way. `load` counts what is under way or waits."""

    __slots__ = ("_waiting", "load")

    def __init__(self) -> None:
        self._waiting: dict[str, deque[T]] = {}
        self.load = 0

    def enter(self, lane: str, item: T) -> bool:
        """True: the lane was free, start `item` now. False: it waits for those before it."""
        self.load += 1
        queue = self._waiting.get(lane)
        if queue is None:
            self._waiting[lane] = deque()
            return True
        queue.append(item)
        return False

    def leave(self, lane: str) -> T | None:
        """What was under way has ended. The next item to start, if one waits."""
        self.load -= 1
        queue = self._waiting[lane]
        if queue:
            return queue.popleft()
        del self._waiting[lane]
        return None
