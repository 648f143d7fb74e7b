"""The open seeks of one room, and the pairs they make.

`add` and `remove` as seeks come and go; `pairs(now)` gives those that should
meet now. A pair that was given is set aside until the caller says how it
went: `drop` for a seek that is gone, `put_back` for one that waits on.

After `pairs(now)` has been read out, no two seeks are left that may meet at
`now`. A pair that only the tolerance holds back is looked at again when both
tolerate each other, without anyone scanning for it: each seek knows when its
next partner comes into reach.
"""

from dataclasses import dataclass, replace
from heapq import heappop, heappush

from lobby.matching.index import Index
from lobby.matching.rules import acceptable, compatible, repeats
from lobby.matching.seek import Seek
from lobby.matching.tolerance import UNLIMITED, Tolerance

# How far the best partner is looked for. Whether there is one at all never depends on these.
NEAREST = 8  # allowed ones with near ratings
SCAN = 32  # seeks looked at for them, above and below at each node of the index
OLDEST = 32  # seeks that have waited longest, whatever their rating
REPEAT_RETRY_MS = 1_000  # how often two who have just met are looked at again


@dataclass(frozen=True, slots=True)
class Pair:
    """Two seeks that should meet; `first` is the one that has waited longer."""

    first: Seek
    second: Seek


