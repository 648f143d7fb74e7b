"""Rules, their tests and dashboards, as they lie in k8s/monitoring."""

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.ops.inventory import ROOT, names

FOLDER = ROOT / "k8s" / "monitoring"
_NAMED = re.compile(r"\bnumbridge[_:][a-zA-Z0-9_:]+")


def promtool() -> str:
    """Path of promtool; skips visibly where there is none."""
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    return found


def run_promtool(*args: str | Path, cwd: Path = FOLDER) -> str:
    """Its output; fails with it if it finds anything wrong."""
    done = subprocess.run([promtool(), *map(str, args)], capture_output=True, text=True, cwd=cwd, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@cache
def rules() -> list[dict[str, Any]]:
    """Every rule of every file."""
    return [
        rule
        for path in sorted((FOLDER / "rules").glob("*.yaml"))
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
        for rule in group["rules"]
    ]


@cache
def alerts() -> list[dict[str, Any]]:
    """The alerts among them."""
    return [rule for rule in rules() if "alert" in rule]


def dashboards() -> dict[str, dict[str, Any]]:
    """Name -> Grafana's JSON."""
    return {path.stem: json.loads(path.read_text()) for path in sorted((FOLDER / "dashboards").glob("*.json"))}


def queries(dashboard: dict[str, Any]) -> list[str]:
    """Every query of a dashboard."""
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


def unknown(expr: str) -> set[str]:
    """Names in a query that neither a service shows nor a rule records."""
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    return set(_NAMED.findall(expr)) - names() - recorded
