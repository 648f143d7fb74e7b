"""Every metric of every service, read from the declarations themselves.

`python -m tests.unit.ops.inventory` writes k8s/monitoring/METRICS.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry

import gateway.metrics
import lobby.metrics
import ratings.metrics
import tablesvc.metrics
from numbridge import tasks
from numbridge.collectors import ROOMS, declared
from numbridge.process_metrics import CallMetrics, ProcessMetrics

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "k8s" / "monitoring" / "METRICS.md"
_COLUMNS = "| name | type | unit | labels | meaning |"
_UNITS = {"seconds": "seconds", "bytes": "bytes", "info": "—", "difference": "rating points"}
_PLAIN_LABELS = {
    "numbridge_task_faults_total": {"task": "kinds of background task, named in the code"},
    "numbridge_release_info": {"release": "the release"},
    "numbridge_grpc_call_seconds": {
        "method": "methods of the service's own calls, health and reflection",
        "outcome": "`ok` `refused` `cancelled` `fault`",
    },
}
_HEAD = """# Metrics

Made by `make metrics` from what the code declares; a test fails when the two differ. Every service serves them at
`/metrics` on its metrics port, beside the `python_*` and `process_*` numbers of the client library. Histograms
have `_bucket`, `_sum` and `_count`. A label has just the values named here, and `other` for anything else; *rooms* are
those of the rooms file. Nothing bears a player's, a game's or a seek's id: series grow with processes, not with users.
"""


@dataclass(frozen=True)
class Metric:
    """One row of the page."""

    name: str
    type: str
    unit: str
    labels: dict[str, str]
    text: str


def sections() -> dict[str, list[Metric]]:
    """Section -> its metrics, by name."""
    common = CollectorRegistry()
    ProcessMetrics(common, lambda: True, lambda: False)
    CallMetrics(common)
    common.register(tasks.FAULTS)
    found = {"every service": common}
    for name, module in (
        ("gateway", gateway.metrics), ("lobby", lobby.metrics), ("table worker", tablesvc.metrics),
        ("ratings", ratings.metrics),
    ):  # fmt: skip
        found[name] = CollectorRegistry()
        module.Metrics(found[name])
    return {name: sorted(_metrics(registry), key=lambda metric: metric.name) for name, registry in found.items()}


def _metrics(registry: CollectorRegistry) -> Iterator[Metric]:
    for family in registry.collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        sets = declared().get(name, {})
        labels = {
            label: "rooms" if values == ROOMS else " ".join(f"`{value}`" for value in values)
            for label, values in sets.items()
        }
        last = family.name.rsplit("_", 1)[-1]
        unit = _UNITS.get(last, "count")
        if name in ("numbridge_ready", "numbridge_draining", "numbridge_lobby_matching_held"):
            unit = "0 or 1"
        yield Metric(name, family.type, unit, labels or _PLAIN_LABELS.get(name, {}), family.documentation)


def names() -> set[str]:
    """Every series name that a query may use."""
    found = set()
    for metric in (metric for metrics in sections().values() for metric in metrics):
        found.add(metric.name)
        if metric.type == "histogram":
            found |= {f"{metric.name}_{part}" for part in ("bucket", "sum", "count")}
    return found


def page() -> str:
    """The text of METRICS.md."""
    lines = [_HEAD]
    for section, metrics in sections().items():
        lines += [f"## {section[0].upper()}{section[1:]}", "", _COLUMNS, "| --- | --- | --- | --- | --- |"]
        for metric in metrics:
            labels = "; ".join(f"{label}: {values}" for label, values in metric.labels.items())
            lines.append(f"| `{metric.name}` | {metric.type} | {metric.unit} | {labels} | {metric.text} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
