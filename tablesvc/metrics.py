"""Everything a table worker measures, and the verbs over it. Labels come from closed sets, never from ids."""

from collections import deque

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge

from numbridge.clock import monotonic
from numbridge.obs import LATENCY_BUCKETS
from tablesvc.histogram import Histogram

_RECENT = 4_096
_RECENT_S = 300.0
_STEP_BUCKETS = (0.00001, 0.000025, 0.00005, *LATENCY_BUCKETS)


class Metrics:
    """One per worker; the registry is the process's own, or a test's."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        def seconds(name: str, text: str, buckets: tuple[float, ...] = LATENCY_BUCKETS) -> Histogram:
            return Histogram(f"numbridge_tablesvc_{name}_seconds", text, buckets, registry)

        def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
            return Counter(f"numbridge_tablesvc_{name}_total", text, labels, registry=registry)

        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"numbridge_tablesvc_{name}", text, registry=registry)

        self.queue_wait = seconds("queue_wait", "From a command's arrival to its table's turn.", _STEP_BUCKETS)
        self.decide = seconds("decide", "Judging a command: clock, rules, next state.", _STEP_BUCKETS)
        self.encode = seconds("encode", "Writing the log record and the frames of a command.", _STEP_BUCKETS)
        self.append = seconds("append", "From sending an append to its ack.")
        self.publish = seconds("publish", "Handing a command's frames to the connection.", _STEP_BUCKETS)
        self.command = seconds("command", "From a command's arrival to its answer, all kinds.")
        self.takeover = seconds("takeover", "From winning a shard's lease to serving all of its games.")
        self._commands = counter("commands", "Commands answered.", ("kind", "outcome"))
        self._answered: dict[tuple[str, str], Counter] = {}
        self._dropped = counter("overflow", "What a full queue or a lost connection has cost.", ("queue",))
        self._appends = counter("appends", "Appends by how they ended.", ("outcome",))
        self._appended = self._appends.labels("ok")
        self._shards = counter("shard_moves", "Shards won, given up and lost.", ("how",))
        self._results = counter("results", "Results published, published again, and known to be in SQL.", ("how",))
        self.stalls = counter("stalls", "Times that the log or the process stood still and clocks got time back.")
        self.damaged = counter("damaged_tables", "Tables set aside because their log is damaged or a fault broke them.")
        self.moves = counter("moves", "Moves made, burns and passes included.")
        self.shards = gauge("shards", "Shards that this worker serves.")
        self.tables = gauge("tables", "Unfinished games.")
        self.unconfirmed = gauge("unconfirmed_results", "Finished games not yet known to be in SQL.")
        self._stock = gauge("stock", "Deals that lie ready.")
        self._dealing = seconds("dealing", "Making one deal, waiting for the dealing process included.")
        self._sold_out = counter("stock_sold_out", "Games that found no deal ready.")
        self._recent: deque[tuple[float, float]] = deque(maxlen=_RECENT)
        self.moves_made = 0

    def answered(self, kind: str, outcome: str, took_s: float) -> None:
        """A command of `kind` (play, join, look, record, presence) ended with `outcome` (ok, or a reject reason)."""
        key = kind, outcome
        counted = self._answered.get(key)
        if counted is None:  # looked up once for each of a few dozen combinations
            counted = self._answered[key] = self._commands.labels(kind, outcome)
        counted.inc()
        self.command.observe(took_s)
        if kind == "play":
            self._recent.append((monotonic(), took_s))

    def moved(self, count: int) -> None:
        """`count` moves happened."""
        self.moves.inc(count)
        self.moves_made += count

    def dropped(self, queue: str) -> None:
        """Something was refused or dropped: mailbox, opening, link_out, view_away, over_kept, presence."""
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
