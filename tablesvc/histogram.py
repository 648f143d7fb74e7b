"""A histogram for the hot path: an observation is a bisection and two additions, a tenth of the library's.

One thread observes (the loop's) and the same one reads, so there is no lock.
"""

from bisect import bisect_left
from collections.abc import Iterator
from math import isinf

from prometheus_client import CollectorRegistry
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector


class Histogram(Collector):
    """Seconds in buckets, under one name, without labels."""

    def __init__(self, name: str, text: str, buckets: tuple[float, ...], registry: CollectorRegistry) -> None:
        """`buckets`: upper bounds, ascending."""
        self._name = name
        self._text = text
        self._bounds = buckets
        self._counts = [0] * (len(buckets) + 1)
        self._sum = 0.0
        registry.register(self)

    def observe(self, value: float) -> None:
        """Counts one value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    @property
    def count(self) -> int:
        """Values so far."""
        return sum(self._counts)

    def describe(self) -> Iterator[HistogramMetricFamily]:
        """For the registry: the name, without values."""
        yield HistogramMetricFamily(self._name, self._text)

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """For a scrape."""
        running = 0
        buckets = []
        for bound, count in zip((*self._bounds, float("inf")), self._counts, strict=True):
            running += count
            buckets.append(("+Inf" if isinf(bound) else str(bound), running))
        yield HistogramMetricFamily(self._name, self._text, buckets=buckets, sum_value=self._sum)
