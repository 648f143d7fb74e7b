"""Every number that the ratings service shows, and the verbs over them."""

from contextlib import AbstractContextManager
from enum import StrEnum

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram

from numbridge.obs import LATENCY_BUCKETS


class Outcome(StrEnum):
    """What became of one delivery of a result."""

    RATED = "rated"
    ARCHIVED = "archived"  # a game that does not count
    DUPLICATE = "duplicate"
    SET_ASIDE = "set_aside"
    RETRIED = "retried"


class Metrics:
    """Collectors of one process."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self._results = Counter(
            "numbridge_ratings_results_total", "Deliveries of results, by outcome.", ["outcome"], registry=registry
        )
        for outcome in Outcome:
            self._results.labels(outcome)
        self._seconds = Histogram(
            "numbridge_ratings_result_seconds",
            "From the delivery of a result to its acknowledgement.",
            buckets=LATENCY_BUCKETS,
            registry=registry,
        )
        self._in_flight = Gauge(
            "numbridge_ratings_in_flight_results", "Results being worked on in this process.", registry=registry
        )
        self._waiting = Gauge(
            "numbridge_ratings_waiting_results", "Results in the stream that are not in SQL yet.", registry=registry
        )
        self._sql = Gauge("numbridge_ratings_sql_up_info", "1 while SQL answers, else 0.", registry=registry)
        self._board_misses = Counter(
            "numbridge_ratings_board_misses_total",
            "Times the leaderboard cache could not be asked or written; SQL answered instead.",
            registry=registry,
        )
        self._board_builds = Counter(
            "numbridge_ratings_board_builds_total", "Leaderboards built from SQL.", registry=registry
        )
        self.done = 0

    def result(self, outcome: Outcome) -> None:
        """A delivery has been dealt with."""
        self._results.labels(outcome).inc()
        if outcome in (Outcome.RATED, Outcome.ARCHIVED):
            self.done += 1

    def took(self, seconds: float) -> None:
        """Time from a delivery to its acknowledgement."""
        self._seconds.observe(seconds)

    def working(self) -> AbstractContextManager[None]:
        """While a result is being worked on."""
        return self._in_flight.track_inprogress()

    def waiting(self, count: int) -> None:
        """Results in the stream."""
        self._waiting.set(count)

    def sql(self, up: bool) -> None:
        """Whether SQL answers."""
        self._sql.set(up)

    def board_missed(self) -> None:
        """The cache could not be asked or written."""
        self._board_misses.inc()

    def board_built(self) -> None:
        """A board has been built from SQL."""
        self._board_builds.inc()
