"""The soft rule: how far apart ratings may lie after how long a wait.

A seek with a rating range of its own tolerates whatever the range holds. One
without starts at `start` points and widens by `per_s` points a second up to
`most`; after `any_after_ms` it takes anyone. A pair's tolerance is the smaller
of the two, so nobody who waits long drags a fresh seek into a bad game. That
gives the bound: two compatible seeks wait for each other at most
`any_after_ms` from the younger one's start.
"""

from dataclasses import dataclass

from lobby.matching.seek import Seek

UNLIMITED = 1 << 30


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A room's policy."""

    start: int = 150  # points at once
    per_s: int = 15  # points more for each second waited
    most: int = 1_000  # points that waiting leads to
    any_after_ms: int = 30_000  # from then on anyone: the bound on a wait beside a compatible seek
    quick_below: int = 8  # with fewer open seeks than this in the room nobody is held back
    wait_bonus: int = 10  # points of rating difference that one second of the partner's wait makes up for

    def of(self, seek: Seek, now: int) -> int:
        """Points that this seek tolerates now."""
        waited = now - seek.since
        if seek.want is not None or waited >= self.any_after_ms:
            return UNLIMITED
        return min(self.most, self.start + max(0, waited) * self.per_s // 1000)

    def ready_at(self, seek: Seek, difference: int) -> int:
        """When this seek tolerates such a difference: milliseconds, never later than the bound."""
        if seek.want is not None or difference <= self.start:
            return seek.since
        if self.per_s == 0 or difference > self.most:
            return seek.since + self.any_after_ms
        wait = -(-(difference - self.start) * 1000 // self.per_s)
        return seek.since + min(wait, self.any_after_ms)

    def pair_ready_at(self, a: Seek, b: Seek) -> int:
        """When both tolerate each other."""
        difference = abs(a.rating - b.rating)
        return max(self.ready_at(a, difference), self.ready_at(b, difference))

    def score(self, seek: Seek, partner: Seek, now: int) -> int:
        """What the best partner has least of: rating difference, less a bonus for a long wait."""
        return abs(seek.rating - partner.rating) - max(0, now - partner.since) * self.wait_bonus // 1000
