"""Every metric of the lobby, and the verbs over them. Labels are rooms and outcomes, never players or games."""

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram

from numbridge import collectors
from numbridge.collectors import ROOMS, Family
from numbridge.errors import Reason
from numbridge.obs import LATENCY_BUCKETS

_WAIT_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_DIFFERENCES = (0, 25, 50, 100, 200, 300, 400, 600, 800, 1_200)


_REASONS = tuple(str(reason) for reason in Reason)
POSTED = ("open", *_REASONS)
ACCEPTED = ("taken", *_REASONS)
ENDS = ("replaced", "cancelled", "matched", "playing", "left", "unavailable", "room_changed", "room_gone", "muted")
TAKES = ("taken", "taken_before", "first_gone", "second_gone", "first_has_game", "second_has_game", "held")
SEATINGS = ("seated", "undone", "given_up")
MAKINGS = ("made", "not_made", "unknown", "refused")
TOLD = ("sent", "dropped")
RELOADS = ("taken", "lost_changes")
SWEPT = (
    "left", "stranded", "reposted", "game_gone", "match_without_table", "table_without_match", "seat_without_game",
    "bad_seat_notice", "seat_notice_missed",
)  # fmt: skip
ROOM_READS = ("taken", "refused")
QUEUES = ("seek_list", "seating", "pool_backlog")


class Metrics:
    """One set a process; tests pass a registry of their own."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        def counter(name: str, text: str, **labels: tuple[str, ...]) -> Family[Counter]:
            return collectors.counter(registry, f"numbridge_lobby_{name}_total", text, **labels)

        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"numbridge_lobby_{name}", text, registry=registry)

        self._posts = counter("seeks", "Seeks asked for, by answer.", room=ROOMS, outcome=POSTED)
        self._accepts = counter("accepts", "Seeks accepted from the list, by answer.", outcome=ACCEPTED)
        self._ends = counter("seek_ends", "Open seeks that ended without a game of their own, by reason.", reason=ENDS)
        self._wait = collectors.histogram(
            registry, "numbridge_lobby_wait_seconds", "Time from a seek to its match.", _WAIT_BUCKETS, room=ROOMS
        )
        self._difference = collectors.histogram(
            registry,
            "numbridge_lobby_pair_rating_difference",
            "Rating difference of matched pairs.",
            _DIFFERENCES,
            room=ROOMS,
        )
        self._takes = counter("takes", "Matches put to Redis for its decision, by answer.", code=TAKES)
        self._seating = collectors.histogram(
            registry,
            "numbridge_lobby_seating_seconds",
            "Time from match to seated (or undone), by outcome.",
            LATENCY_BUCKETS,
            outcome=SEATINGS,
        )
        self._makings = counter("table_makings", "Attempts to make a table, by outcome.", outcome=MAKINGS)
        self.open = collectors.gauge(
            registry, "numbridge_lobby_pool_seeks", "Open seeks in the pools that this replica owns.", room=ROOMS
        )
        self.owned = gauge("pools_owned", "Pools that this replica owns.")
        self.in_hand = gauge("matches_in_hand", "Matches that this replica is having tables made for.")
        self.held = gauge("matching_held", "1 while matching waits after a loss of Redis.")
        self.pass_seconds = Histogram(
            "numbridge_lobby_match_pass_seconds",
            "One pass of the matching core over what has changed.",
            buckets=LATENCY_BUCKETS,
            registry=registry,
        )
        self._notices = counter("notices", "Notices to players, by outcome.", outcome=TOLD)
        self._deltas = counter("deltas", "Changes of seek lists told, by outcome.", outcome=TOLD)
        self._reloads = counter("pool_reloads", "Pools read afresh from Redis, by reason.", reason=RELOADS)
        self._room_reads = counter("rooms_read", "Times the rooms file was read again, by outcome.", outcome=ROOM_READS)
        self._swept = counter("swept", "What the sweeper found and put right.", what=SWEPT)
        self._overflow = counter("overflow", "Times that a bounded queue was full.", queue=QUEUES)

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

    def rooms_read(self, outcome: str) -> None:
        """The rooms file was read again."""
        self._room_reads.labels(outcome).inc()

    def swept(self, what: str, count: int = 1) -> None:
        """The sweeper put something right."""
        if count:
            self._swept.labels(what).inc(count)

    def overflowed(self, queue: str) -> None:
        """A bounded queue was full."""
        self._overflow.labels(queue).inc()
