"""Traces of plays, through gateway, worker, log and fan-out, for an OpenTelemetry collector.

Off unless NUMBRIDGE_TRACE_URL names one; then nothing of OpenTelemetry is imported, and a play pays for a look at
`current`. A trace's ids follow from the play itself, so nothing has to travel with it: gateway and worker
come to the same ids, and whoever has a player, a game and a ref finds the trace.

    play            the gateway: from the player's message to the worker's answer
      command       the worker: from the link to the answer
        append      the log: until it is safe
        publish     the fan-out: frames for the seats
"""

import time
from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from numbridge.clock import monotonic
from numbridge.settings import CommonSettings, SettingsError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

QUEUE = 2_048  # spans that wait for the collector; beyond it new ones are dropped
SEND_S = 1.0  # for one batch; then it is dropped
_MASK = (1 << 64) - 1


class Traces:
    """Makes spans of what has happened. Needs the extra `otel`. Never raises, never waits."""

    def __init__(self, service: str, name: str, per_mille: int, processor: "SpanProcessor") -> None:
        """`per_mille`: of so many plays in a thousand a trace is made."""
        from opentelemetry import trace
        from opentelemetry.context import Context
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

        self._given: tuple[int, int] | None = None
        given = self

        class Ids(RandomIdGenerator):
            """The play's own ids for its root, made-up ones for what is below it."""

            def generate_trace_id(self) -> int:
                return given._given[0] if given._given else super().generate_trace_id()

            def generate_span_id(self) -> int:
                return given._given[1] if given._given else super().generate_span_id()

        resource = Resource.create({"service.name": f"numbridge-{service}", "service.instance.id": name})
        self._provider = TracerProvider(id_generator=Ids(), resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("numbridge")
        self._bound = per_mille * (_MASK + 1) // 1000
        self._trace: Any = trace
        self._context: Callable[[], Any] = Context

    def at_gateway(self, game: str, player: str, ref: str, began: float, worker: str, outcome: str) -> None:
        """A play has been answered. Times are monotonic seconds."""
        trace_id, span_id = ids_of(game, player, ref)
        if trace_id & _MASK >= self._bound:
            return
        self._given = (trace_id, span_id)
        try:
            root = self._tracer.start_span("play", self._context(), start_time=_wall_ns(began))
        finally:
            self._given = None
        root.set_attributes({"game": game, "ref": ref, "worker": worker, "outcome": outcome})
        root.end()

    def at_worker(self, game: str, player: str, ref: str, came: float, append: float, safe: float, told: float) -> None:
        """A play is in the log and has been told: when it came, was sent to the log, was safe there, was published."""
        trace_id, span_id = ids_of(game, player, ref)
        if trace_id & _MASK >= self._bound:
            return
        trace = self._trace
        parent = trace.SpanContext(trace_id, span_id, is_remote=True, trace_flags=trace.TraceFlags(1))
        above = trace.set_span_in_context(trace.NonRecordingSpan(parent), self._context())
        command = self._tracer.start_span("command", above, start_time=_wall_ns(came))
        command.set_attributes({"game": game, "ref": ref})
        within = trace.set_span_in_context(command, self._context())
        for name, began, ended in (("append", append, safe), ("publish", safe, told)):
            self._tracer.start_span(name, within, start_time=_wall_ns(began)).end(_wall_ns(ended))
        command.end(_wall_ns(told))

    def close(self) -> None:
        """Sends what waits, as far as the collector takes it."""
        self._provider.shutdown()


current: Traces | None = None
"""None: nothing is traced."""


def ids_of(game: str, player: str, ref: str) -> tuple[int, int]:
    """Trace id (128 bits) and the root span's id (64 bits) of a play."""
    digest = blake2b(f"{game}\0{player}\0{ref}".encode(), digest_size=24, person=b"numbridge").digest()
    return int.from_bytes(digest[:16]), int.from_bytes(digest[16:])


def _wall_ns(at: float) -> int:
    return time.time_ns() - int((monotonic() - at) * 1e9)


def start(service: str, settings: CommonSettings) -> None:
    """Turns tracing on where the settings say so. Raises SettingsError if the extra is not installed."""
    global current
    if not settings.trace_url:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise SettingsError(["NUMBRIDGE_TRACE_URL is set: install the extra `otel` (numbridge[otel])"]) from None
    processor = BatchSpanProcessor(OTLPSpanExporter(settings.trace_url, timeout=SEND_S), max_queue_size=QUEUE)
    current = Traces(service, settings.name, settings.trace_per_mille, processor)


def stop() -> None:
    """Turns it off again."""
    global current
    if current is not None:
        current.close()
        current = None
