"""Token buckets: so many at once, so many a minute in the long run. Time is passed in, in seconds."""

from collections import OrderedDict
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` at once, refilled at `per_minute`."""

    burst: int
    per_minute: int


class Bucket:
    """One bucket, full at the start."""

    __slots__ = ("_at", "_level", "_rate")

    def __init__(self, rate: Rate, now: float) -> None:
        self._rate = rate
        self._level = float(rate.burst)
        self._at = now

    def take(self, now: float, cost: float = 1.0) -> int:
        """Takes `cost`; 0 if it was there, else the milliseconds until it will be (and nothing is taken)."""
        per_second = self._rate.per_minute / 60
        self._level = min(float(self._rate.burst), self._level + max(0.0, now - self._at) * per_second)
        self._at = now
        if self._level >= cost:
            self._level -= cost
            return 0
        return max(1, round((cost - self._level) / per_second * 1000))

    def wait(self, now: float, cost: float = 1.0) -> int:
        """Milliseconds until `take` would succeed; nothing is taken."""
        per_second = self._rate.per_minute / 60
        level = min(float(self._rate.burst), self._level + max(0.0, now - self._at) * per_second)
        return 0 if level >= cost else max(1, round((cost - level) / per_second * 1000))


class Buckets:
    """A bucket a key (a player, an address), at most `most` of them.

    Overflow: the bucket that was used least recently is forgotten. With `most`
    above what one burst can bring, a forgotten one had refilled.
    """

    def __init__(self, rate: Rate, most: int = 50_000) -> None:
        self._rate = rate
        self._most = most
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, key: str, now: float, cost: float = 1.0) -> int:
        """As Bucket.take, for `key`'s bucket."""
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= self._most:
                self._buckets.popitem(last=False)
            bucket = self._buckets[key] = Bucket(self._rate, now)
        else:
            self._buckets.move_to_end(key)
        return bucket.take(now, cost)

    def peek(self, key: str, now: float) -> int:
        """Milliseconds until `take` would succeed for `key`; nothing is taken."""
        bucket = self._buckets.get(key)
        return bucket.wait(now) if bucket is not None else 0

    def __len__(self) -> int:
        return len(self._buckets)
