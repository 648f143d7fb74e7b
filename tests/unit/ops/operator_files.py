"""The objects that the Prometheus operator reads, made from the rules files.

`python -m tests.unit.ops.operator_files` writes k8s/monitoring/operator.yaml.
"""

from typing import Any

import yaml

from tests.unit.ops.env_files import SERVICES
from tests.unit.ops.inventory import ROOT

FOLDER = ROOT / "k8s" / "monitoring"
PAGE = FOLDER / "operator.yaml"
_HEAD = "# Made by `make operator-files` from rules/; a test fails when the two differ.\n"


def objects() -> list[dict[str, Any]]:
    """One PrometheusRule a rules file, and one ServiceMonitor a service."""
    return [
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PrometheusRule",
            "metadata": {"name": f"numbridge-{path.stem}"},
            "spec": yaml.safe_load(path.read_text(encoding="utf-8")),
        }
        for path in sorted((FOLDER / "rules").glob("*.yaml"))
    ] + [
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "ServiceMonitor",
            "metadata": {"name": f"numbridge-{service}"},
            "spec": {
                "selector": {"matchLabels": {"app.kubernetes.io/name": f"numbridge-{service}"}},
                "endpoints": [{"port": "metrics", "interval": "15s"}],
            },
        }
        for service in SERVICES
    ]


def text() -> str:
    """The file."""
    return _HEAD + yaml.safe_dump_all(objects(), sort_keys=False, width=120)


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
