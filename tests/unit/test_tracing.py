"""Traces of plays: one trace a play though nothing travels with it, and nothing at all while they are off."""

import gzip
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from numbridge import tracing
from numbridge.clock import monotonic
from numbridge.settings import CommonSettings, SettingsError
from numbridge.tracing import Traces, ids_of

PLAY = ("07-game", "ada", "r-1")


def traced(per_mille: int = 1_000) -> list[ReadableSpan]:
    """Spans of one play at a gateway and a worker, each with an exporter of its own, as in two processes."""
    gateway, worker = InMemorySpanExporter(), InMemorySpanExporter()
    now = monotonic()
    at_worker = Traces("table", "table-1", per_mille, SimpleSpanProcessor(worker))
    at_worker.at_worker(*PLAY, now - 0.004, now - 0.003, now - 0.001, now)
    at_gateway = Traces("gateway", "gateway-1", per_mille, SimpleSpanProcessor(gateway))
    at_gateway.at_gateway(*PLAY, now - 0.005, "table-1", "ok")
    return [*gateway.get_finished_spans(), *worker.get_finished_spans()]


def test_a_play_is_one_trace_across_processes() -> None:
    spans = {span.name: span for span in traced()}
    assert spans.keys() == {"play", "command", "append", "publish"}
    trace_id, root = ids_of(*PLAY)
    assert {span.context.trace_id for span in spans.values() if span.context} == {trace_id}
    assert spans["play"].parent is None
    above = {name: span.parent.span_id for name, span in spans.items() if span.parent}
    command = spans["command"].context
    assert command is not None
    assert above == {"command": root, "append": command.span_id, "publish": command.span_id}
    assert spans["play"].attributes == {"game": "07-game", "ref": "r-1", "worker": "table-1", "outcome": "ok"}
    assert spans["play"].resource.attributes["service.name"] == "numbridge-gateway"
    times = [spans[name].start_time or 0 for name in ("play", "command", "append", "publish")]
    assert times == sorted(times)
    assert (spans["append"].end_time or 0) - (spans["append"].start_time or 0) == pytest.approx(2_000_000, abs=900_000)


def test_a_gateway_and_a_worker_choose_the_same_plays() -> None:
    assert traced(per_mille=0) == []
    exporter = InMemorySpanExporter()
    some = Traces("gateway", "g", 250, SimpleSpanProcessor(exporter))
    for number in range(400):
        some.at_gateway("07-game", "ada", str(number), monotonic(), "table-1", "ok")
    assert (
        50 < len(exporter.get_finished_spans()) < 150
    )  # a quarter; ids follow from the play, so it is always the same


def test_a_player_who_leaves_his_game_for_another_has_other_traces() -> None:
    assert (
        len({ids_of("g", "ada", "1"), ids_of("g", "ad", "a1"), ids_of("g1", "ada", ""), ids_of("g", "ada", "2")}) == 4
    )


def test_off_is_off() -> None:
    tracing.start("table", CommonSettings())
    assert tracing.current is None
    loaded = "import sys, gateway.main, tablesvc.main; sys.exit('opentelemetry.sdk.trace' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loaded], check=False).returncode == 0


def test_without_the_extra_the_start_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(SettingsError, match="extra `otel`"):
        tracing.start("table", CommonSettings(trace_url="http://127.0.0.1:1/v1/traces"))


def test_a_collector_that_is_away_holds_nobody_up() -> None:
    tracing.start("table", CommonSettings(trace_url="http://127.0.0.1:1/v1/traces", trace_per_mille=1_000))
    try:
        assert tracing.current is not None
        began = monotonic()
        for number in range(tracing.QUEUE + 100):
            tracing.current.at_gateway("07-game", "ada", str(number), began, "table-1", "ok")
    finally:
        tracing.stop()
    assert tracing.current is None


def test_a_collector_gets_what_it_understands() -> None:
    got: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1/traces"
        tracing.start("gateway", CommonSettings(name="gateway-1", trace_url=url, trace_per_mille=1_000))
        assert tracing.current is not None
        tracing.current.at_gateway(*PLAY, monotonic(), "table-1", "ok")
        tracing.stop()
        server.shutdown()
    sent = [
        (span.name, span.trace_id)
        for body in got
        for of in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in of.scope_spans
        for span in scope.spans
    ]
    assert sent == [("play", ids_of(*PLAY)[0].to_bytes(16))]


@pytest.mark.parametrize(("url", "per_mille"), [("collector:4317", 1), ("", 1_001), ("", -1)])
def test_settings_that_cannot_be(url: str, per_mille: int) -> None:
    assert CommonSettings(trace_url=url, trace_per_mille=per_mille).check()
