"""A sorted collection of tuples in short chunks: adding to and taking from 100,000 costs microseconds."""

from bisect import bisect_left, insort
from collections.abc import Iterator

_CHUNK = 512  # a chunk splits at twice this; one move of memory stays under 8 KiB

Entry = tuple[int, int, str, int]


class Ordered:
    """Distinct entries in order."""

    __slots__ = ("_chunks", "_heads")

    def __init__(self) -> None:
        self._chunks: list[list[Entry]] = []
        self._heads: list[Entry] = []  # first entry of each chunk

    def __bool__(self) -> bool:
        return bool(self._chunks)

    def _chunk_of(self, entry: tuple[int, ...] | Entry) -> int:
        """Number of the chunk in which `entry` would lie."""
        at = bisect_left(self._heads, entry)
        if at < len(self._heads) and self._heads[at] == entry:
            return at
        return max(at - 1, 0)

    def add(self, entry: Entry) -> None:
        """Puts an entry in; it must be new."""
        if not self._chunks:
            self._chunks.append([entry])
            self._heads.append(entry)
            return
        at = self._chunk_of(entry)
        chunk = self._chunks[at]
        insort(chunk, entry)
        self._heads[at] = chunk[0]
        if len(chunk) > 2 * _CHUNK:
            self._chunks.insert(at + 1, chunk[_CHUNK:])
            self._heads.insert(at + 1, chunk[_CHUNK])
            del chunk[_CHUNK:]

    def remove(self, entry: Entry) -> None:
        """Takes an entry out; it must be in here."""
        at = self._chunk_of(entry)
        chunk = self._chunks[at]
        del chunk[bisect_left(chunk, entry)]
        if chunk:
            self._heads[at] = chunk[0]
        else:
            del self._chunks[at]
            del self._heads[at]

    def rising(self, low: int, high: int) -> Iterator[Entry]:
        """Entries whose first number lies in [low, high], in order."""
        if not self._chunks:
            return
        at = self._chunk_of((low,))
        start = bisect_left(self._chunks[at], (low,))
        for chunk in self._chunks[at:]:
            for entry in chunk[start:] if start else chunk:
                if entry[0] > high:
                    return
                yield entry
            start = 0

    def falling(self, below: int, low: int) -> Iterator[Entry]:
        """Entries whose first number is under `below` and at least `low`, backwards."""
        if not self._chunks:
            return
        at = self._chunk_of((below,))
        end = bisect_left(self._chunks[at], (below,))
        while at >= 0:
            chunk = self._chunks[at]
            for index in range(end - 1, -1, -1):
                entry = chunk[index]
                if entry[0] < low:
                    return
                yield entry
            at -= 1
            end = len(self._chunks[at]) if at >= 0 else 0

    def first(self, count: int) -> list[Entry]:
        """The `count` least entries."""
        found: list[Entry] = []
        for chunk in self._chunks:
            found += chunk[: count - len(found)]
            if len(found) >= count:
                break
        return found
