"""`numbridge capacity` against a running cluster, and what it says when it can't."""

import json
from pathlib import Path

import pytest

from tests.helpers.cluster import command, running


@pytest.mark.timeout(180)
def test_it_finds_how_many_games_hold_and_writes_its_report(tmp_path: Path) -> None:
    page = tmp_path / "capacity.html"
    quick = ["--from", "4", "--to", "8", "--think", "0.3", "--settle", "0.5", "--seconds", "4", "--report", str(page)]
    with running(tmp_path / "data", "--workers", "1", "--no-limits") as cluster:
        done = command("capacity", "--data", str(cluster.data), "--p99-ms", "5000", *quick)
    assert done.returncode == 0, done.stderr
    assert "8 games at once" in done.stdout
    assert "4 games: " in done.stderr
    report = json.loads(page.with_suffix(".json").read_text())
    assert report["games"] == 8
    assert report["deployment"]["table"] == 1
    levels = {level["games"]: level for level in report["levels"]}
    assert set(levels) == {4, 8}
    assert levels[8]["moves"] > levels[4]["moves"] > 0
    assert levels[8]["errors"] == {}
    assert levels[4]["seats"] + levels[8]["seats"] > 0  # games end and new ones begin
    assert levels[8]["cpu"]["table-1"] > 0
    assert levels[8]["memory_mib"]["nats"] > 0
    assert "<svg" in page.read_text()

    path = str(page.with_suffix(".json"))
    compared = command("capacity", "--compare", path, path)
    assert compared.returncode == 0
    assert "games that hold" in compared.stdout


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["--url", "club.example"], 2, "no address"),
        (["--url", "http://127.0.0.1:9", "--seconds", "1"], 1, "can't connect"),
        (["--from", "0"], 2, "not above 0"),
        (["--from", "9", "--to", "3", "--url", "http://127.0.0.1:9"], 2, "--from must not be above --to"),
        (["--compare", "no.json", "no.json"], 2, "no.json"),
        (["--report", "/no/such/folder/x.html", "--url", "http://127.0.0.1:9"], 2, "/no/such/folder"),
    ],
)
def test_it_says_in_one_line_what_is_wrong(args: list[str], code: int, says: str, tmp_path: Path) -> None:
    if "--report" not in args:
        args = [*args, "--report", str(tmp_path / "x.html")]
    done = command("capacity", *args)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if "seating" not in line]) == 1
