"""Everything a table worker measures, and the verbs over it. Labels come from closed sets, never from ids."""

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge

from numbridge import collectors
from numbridge.clock import monotonic
from numbridge.collectors import Family
from numbridge.errors import Reason
from numbridge.obs import LATENCY_BUCKETS
from tablesvc.histogram import Histogram

_RECENT = 4_096
_RECENT_S = 300.0
_STEP_BUCKETS = (0.00001, 0.000025, 0.00005, *LATENCY_BUCKETS)

KINDS = ("play", "join", "look", "record", "summary", "presence", "end", "ring")
OUTCOMES = ("ok", *(str(reason) for reason in Reason))
QUEUES = ("mailbox", "opening", "link_full", "view_away", "over_kept", "creation", "remakes")
APPENDS = ("ok", "unknown", "landed", "conflict", "refused", "lost")
SHARD_MOVES = ("won", "released", "lost")
RESULTS = ("sent", "resent", "archived")
PHASES = ("opening", "serving", "closing")
STATES = ("playing", "adjourned", "over")


class Metrics:
    """One per worker; the registry is the process's own, or a test's."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        def seconds(name: str, text: str, buckets: tuple[float, ...] = LATENCY_BUCKETS) -> Histogram:
            return Histogram(f"numbridge_tablesvc_{name}_seconds", text, buckets, registry)

        def counter(name: str, text: str) -> Counter:
            return Counter(f"numbridge_tablesvc_{name}_total", text, registry=registry)

        def family(name: str, text: str, **labels: tuple[str, ...]) -> Family[Counter]:
            return collectors.counter(registry, f"numbridge_tablesvc_{name}_total", text, **labels)

        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"numbridge_tablesvc_{name}", text, registry=registry)

        self.queue_wait = seconds("queue_wait", "From a command's arrival to its table's turn.", _STEP_BUCKETS)
        self.decide = seconds("decide", "Judging a command: clock, rules, next state.", _STEP_BUCKETS)
        self.encode = seconds("encode", "Writing the log record and the frames of a command.", _STEP_BUCKETS)
        self.append = seconds("append", "From sending an append to its ack.")
        self.publish = seconds("publish", "Handing a command's frames to the connection.", _STEP_BUCKETS)
        self.command = seconds("command", "From a command's arrival to its answer, all kinds.")
        self.takeover = seconds("takeover", "From winning a shard's lease to serving all of its games.")
        self._commands = family("commands", "Commands answered.", kind=KINDS, outcome=OUTCOMES)
        self._dropped = family("overflow", "What a full queue or a lost connection has cost.", queue=QUEUES)
        self._appends = family("appends", "Appends by how they ended.", outcome=APPENDS)
        self._appended = self._appends.labels("ok")
        self._shards = family("shard_moves", "Shards won, given up and lost.", how=SHARD_MOVES)
        self._results = family("results", "Results published, published again, and known to be in SQL.", how=RESULTS)
        self.stalls = counter("stalls", "Times that the log or the process stood still and clocks got time back.")
        self.ownerless = counter(
            "ownerless_shards",
            "Shards that had no owner for longer than any change of owner lasts.",
        )
        self.damaged = counter("damaged_tables", "Tables set aside because their log is damaged or a fault broke them.")
        self.moves = counter("moves", "Moves made, burns and passes included.")
        self._phases = collectors.gauge(
            registry, "numbridge_tablesvc_shards", "Shards that this worker owns, by phase.", phase=PHASES
        )
        self.configured = gauge("shards_configured", "Shards of the cluster, all of which somebody should serve.")
        self._tables = collectors.gauge(
            registry, "numbridge_tablesvc_tables", "Games here; `over`: kept until archived and a while.", state=STATES
        )
        self.waiting = gauge("mailbox_waiting", "Commands that wait in mailboxes.")
        self._late = seconds("clock_late", "How long after its deadline a table was rung.")
        self.unconfirmed = gauge("unconfirmed_results", "Finished games not yet known to be in SQL.")
        self.unconfirmed_age = gauge("unconfirmed_age_seconds", "How long ago the oldest of them ended.")
        self._stock = gauge("stock", "Deals that lie ready.")
        self._dealing = seconds("dealing", "Making one deal, waiting for the dealing process included.")
        self._sold_out = counter("stock_sold_out", "Games that found no deal ready.")
        self._recent: deque[tuple[float, float]] = deque(maxlen=_RECENT)
        self.moves_made = 0

    def answered(self, kind: str, outcome: str, took_s: float) -> None:
        """A command of `kind` (play, join, look, record, presence) ended with `outcome` (ok, or a reject reason)."""
        self._commands.labels(kind, outcome).inc()
        self.command.observe(took_s)
        if kind == "play":
            self._recent.append((monotonic(), took_s))

    def moved(self, count: int) -> None:
        """`count` moves happened."""
        self.moves.inc(count)
        self.moves_made += count

    def dropped(self, queue: str) -> None:
        """Something of QUEUES was refused or dropped."""
        self._dropped.labels(queue).inc()

    def appended(self, outcome: str) -> None:
        """An append ended: ok, unknown (then looked up), landed (after all), conflict, refused, lost."""
        if outcome == "ok":
            self._appended.inc()
        else:
            self._appends.labels(outcome).inc()

    def shard(self, how: str) -> None:
        """A shard was won, released or lost."""
        self._shards.labels(how).inc()

    def result(self, how: str) -> None:
        """A result was sent, resent or archived."""
        self._results.labels(how).inc()

    def rang(self, late_ms: int) -> None:
        """A table was rung so long after its deadline."""
        self._late.observe(late_ms / 1000)

    def read_shards(self, counts: Callable[[], Mapping[str, int]]) -> None:
        """`counts()` is asked at each scrape: shards by phase."""
        _read(self._phases, PHASES, counts)

    def read_tables(self, counts: Callable[[], Mapping[str, int]]) -> None:
        """`counts()` is asked at each scrape: games by status."""
        _read(self._tables, STATES, counts)

    def stock_level(self, deals: int) -> None:
        """So many deals lie ready."""
        self._stock.set(deals)

    def dealt(self, took_s: float) -> None:
        """A deal took so long."""
        self._dealing.observe(took_s)

    def sold_out(self) -> None:
        """A game had to wait for its deal."""
        self._sold_out.inc()

    def p99_us(self) -> int:
        """99th percentile of the plays of the last minutes, microseconds; 0 if there were none."""
        oldest = monotonic() - _RECENT_S
        took = sorted(seconds for at, seconds in self._recent if at >= oldest)
        return int(took[min(len(took) - 1, len(took) * 99 // 100)] * 1_000_000) if took else 0


def _read(family: Family[Gauge], values: tuple[str, ...], counts: Callable[[], Mapping[str, int]]) -> None:
    def of(value: str) -> float:
        return float(counts().get(value, 0))

    for value in values:
        family.labels(value).set_function(partial(of, value))
