"""Counters and histograms whose labels come from closed sets, whatever they are told.

A value outside of its set is counted as `other`, so nothing that a client or a peer sends adds a series. Series
of small sets are there from the start, at zero: an alert sees the first increase too.

    Labels       label -> its values
    declared()   what each labelled collector was declared with, for the page and the checks
"""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

OTHER = "other"
ROOMS = ("(rooms)",)  # the rooms of the rooms file: closed for a process's life, but not known here
_MOST_ROOMS = 64
_EAGER = 64  # series; larger sets come into being one by one

Labels = Mapping[str, tuple[str, ...]]
_Child = TypeVar("_Child", Counter, Gauge, Histogram)

_declared: dict[str, dict[str, tuple[str, ...]]] = {}


def declared() -> Mapping[str, Labels]:
    """Collector name -> label -> values, of everything made so far in this process."""
    return _declared


class Family(Generic[_Child]):
    """Children of one labelled collector, each looked up once."""

    def __init__(self, name: str, parent: Any, labels: Labels) -> None:
        self._parent = parent
        self._sets = tuple(frozenset(values) for values in labels.values())
        self._open = tuple(values == ROOMS for values in labels.values())
        self._rooms: set[str] = set()
        self._children: dict[tuple[str, ...], _Child] = {}
        _declared[name] = {label: tuple(values) for label, values in labels.items()}
        combinations = 1
        for values in labels.values():
            combinations *= len(values)
        if combinations <= _EAGER and not any(self._open):
            for values in product(*labels.values()):
                self.labels(*values)

    def labels(self, *values: str) -> _Child:
        """The child for these values, in the order of the labels."""
        child = self._children.get(values)
        if child is None:
            known = tuple(self._known(place, value) for place, value in enumerate(values))
            child = self._children.get(known)
            if child is None:
                made: _Child = self._parent.labels(*known)
                child = self._children[known] = made
        return child

    def __len__(self) -> int:
        return len(self._children)

    def _known(self, place: int, value: str) -> str:
        if not self._open[place]:
            return value if value in self._sets[place] else OTHER
        if value not in self._rooms:
            if len(self._rooms) >= _MOST_ROOMS:
                return OTHER
            self._rooms.add(value)
        return value


def counter(registry: CollectorRegistry, name: str, text: str, **labels: Iterable[str]) -> Family[Counter]:
    """A labelled counter."""
    sets = {label: tuple(values) for label, values in labels.items()}
    return Family(name, Counter(name, text, tuple(sets), registry=registry), sets)


def histogram(
    registry: CollectorRegistry, name: str, text: str, buckets: tuple[float, ...], **labels: Iterable[str]
) -> Family[Histogram]:
    """A labelled histogram."""
    sets = {label: tuple(values) for label, values in labels.items()}
    return Family(name, Histogram(name, text, tuple(sets), buckets=buckets, registry=registry), sets)


def gauge(registry: CollectorRegistry, name: str, text: str, **labels: Iterable[str]) -> Family[Gauge]:
    """A labelled gauge."""
    sets = {label: tuple(values) for label, values in labels.items()}
    return Family(name, Gauge(name, text, tuple(sets), registry=registry), sets)
