"""Metrics are listed on their page, and their series grow with processes, not with users."""

import ast
from collections.abc import Callable

import pytest
from prometheus_client import CollectorRegistry

import gateway.metrics
import lobby.metrics
import tablesvc.metrics
from lobby import notices
from lobby.adapters.redis_seating import Took
from lobby.ports import Making
from numbridge import collectors
from tablesvc.shard import Phase
from tablesvc.works import KIND
from tests.unit.gateway.world import gateway as running_gateway
from tests.unit.ops.inventory import PAGE, ROOT, page, sections

# The verbs that take a label's value as their first argument, and what they may be told.
VERBS: dict[str, dict[str, tuple[str, ...]]] = {
    "gateway": {
        "message": gateway.metrics.OPS, "refused": gateway.metrics.CODES, "command_retried": gateway.metrics.RETRIES,
        "resync": gateway.metrics.RESYNCS, "_lost": gateway.metrics.RESYNCS, "overflow": gateway.metrics.QUEUES,
        "closed_by_us": gateway.metrics.CLOSES, "joined": gateway.metrics.JOINS,
    },
    "lobby": {
        "accepted": lobby.metrics.ACCEPTED, "seated": lobby.metrics.SEATINGS, "told": lobby.metrics.TOLD,
        "delta": lobby.metrics.TOLD, "reloaded": lobby.metrics.RELOADS, "swept": lobby.metrics.SWEPT,
        "overflowed": lobby.metrics.QUEUES,
    },
    "tablesvc": {
        "dropped": tablesvc.metrics.QUEUES, "appended": tablesvc.metrics.APPENDS, "shard": tablesvc.metrics.SHARD_MOVES,
        "result": tablesvc.metrics.RESULTS,
    },
}  # fmt: skip


def _told(service: str) -> list[tuple[str, str]]:
    """(verb, literal) of every call of a verb of VERBS in the service's code."""
    found = []
    for path in (ROOT / service).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                about_metrics = "metrics" in ast.unparse(node.func.value) or node.func.attr == "_lost"
                if node.func.attr in VERBS[service] and about_metrics:
                    words = [n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant)]
                    found += [(node.func.attr, word) for word in words if isinstance(word, str)]
    return found


def test_the_page_lists_what_the_code_declares() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: make metrics"


def test_every_metric_says_what_it_means() -> None:
    for section, metrics in sections().items():
        for metric in metrics:
            assert metric.text.endswith("."), (section, metric.name)
            assert metric.type in ("counter", "gauge", "histogram"), (section, metric.name)


@pytest.mark.parametrize("service", VERBS)
def test_what_the_code_counts_is_in_the_declared_set(service: str) -> None:
    told = _told(service)
    assert len(told) >= len(VERBS[service])
    assert [(verb, word) for verb, word in told if word not in VERBS[service][verb]] == []


def test_sets_that_mirror_others_are_the_same() -> None:
    assert set(lobby.metrics.MAKINGS) == {making.value for making in Making}
    assert set(lobby.metrics.TAKES) == {took.name.lower() for took in Took}
    ended = {value for name, value in vars(notices).items() if name.startswith("ENDED_")}
    assert ended <= set(lobby.metrics.ENDS)
    assert set(tablesvc.metrics.KINDS) == set(KIND.values())
    assert set(tablesvc.metrics.PHASES) == {phase.name.lower() for phase in Phase} - {"gone"}


def _series(registry: CollectorRegistry) -> int:
    return sum(len(family.samples) for family in registry.collect())


def test_whatever_is_told_adds_no_series_beyond_the_set() -> None:
    registry = CollectorRegistry()
    family = collectors.counter(registry, "x_total", "Text.", code=("a", "b"))
    assert registry.get_sample_value("x_total", {"code": "a"}) == 0, "an alert sees the first increase"
    for number in range(1_000):
        family.labels(f"player-{number}").inc()
    assert registry.get_sample_value("x_total", {"code": "other"}) == 1_000
    assert len({sample.labels["code"] for f in registry.collect() for sample in f.samples}) == 3
    rooms = collectors.counter(registry, "y_total", "Text.", room=collectors.ROOMS)
    for number in range(1_000):
        rooms.labels(f"room-{number}").inc()
    assert len({s.labels["room"] for f in registry.collect() for s in f.samples if f.name == "y"}) == 65


def test_a_familys_cache_does_not_grow_with_unknown_values() -> None:
    family = collectors.counter(CollectorRegistry(), "z_total", "Text.", code=("a",))
    for number in range(1_000):
        family.labels(f"{number}").inc()
    assert len(family) == 2


async def test_ten_times_the_users_add_no_series() -> None:
    async def crowd(size: int, first: int) -> int:
        for number in range(first, first + size):
            await world.player(f"player-{number}")
        return _series(world.app.registry)

    async with running_gateway() as world:
        few = await crowd(2, 0)
        assert await crowd(20, 2) == few


def test_must_be_zero_counters_are_there_from_the_start() -> None:
    """`increase` over a series that has just appeared is nothing."""
    checks: list[tuple[Callable[[CollectorRegistry], object], str, dict[str, str]]] = [
        (gateway.metrics.Metrics, "numbridge_gateway_faults_total", {"where": "Act"}),
        (gateway.metrics.Metrics, "numbridge_gateway_overflow_total", {"queue": "link"}),
        (lobby.metrics.Metrics, "numbridge_lobby_swept_total", {"what": "seat_without_game"}),
        (tablesvc.metrics.Metrics, "numbridge_tablesvc_appends_total", {"outcome": "refused"}),
        (tablesvc.metrics.Metrics, "numbridge_tablesvc_damaged_tables_total", {}),
        (tablesvc.metrics.Metrics, "numbridge_tablesvc_ownerless_shards_total", {}),
    ]
    for make, name, labels in checks:
        registry = CollectorRegistry()
        make(registry)
        assert registry.get_sample_value(name, labels) == 0, name
