"""Every number that the ratings service shows, and the verbs over them."""

from contextlib import AbstractContextManager
from enum import StrEnum

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram

from numbridge import collectors
from numbridge.obs import LATENCY_BUCKETS

_LAGS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3_600.0)


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
        self._results = collectors.counter(
            registry,
            "numbridge_ratings_results_total",
            "Deliveries of results, by outcome.",
            outcome=(str(outcome) for outcome in Outcome),
        )
        self._seconds = Histogram(
            "numbridge_ratings_result_seconds",
            "From the delivery of a result to its acknowledgement.",
            buckets=LATENCY_BUCKETS,
            registry=registry,
        )
        self._lag = Histogram(
            "numbridge_ratings_lag_seconds",
            "From a game's end to its record and ratings in SQL; games counted once, by the replica that did it.",
            buckets=_LAGS,
            registry=registry,
        )
        self._oldest = Gauge(
            "numbridge_ratings_oldest_waiting_seconds",
            "How long the oldest result in the stream has waited; 0 if none does.",
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
        self._results.labels(str(outcome)).inc()
        if outcome in (Outcome.RATED, Outcome.ARCHIVED):
            self.done += 1

    def took(self, seconds: float) -> None:
        """Time from a delivery to its acknowledgement."""
        self._seconds.observe(seconds)

    def lagged(self, seconds: float) -> None:
        """A game is in SQL so long after its end."""
        self._lag.observe(max(0.0, seconds))

    def oldest(self, seconds: float) -> None:
        """The oldest result in the stream has waited so long."""
        self._oldest.set(max(0.0, seconds))

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