class Pool:
    """All open seeks of one room. Ids are unique; a player has at most one seek in a room."""

    def __init__(self, tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        self._index = Index()
        self._aside: dict[str, Seek] = {}
        self._by_player: dict[str, str] = {}
        self._dirty: set[str] = set()  # seeks to look at
        self._queue: list[tuple[int, str]] = []  # the same by age, and some that are not dirty any more
        self._plans: list[tuple[int, str]] = []
        self._planned: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._index) + len(self._aside)

    def __contains__(self, seek_id: str) -> bool:
        return seek_id in self._index or seek_id in self._aside

    @property
    def waiting(self) -> int:
        """Seeks that are not part of a pair under way."""
        return len(self._index)

    @property
    def unread(self) -> int:
        """Seeks that `pairs` has not looked at yet."""
        return len(self._dirty)

    def ids(self) -> set[str]:
        """Every seek in here, those of pairs under way included."""
        return {seek.id for seek in self._index} | self._aside.keys()

    def get(self, seek_id: str) -> Seek | None:
        """The seek, if it is in here."""
        return self._index.get(seek_id) or self._aside.get(seek_id)

    def of(self, player: str) -> Seek | None:
        """The player's seek, if it is in here."""
        seek_id = self._by_player.get(player)
        return None if seek_id is None else self.get(seek_id)

    def add(self, seek: Seek) -> None:
        """Takes a seek in; one of the same player, or of the same id, makes way."""
        before = self._by_player.get(seek.player)
        if before is not None:
            self.remove(before)
        if seek.id in self:
            self.remove(seek.id)
        self._by_player[seek.player] = seek.id
        self._enter(seek)

    def remove(self, seek_id: str) -> Seek | None:
        """Lets a seek go (cancelled, matched, its player gone); None if it is not here."""
        seek = self._index.remove(seek_id) or self._aside.pop(seek_id, None)
        if seek is None:
            return None
        self._dirty.discard(seek_id)
        self._planned.pop(seek_id, None)
        if self._by_player.get(seek.player) == seek_id:
            del self._by_player[seek.player]
        self._if_quiet()
        return seek

    drop = remove

    def put_back(self, seek_id: str) -> None:
        """The pair under way came to nothing: the seek waits on, with its age kept."""
        seek = self._aside.pop(seek_id, None)
        if seek is not None:
            self._enter(seek)

    def avoid(self, player: str, avoids: frozenset[str]) -> None:
        """Replaces the block list of a player's seek, at once."""
        seek_id = self._by_player.get(player)
        if seek_id is None:
            return
        if (set_aside := self._aside.get(seek_id)) is not None:
            self._aside[seek_id] = replace(set_aside, avoid=avoids)
        elif (seek := self._index.remove(seek_id)) is not None:
            self._enter(replace(seek, avoid=avoids))

    def next_due(self) -> int | None:
        """When `pairs` has something to look at without any change: milliseconds, 0 for at once, or None."""
        return 0 if self._dirty else self._next_planned()

    def pairs(self, now: int, limit: int = 1 << 30) -> list[Pair]:
        """Pairs that should meet now; looks at up to `limit` seeks, oldest first. Their seeks are set aside."""
        while (planned := self._next_planned()) is not None and planned <= now:
            seek_id = heappop(self._plans)[1]
            del self._planned[seek_id]
            if (seek := self._index.get(seek_id)) is not None:
                self._mark(seek)
        found = []
        while self._dirty and limit > 0:
            seek_id = heappop(self._queue)[1]
            if seek_id not in self._dirty:
                continue  # it has been paired with an older one, or has gone
            self._dirty.discard(seek_id)
            limit -= 1
            if (seek := self._index.get(seek_id)) is not None and (partner := self._look(seek, now)) is not None:
                found.append(self._set_aside(seek, partner))
        if not self._dirty:
            self._queue.clear()
        return found

    def _next_planned(self) -> int | None:
        while self._plans and self._planned.get(self._plans[0][1]) != self._plans[0][0]:
            heappop(self._plans)  # overtaken by a newer plan, or the seek has gone
        return self._plans[0][0] if self._plans else None

    def _enter(self, seek: Seek) -> None:
        self._index.add(seek)
        self._mark(seek)

    def _mark(self, seek: Seek) -> None:
        """The seek is to be looked at."""
        if seek.id not in self._dirty:
            self._dirty.add(seek.id)
            heappush(self._queue, (seek.since, seek.id))

    def _if_quiet(self) -> None:
        """A room that has just become quiet holds nobody back any more: look at them all."""
        if len(self._index) < self._tolerance.quick_below:
            for seek in self._index:
                self._mark(seek)

    def _set_aside(self, a: Seek, b: Seek) -> Pair:
        for seek in (a, b):
            self._index.remove(seek.id)
            self._aside[seek.id] = seek
            self._dirty.discard(seek.id)
            self._planned.pop(seek.id, None)
        self._if_quiet()
        return Pair(a, b) if (a.since, a.id) <= (b.since, b.id) else Pair(b, a)

    def _look(self, seek: Seek, now: int) -> Seek | None:
        """The best partner now; without one, plans the next look."""
        policy = self._tolerance
        quiet = len(self._index) < policy.quick_below
        reach = UNLIMITED if quiet else policy.of(seek, now)
        best: Seek | None = None
        best_score = 0
        soonest: int | None = None
        repeat: Seek | None = None

        def consider(partner: Seek) -> bool:
            """Whether the two may meet now, apart from having just met; keeps the best."""
            nonlocal best, best_score, soonest, repeat
            if not quiet and (at := policy.pair_ready_at(seek, partner)) > now:
                soonest = at if soonest is None else min(soonest, at)
                return False
            if repeats(seek, partner):
                repeat = repeat or partner
                return False
            score = policy.score(seek, partner, now)
            if best is None or (score, partner.since, partner.id) < (best_score, best.since, best.id):
                best, best_score = partner, score
            return True

        allowed = 0
        for partner in self._index.near(seek, SCAN):
            if acceptable(seek, partner) and consider(partner):
                allowed += 1
                if allowed == NEAREST:
                    break
        if best is None:
            for run in self._index.runs(seek):
                for partner in run:
                    if compatible(seek, partner) and (consider(partner) or abs(seek.rating - partner.rating) > reach):
                        break
        if best is not None:
            for partner in self._index.oldest(OLDEST):
                if partner.id != seek.id and compatible(seek, partner):
                    consider(partner)
            return best
        if repeat is not None:
            if not self._someone_else(seek, repeat):
                return repeat
            again = now + REPEAT_RETRY_MS
            soonest = again if soonest is None else min(soonest, again)
        if soonest is not None:
            self._planned[seek.id] = soonest
            heappush(self._plans, (soonest, seek.id))
        return None

    def _someone_else(self, a: Seek, b: Seek) -> bool:
        """Whether somebody waits whom `a` or `b` could meet without repeating."""
        return any(
            acceptable(one, partner) and not repeats(one, partner)
            for one in (a, b)
            for run in self._index.runs(one)
            for partner in run
        )
