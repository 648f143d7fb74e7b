"""What is measured can be scraped, and the hot path's own histogram counts like the library's."""

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from prometheus_client import Histogram as LibraryHistogram
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from tablesvc.histogram import Histogram
from tablesvc.metrics import Metrics

BUCKETS = (0.001, 0.01, 0.1, 1.0)


def scraped(registry: CollectorRegistry) -> dict[tuple[str, str], float]:
    return {
        (sample.name, sample.labels.get("le", "")): sample.value
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


@given(st.lists(st.floats(0, 5) | st.sampled_from(BUCKETS), max_size=40))
def test_the_histogram_counts_like_the_librarys(values: list[float]) -> None:
    own, library = CollectorRegistry(), CollectorRegistry()
    ours = Histogram("x_seconds", "Help.", BUCKETS, own)
    theirs = LibraryHistogram("x_seconds", "Help.", buckets=BUCKETS, registry=library)
    for value in values:
        ours.observe(value)
        theirs.observe(value)
    assert scraped(own) == scraped(library)
    assert ours.count == len(values)


def test_every_metric_has_a_name_of_the_service_and_a_help_text() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    metrics.answered("play", "ok", 0.002)
    metrics.answered("play", "stale", 0.004)
    metrics.appended("ok")
    metrics.appended("unknown")
    families = list(text_string_to_metric_families(generate_latest(registry).decode()))
    assert all(family.name.startswith("numbridge_tablesvc_") and family.documentation for family in families)
    samples = {(s.name, tuple(sorted(s.labels.items()))): s.value for f in families for s in f.samples}
    assert samples["numbridge_tablesvc_commands_total", (("kind", "play"), ("outcome", "ok"))] == 1
    assert samples["numbridge_tablesvc_appends_total", (("outcome", "ok"),)] == 1
    assert samples["numbridge_tablesvc_command_seconds_count", ()] == 2
    assert metrics.p99_us() in range(3_000, 4_001)
