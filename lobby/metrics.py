"""Every metric of the lobby, and the verbs over them. Labels are rooms and outcomes, never players or games."""

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram

from numbridge.obs import LATENCY_BUCKETS

_WAIT_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_DIFFERENCES = (0, 25, 50, 100, 200, 300, 400, 600, 800, 1_200)


class Metrics:
    """One set a process; tests pass a registry of their own."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self._posts = Counter(
            "numbridge_lobby_seeks_total", "Seeks asked for, by answer.", ["room", "outcome"], registry=registry
        )
        self._accepts = Counter(
            "numbridge_lobby_accepts_total", "Seeks accepted from the list, by answer.", ["outcome"], registry=registry
        )
        self._ends = Counter(
            "numbridge_lobby_seek_ends_total", "Open seeks that ended, by reason.", ["reason"], registry=registry
        )
        self._wait = Histogram(
            "numbridge_lobby_wait_seconds",
            "Time from a seek to its match.",
            ["room"],
            buckets=_WAIT_BUCKETS,
            registry=registry,
        )
        self._difference = Histogram(
            "numbridge_lobby_pair_rating_difference",
            "Rating difference of matched pairs.",
            ["room"],
            buckets=_DIFFERENCES,
            registry=registry,
        )
        self._takes = Counter(
            "numbridge_lobby_takes_total",
            "Matches put to Redis for its decision, by answer.",
            ["code"],
            registry=registry,
        )
        self._seating = Histogram(
            "numbridge_lobby_seating_seconds",
            "Time from match to seated (or undone), by outcome.",
            ["outcome"],
            buckets=LATENCY_BUCKETS,
            registry=registry,
        )
        self._makings = Counter(
            "numbridge_lobby_table_makings_total",
            "Attempts to make a table, by outcome.",
            ["outcome"],
            registry=registry,
        )
        self.open = Gauge(
            "numbridge_lobby_pool_seeks", "Open seeks in the pools that this replica owns.", ["room"], registry=registry
        )
        self.owned = Gauge("numbridge_lobby_pools_owned", "Pools that this replica owns.", registry=registry)
        self.held = Gauge(
            "numbridge_lobby_matching_held", "1 while matching waits after a loss of Redis.", registry=registry
        )
        self.pass_seconds = Histogram(
            "numbridge_lobby_match_pass_seconds",
            "One pass of the matching core over what has changed.",
            buckets=LATENCY_BUCKETS,
            registry=registry,
        )
        self._notices = Counter(
            "numbridge_lobby_notices_total", "Notices to players, by outcome.", ["outcome"], registry=registry
        )
        self._deltas = Counter(
            "numbridge_lobby_deltas_total", "Changes of seek lists told, by outcome.", ["outcome"], registry=registry
        )
        self._reloads = Counter(
            "numbridge_lobby_pool_reloads_total",
            "Pools read afresh from Redis, by reason.",
            ["reason"],
            registry=registry,
        )
        self._swept = Counter(
            "numbridge_lobby_swept_total",
            "What the sweeper found and put right; in a healthy club only `left` and `stranded` count.",
            ["what"],
            registry=registry,
        )
        self._overflow = Counter(
            "numbridge_lobby_overflow_total", "Times that a bounded queue was full.", ["queue"], registry=registry
        )

    def posted(self, room: str, outcome: str) -> None:
        """A seek was asked for."""
        self._posts.labels(room, outcome).inc()

    def accepted(self, outcome: str) -> None:
        """A seek was accepted from the list, or not."""
        self._accepts.labels(outcome).inc()

    def ended(self, reason: str, count: int = 1) -> None:
        """Open seeks ended without a game, or beside one."""
        self._ends.labels(reason).inc(count)

    def matched(self, room: str, waits_ms: list[int], difference: int | None) -> None:
        """Two were taken for a game."""
        for wait in waits_ms:
            self._wait.labels(room).observe(max(0, wait) / 1000)
        if difference is not None:
            self._difference.labels(room).observe(difference)

    def took(self, code: str) -> None:
        """Redis has decided about a match."""
        self._takes.labels(code).inc()

    def seated(self, outcome: str, seconds: float) -> None:
        """A match came to its end."""
        self._seating.labels(outcome).observe(max(0.0, seconds))

    def making(self, outcome: str) -> None:
        """An attempt to make a table ended."""
        self._makings.labels(outcome).inc()

    def told(self, outcome: str, count: int = 1) -> None:
        """Notices went out, or did not."""
        self._notices.labels(outcome).inc(count)

    def delta(self, outcome: str) -> None:
        """Changes of a list went out, or did not."""
        self._deltas.labels(outcome).inc()

    def reloaded(self, reason: str) -> None:
        """A pool was read afresh."""
        self._reloads.labels(reason).inc()

    def swept(self, what: str, count: int = 1) -> None:
        """The sweeper put something right."""
        if count:
            self._swept.labels(what).inc(count)

    def overflowed(self, queue: str) -> None:
        """A bounded queue was full."""
        self._overflow.labels(queue).inc()
