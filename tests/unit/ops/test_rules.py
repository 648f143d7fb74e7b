"""Alerts fire when they should, stay quiet when they should, and say what to do."""

import re
from pathlib import Path

import pytest
import yaml

from tests.unit.ops.monitoring import FOLDER, alerts, rules, run_promtool, unknown

FILES = sorted((FOLDER / "tests").glob("*.yaml"))


@pytest.mark.prometheus
def test_the_rules_are_well_formed() -> None:
    run_promtool("check", "rules", *sorted((FOLDER / "rules").glob("*.yaml")))


@pytest.mark.prometheus
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_alerts_fire_and_stay_quiet(path: Path) -> None:
    run_promtool("test", "rules", path.name, cwd=path.parent)


def test_each_alert_has_a_case_that_fires_and_one_that_does_not() -> None:
    fires: set[str] = set()
    quiet: set[str] = set()
    for path in FILES:
        for case in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
            for check in case["alert_rule_test"]:
                (fires if check["exp_alerts"] else quiet).add(check["alertname"])
    every = {alert["alert"] for alert in alerts()}
    assert fires == every
    assert quiet == every


def test_each_alert_has_a_section_in_the_runbook_and_the_reverse() -> None:
    text = (FOLDER / "runbook.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert {section.split("\n", 1)[0] for section in sections} == {alert["alert"] for alert in alerts()}
    for section in sections:
        assert all(word in section for word in ("**Means:**", "**Look:**", "**Do:**")), section
    for alert in alerts():
        assert alert["annotations"]["runbook_url"] == f"runbook.md#{alert['alert'].lower()}"
        assert alert["labels"]["severity"] in ("page", "ticket")


def test_rules_name_only_what_is_measured() -> None:
    assert {
        rule.get("alert", rule.get("record")): unknown(rule["expr"]) for rule in rules() if unknown(rule["expr"])
    } == {}
