"""Levels are judged by their goals, and a report says in words and pictures what its numbers are."""

import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from numbridge.load import report as pages
from numbridge.load.run import Outcome, Plan, describe
from numbridge.load.tally import Goals, Level, Tally, judge, percentile

PLAN = Plan(["http://club.example"], "study", 5.0, 1.0, 10.0, 1, 50, 400, 0.1)
GOALS = Goals()


def level(games: int, shown_ms: float, *, generator: float = 0.2, tally: Tally | None = None) -> Level:
    seen = tally or Tally(shown=[shown_ms / 1000] * 100, answered=[0.001] * 100, seated=[0.01] * 5, late=[0.001])
    return judge(seen, GOALS, games, 10.0, generator, {"table-1": 0.5}, {"table-1": 80.0}, overdue=0)


def report(*levels: Level, games: int, limited: str = "") -> dict[str, Any]:
    outcome = Outcome(games, limited, list(levels))
    made = pages.as_json(PLAN, GOALS, outcome, started_at="2026-01-01T00:00:00+00:00", deployment={"table": 1})
    read: dict[str, Any] = json.loads(json.dumps(made))
    return read


def test_a_percentile_is_a_value_that_so_many_do_not_exceed() -> None:
    assert percentile([], 0.99) == 0
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([float(n) for n in range(1, 101)], 0.99) == 100.0


def test_a_level_that_meets_every_goal_holds() -> None:
    assert level(50, 20.0).held
    assert level(50, 20.0).moves_per_s == 10.0


@pytest.mark.parametrize(
    ("tally", "says"),
    [
        (Tally(), "no move was made"),
        (Tally(shown=[0.2] * 100), "99 % of moves were shown within 200 ms, not 100"),
        (Tally(shown=[0.01] * 100, seated=[9.0] * 20), "95 % of seeks were seated within 9000 ms, not 5000"),
        (Tally(shown=[0.01] * 100), "1 of 101 requests failed"),
    ],
)
def test_a_missed_goal_is_named(tally: Tally, says: str) -> None:
    if "failed" in says:
        tally.errors["play unavailable"] += 1
    missed = level(50, 0.0, tally=tally)
    assert missed.failed == [says]
    assert missed.valid
    assert not missed.held
    assert says in describe(missed)


@pytest.mark.parametrize("fault", [{"generator": 0.95}, {"tally": Tally(shown=[0.01] * 100, late=[0.5] * 100)}])
def test_a_saturated_generator_makes_a_level_invalid(fault: dict[str, Any]) -> None:
    invalid = level(50, 20.0, **fault)
    assert not invalid.valid
    assert not invalid.held
    assert "generator is the limit" in describe(invalid)


def test_a_report_says_its_claim_and_holds_all_levels() -> None:
    made = report(level(50, 20.0), level(100, 60.0), level(200, 140.0), games=100)
    assert pages.claim(made).startswith("100 games at once (10 moves/s)")
    page = pages.as_page(made)
    assert page.count("<svg") == 5
    assert "not 100" in page
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(svg)
    assert "http" not in re.sub(r'(xmlns[:\w]*|rdf:\w+|xlink:\w+)="[^"]*"', "", page).replace("http://club.example", "")


def test_a_report_without_an_answer_says_so() -> None:
    assert pages.claim(report(level(50, 900.0), games=0)) == "No level met the goals."


def test_a_report_says_when_the_run_was_not_limited_by_the_deployment() -> None:
    assert "limited by the generator" in pages.claim(report(level(50, 20.0), games=50, limited="the generator"))


def test_two_reports_are_compared_level_by_level() -> None:
    before = report(level(50, 20.0), level(100, 60.0), games=50)
    after = report(level(100, 30.0), games=100)
    text = pages.compare(before, after)
    assert re.search(r"games that hold\s+50\s+100\s+2\.00", text)
    assert re.search(r"100 games: shown, 99 % ms\s+60\s+30\s+0\.50", text)
    assert "50 games:" not in text
    assert "not the same" not in text
    assert "not the same: goals" in pages.compare(before, {**after, "goals": {}})
