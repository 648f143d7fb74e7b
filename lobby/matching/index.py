"""Open seeks, indexed so that those that do not fit are never looked at.

Three questions stand between two seeks: do the choices overlap, is my rating
in the other's range, is the other's in mine.

- Choices: seeks of equal choices share a profile; which profiles overlap is
  one bit mask each, computed once. A room has few profiles (a couple of
  thousand if every possible choice is in use).
- The other's range: a seek stands at the nodes of a segment tree over ratings
  that make up its range, one node if it takes anyone. The nodes above my
  rating hold just those who take me.
- My range: at a node, seeks lie sorted by rating, all together and profile by
  profile, so mine is a slice, searched outwards from my own rating.
"""

from collections.abc import Iterator
from itertools import islice

from lobby.matching.ordered import Ordered
from lobby.matching.rules import choices_overlap
from lobby.matching.seek import Profile, Seek

_TOP = 4096  # ratings are filed under 0 to 4095; what lies beyond shares the last place
_LOWEST, _HIGHEST = -(1 << 40), 1 << 40


def _filed(rating: int) -> int:
    return min(max(rating, 0), _TOP - 1)


def _nodes_of(seek: Seek) -> list[int]:
    """Nodes of the tree that make up the ratings this seek takes."""
    if seek.want is None:
        return [1]
    left, right = _filed(seek.want.lo) + _TOP, _filed(seek.want.hi) + _TOP + 1
    nodes = []
    while left < right:
        if left & 1:
            nodes.append(left)
            left += 1
        if right & 1:
            right -= 1
            nodes.append(right)
        left >>= 1
        right >>= 1
    return nodes


class _Node:
    __slots__ = ("active", "all", "by_profile")

    def __init__(self) -> None:
        self.all = Ordered()  # entries are (rating, since, seek, profile number)
        self.by_profile: dict[int, Ordered] = {}
        self.active = 0  # bit n: profile n has an entry here


class Index:
    """Finds who may fit a seek: what it yields overlaps in every choice, and has still to be `acceptable`."""

    def __init__(self) -> None:
        self._seeks: dict[str, Seek] = {}
        self._nodes: dict[int, _Node] = {}
        self._numbers: dict[Profile, int] = {}
        self._fits: list[int] = []  # profile number -> mask of the profiles it overlaps with
        self._by_age = Ordered()  # entries are (since, 0, seek, 0)

    def __len__(self) -> int:
        return len(self._seeks)

    def __contains__(self, seek_id: str) -> bool:
        return seek_id in self._seeks

    def __iter__(self) -> Iterator[Seek]:
        return iter(self._seeks.values())

    def get(self, seek_id: str) -> Seek | None:
        """The seek, if it is in here."""
        return self._seeks.get(seek_id)

    def oldest(self, count: int) -> list[Seek]:
        """The `count` seeks that have waited longest, oldest first."""
        return [self._seeks[seek_id] for _, _, seek_id, _ in self._by_age.first(count)]

    def _number(self, profile: Profile) -> int:
        number = self._numbers.get(profile)
        if number is None:
            number = len(self._fits)
            mask = 0
            for other, other_number in self._numbers.items():
                if choices_overlap(profile, other):
                    mask |= 1 << other_number
                    self._fits[other_number] |= 1 << number
            self._numbers[profile] = number
            self._fits.append(mask | 1 << number)
        return number

    def add(self, seek: Seek) -> None:
        """Files a seek; its id must be new."""
        if seek.id in self._seeks:
            raise ValueError(f"seek {seek.id} is filed already")
        number = self._number(seek.profile)
        entry = (seek.rating, seek.since, seek.id, number)
        for name in _nodes_of(seek):
            node = self._nodes.get(name)
            if node is None:
                node = self._nodes[name] = _Node()
            node.all.add(entry)
            entries = node.by_profile.get(number)
            if entries is None:
                entries = node.by_profile[number] = Ordered()
                node.active |= 1 << number
            entries.add(entry)
        self._seeks[seek.id] = seek
        self._by_age.add((seek.since, 0, seek.id, 0))

    def remove(self, seek_id: str) -> Seek | None:
        """Takes a seek out; None if it is not in here."""
        seek = self._seeks.pop(seek_id, None)
        if seek is None:
            return None
        number = self._numbers[seek.profile]
        entry = (seek.rating, seek.since, seek.id, number)
        for name in _nodes_of(seek):
            node = self._nodes[name]
            node.all.remove(entry)
            entries = node.by_profile[number]
            entries.remove(entry)
            if not entries:
                del node.by_profile[number]
                node.active &= ~(1 << number)
            if not node.all:
                del self._nodes[name]
        self._by_age.remove((seek.since, 0, seek.id, 0))
        return seek

    def near(self, seek: Seek, scan: int) -> Iterator[Seek]:
        """Partners that may fit with the nearest ratings, looking at no more than `scan` seeks above and below at
        each node. Quick where many fit; that it finds nobody means nothing."""
        low, high = (_LOWEST, _HIGHEST) if seek.want is None else seek.want
        fits = self._fits[self._number(seek.profile)]
        for node in self._above(seek):
            if not node.active & fits:
                continue
            for run in (
                node.all.rising(max(low, seek.rating), high),
                node.all.falling(min(high + 1, seek.rating), low),
            ):
                for entry in islice(run, scan):
                    if fits >> entry[3] & 1:
                        yield self._seeks[entry[2]]

    def _above(self, seek: Seek) -> Iterator[_Node]:
        """The nodes whose seeks take this one's rating."""
        place = _filed(seek.rating) + _TOP
        while place:
            if (node := self._nodes.get(place)) is not None:
                yield node
            place >>= 1

    def runs(self, seek: Seek) -> Iterator[Iterator[Seek]]:
        """Partners that may fit, as runs of rising rating difference. Each run may be left off at any point."""
        low, high = (_LOWEST, _HIGHEST) if seek.want is None else seek.want
        fits = self._fits[self._number(seek.profile)]
        for node in self._above(seek):
            if not (active := node.active & fits):
                continue
            profiles = active.bit_count()
            few = list(islice(node.all.rising(low, high), profiles + 1))
            if len(few) <= profiles:  # fewer in reach than profiles to ask: read them as they are
                yield from (iter((self._seeks[entry[2]],)) for entry in few if fits >> entry[3] & 1)
                continue
            while active:
                bit = active & -active
                active ^= bit
                entries = node.by_profile[bit.bit_length() - 1]
                for run in (
                    entries.rising(max(low, seek.rating), high),
                    entries.falling(min(high + 1, seek.rating), low),
                ):
                    yield (self._seeks[entry[2]] for entry in run)
