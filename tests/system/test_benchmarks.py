"""The benchmarks run, play without an error, and compare two things in a run; what they say of speed is not judged."""

import json

import pytest

from bench import accepts, churn, matching, move, scale, seating, soak
from tests.helpers.cluster import Cluster


@pytest.mark.timeout(120)
def test_where_a_moves_time_goes(capsys: pytest.CaptureFixture[str]) -> None:
    assert move.main(["--tables", "2", "--seconds", "0.5", "--sync", "2m"]) == 0
    rows = {line[:40].strip(): line[40:].split() for line in capsys.readouterr().out.splitlines()}
    for process in ("table-1", "gateway-1", "nats", "all servers"):
        cluster, bare, ratio = map(float, rows[process])
        assert cluster > 0
        assert bare > 0
        assert ratio > 0
    assert float(rows["moves/s"][0]) > 0


def test_what_matching_costs_the_core(capsys: pytest.CaptureFixture[str]) -> None:
    assert matching.main(["--only", "core", "--json", "--sizes", "50,90"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line]
    assert [row["open"] for row in rows] == [50, 90]
    assert all(row["pairs"] > 0 for row in rows)


@pytest.mark.parametrize("rate", [0.0, 50.0])
async def test_what_matching_costs_on_the_whole_path_and_every_pair_is_seated(cluster: Cluster, rate: float) -> None:
    run = await seating.measure(cluster, "study", rate, 5)
    row = run.row()
    assert (row["pairs"], row["seated"], row["refused"]) == (5, 5, 0)
    assert 0 < row["median_ms"] <= row["worst_ms"]
    assert "gateway-1" in seating.report([run])


async def test_of_many_who_accept_at_once_one_gets_the_seat_round_after_round(cluster: Cluster) -> None:
    outcome = await accepts.measure(cluster, clients=12, rounds=3)
    assert outcome.wrong == []
    assert dict(outcome.answers) == {(("gone", 11), ("ok", 1)): 3}


async def test_seeks_that_are_matched_cancelled_and_abandoned(cluster: Cluster) -> None:
    done = await churn.wave(cluster.urls, 8, "study")
    assert done == {"matched": 4, "cancelled": 2, "abandoned": 2}


def test_churn_tells_what_is_left() -> None:
    before = {"lobby-1 numbridge_asyncio_tasks": 20.0, "Redis a": 3.0, "Redis b": 1.0}
    assert churn.left(before, {"lobby-1 numbridge_asyncio_tasks": 24.0, "Redis a": 3.0}) == []
    assert churn.left(before, {"lobby-1 numbridge_asyncio_tasks": 25.0, "Redis a": 4.0, "Redis c": 1.0}) == [
        "Redis a: 3 then 4", "Redis c: 0 then 1", "lobby-1 numbridge_asyncio_tasks: 20 then 25",
    ]  # fmt: skip


@pytest.mark.timeout(120)
def test_how_cost_grows_with_games(capsys: pytest.CaptureFixture[str]) -> None:
    assert scale.main(["games", "--sizes", "2,6", "--seconds", "0.5"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:3]]
    assert [row[0] for row in rows] == ["2", "6"]
    assert all(float(row[1]) > 0 for row in rows)


@pytest.mark.timeout(120)
def test_how_long_a_killed_workers_games_stand_still(capsys: pytest.CaptureFixture[str]) -> None:
    assert scale.main(["takeover", "--sizes", "8"]) == 0
    games, stood, first, _, last = map(float, capsys.readouterr().out.splitlines()[1].split())
    assert 0 < stood <= games == 8
    assert 0 < first <= last


@pytest.mark.timeout(120)
def test_whether_anything_grows(capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.main(["--minutes", "0.15", "--games", "4"]) == 0
    said = capsys.readouterr().out
    assert "errors: none" in said
    assert "says nothing of growth" in said


def test_soak_tells_growth_from_wandering() -> None:
    steady = [100.0, 108.0, 101.0, 105.0] * 10
    rising = [100.0 + 2 * number for number in range(40)]
    table, grown = soak.judge({"MiB gateway-1": steady, "Redis keys": rising, "few": [1.0] * 20 + [9.0] * 20})
    assert grown == ["Redis keys"]
    assert len(table.splitlines()) == 4


@pytest.mark.parametrize("sizes", ["", "0", "9,3", "x", "3,3", "99999"])
def test_sizes_that_are_none_are_refused(sizes: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        scale.main(["games", "--sizes", sizes])
    assert ended.value.code == 2
