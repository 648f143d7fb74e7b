"""How many viewers each table has here, and the worker's knowledge of it.

Numbers are absolute. A worker forgets them when its link ends, and a new
owner never had them: both are told again.
"""

from collections import Counter

from gateway.ports import Links, Owners
from numbridge import ids
from numbridge.v1 import table_pb2 as pb


class Presence:
    """Counts by game and seat."""

    def __init__(self, owners: Owners, links: Links) -> None:
        self._owners = owners
        self._links = links
        self._counts: dict[str, Counter[str]] = {}
        owners.on_change(self._shard_moved)
        links.on_open(self._link_opened)

    def came(self, game: str, seat: str) -> None:
        """A viewer has come to a table."""
        self._counts.setdefault(game, Counter())[seat] += 1
        self._report(game)

    def went(self, game: str, seat: str) -> None:
        """A viewer has left it."""
        counts = self._counts.get(game)
        if counts is None:
            return
        counts[seat] -= 1
        self._report(game)
        if not any(counts.values()):
            del self._counts[game]

    def _report(self, game: str) -> None:
        counts = self._counts[game]
        owner = self._owners.owner(ids.shard_of(game, self._owners.count))
        if owner is not None:
            self._links.report(
                owner, game, pb.Presence(blue=counts["blue"], red=counts["red"], watchers=counts["watch"])
            )

    def _shard_moved(self, shard: int) -> None:
        for game in self._counts:
            if ids.shard_of(game, self._owners.count) == shard:
                self._report(game)

    def _link_opened(self, addr: str) -> None:
        for game in self._counts:
            owner = self._owners.owner(ids.shard_of(game, self._owners.count))
            if owner is not None and owner.addr == addr:
                self._report(game)
