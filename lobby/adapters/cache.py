"""Values by key for a limited time."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from numbridge.clock import monotonic

V = TypeVar("V")


class Cache(Generic[V]):
    """At most `most` values, least recently used out first, each for at most `keep_s` seconds."""

    def __init__(self, most: int, keep_s: float, clock: Callable[[], float] = monotonic) -> None:
        self._most = most
        self._keep = keep_s
        self._clock = clock
        self._held: OrderedDict[str, tuple[float, V]] = OrderedDict()
        self._drops = 0

    def __len__(self) -> int:
        return len(self._held)

    def drop(self, key: str) -> None:
        """Forgets a key, also one that is being loaded just now."""
        self._drops += 1
        self._held.pop(key, None)

    def clear(self) -> None:
        """Forgets everything."""
        self._drops += 1
        self._held.clear()

    async def get(self, key: str, load: Callable[[], Awaitable[V]]) -> V:
        """The value, loaded if there is no fresh one. What `load` raises goes on to the caller."""
        held = self._held.get(key)
        if held is not None and self._clock() - held[0] < self._keep:
            self._held.move_to_end(key)
            return held[1]
        at, drops = self._clock(), self._drops
        value = await load()
        if drops != self._drops:
            return value  # it may be older than what was dropped
        self._held[key] = (at, value)
        self._held.move_to_end(key)
        while len(self._held) > self._most:
            self._held.popitem(last=False)
        return value
