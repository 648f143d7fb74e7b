"""Shards that nobody owns for longer than any change of owner lasts: their games stand still. Pure.

There should be none. A worker that lives, and is willing, but does not take what falls to it would make some.
"""

from collections.abc import Collection


class Orphans:
    """What one worker has seen of shards without an owner."""

    def __init__(self, count: int, patience_s: float) -> None:
        """`count` shards. One is an orphan once it has been without an owner for `patience_s` at a stretch."""
        self._count = count
        self._patience_s = patience_s
        self._since: dict[int, float] = {}
        self._named: set[int] = set()

    def look(self, owned: Collection[int], now: float) -> list[int]:
        """Shards that have just become orphans; each is named once, until it has been owned again."""
        for shard in owned:
            self._since.pop(shard, None)
            self._named.discard(shard)
        found = []
        for shard in set(range(self._count)).difference(owned):
            since = self._since.setdefault(shard, now)
            if now - since > self._patience_s and shard not in self._named:
                self._named.add(shard)
                found.append(shard)
        return sorted(found)

    def blind(self) -> None:
        """Nothing can be seen just now: what was counted so far proves nothing."""
        self._since.clear()
