"""A play leaves its spans behind at a real worker on a real log, and at a gateway."""

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from numbridge import tracing
from numbridge.tracing import Traces, ids_of
from tests.helpers.eventually import eventually
from tests.helpers.table_workers import WorkerUnderTest, game_in, settled
from tests.unit.gateway.fakes import Cluster
from tests.unit.gateway.games import GAME
from tests.unit.gateway.world import gateway


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(tracing, "current", Traces("any", "any-1", 1_000, SimpleSpanProcessor(exporter)))
    return exporter


async def test_a_play_at_a_worker(clean_nats: str, spans: InMemorySpanExporter) -> None:
    worker = await WorkerUnderTest.start("w1", nats_url=clean_nats)
    try:
        await settled(worker)
        game = game_in(worker.shards)
        await worker.create(game)
        link = worker.link
        for player in ("ada", "bob"):
            await link.join(game, player, arrive=True)
        assert spans.get_finished_spans() == ()  # joins are no plays
        await link.play(game, "ada", 0, "exchange", ref="r1")
        await eventually(lambda: len(spans.get_finished_spans()) == 3)
    finally:
        await worker.close()
    found = {span.name: span for span in spans.get_finished_spans()}
    assert found.keys() == {"command", "append", "publish"}
    trace_id, root = ids_of(game, "ada", "r1")
    parent = found["command"].parent
    assert parent is not None
    assert (parent.trace_id, parent.span_id) == (trace_id, root)
    inner, outer = found["append"], found["command"]
    assert (outer.start_time or 0) <= (inner.start_time or 0) < (inner.end_time or 0) <= (outer.end_time or 0)


async def test_a_play_at_a_gateway(spans: InMemorySpanExporter) -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        (ada,) = await world.seated(GAME, "ada")
        await ada.play(GAME, "place", tile=3, cell="a1", ref="r2")
    (span,) = spans.get_finished_spans()
    assert span.name == "play"
    assert span.context is not None
    assert (span.context.trace_id, span.context.span_id) == ids_of(GAME, "ada", "r2")
    assert span.attributes is not None
    assert (span.attributes["game"], span.attributes["ref"], span.attributes["outcome"]) == (GAME, "r2", "ok")
