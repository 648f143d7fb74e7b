"""Dashboards: whole, readable by Grafana, and asking only for what there is."""

from pathlib import Path

import pytest
import yaml

from tests.unit.ops.env_files import SERVICES
from tests.unit.ops.manifests import kinds
from tests.unit.ops.monitoring import dashboards, queries, run_promtool, unknown


def test_there_is_one_for_the_club_and_one_a_service() -> None:
    assert dashboards().keys() == {"club", *SERVICES}
    for name, board in dashboards().items():
        assert board["uid"] == f"numbridge-{name}"
        assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
        places = [(panel["gridPos"]["y"], panel["gridPos"]["x"]) for panel in board["panels"]]
        assert places == sorted(set(places))
        assert board["panels"][0]["type"] == "row"


def test_queries_name_only_what_is_measured() -> None:
    asked = {query for board in dashboards().values() for query in queries(board)}
    assert asked
    assert {query: unknown(query) for query in asked if unknown(query)} == {}


@pytest.mark.prometheus
def test_prometheus_reads_every_query(tmp_path: Path) -> None:
    asked = sorted({query for board in dashboards().values() for query in queries(board)})
    rules = [{"record": f"query:{at}", "expr": query} for at, query in enumerate(asked)]
    page = tmp_path / "queries.yaml"
    page.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}), encoding="utf-8")
    run_promtool("check", "rules", page)


def test_grafana_finds_them_in_production() -> None:
    (shipped,) = [found for name, found in kinds("production", "ConfigMap").items() if "dashboards" in name]
    assert shipped["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert shipped["data"].keys() == {f"{name}.json" for name in dashboards()}
