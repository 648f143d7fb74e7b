"""`numbridge replay`: output, errors, exit codes."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from numbridge.cli.replay import MAX_BYTES, add_parser

GOLDEN = Path(__file__).parents[1] / "golden"


def replay(*arguments: str) -> int:
    """Runs the command in this process; returns its exit code."""
    parser = argparse.ArgumentParser(prog="numbridge")
    add_parser(parser.add_subparsers())
    args = parser.parse_args(["replay", *arguments])
    code = args.run(args)
    assert isinstance(code, int)
    return code


@pytest.fixture(autouse=True)
def _in_the_golden_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)


def files(folder: str) -> list[str]:
    return sorted(str(path) for path in Path(folder).glob("*.json"))


def test_good_golden_records_replay_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay("--json", *files("good")) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == Path("good.expected.jsonl").read_text().splitlines()
    assert err == ""


def test_bad_golden_records_are_refused_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay("--json", *files("bad")) == 2
    out, err = capsys.readouterr()
    assert out.splitlines() == Path("bad.expected.jsonl").read_text().splitlines()
    said = [json.loads(line) for line in out.splitlines()]
    assert err.splitlines() == [f"{line['file']}: {line['error']}" for line in said]


@pytest.mark.parametrize("name", files(str(GOLDEN / "bad")))
def test_the_exit_code_tells_illegal_from_malformed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    malformed = "malformed" in name
    assert replay(name) == (2 if malformed else 1)
    out, err = capsys.readouterr()
    assert len(err.splitlines()) == 1
    assert err.startswith(f"{name}: {'unreadable: ' if malformed else 'ply '}")
    assert "Traceback" not in out + err


def test_it_goes_on_after_a_bad_file_and_exits_with_the_worst_code(capsys: pytest.CaptureFixture[str]) -> None:
    good, illegal, malformed = "good/bare.json", "bad/hit-contradicts.json", "bad/malformed-side.json"
    assert replay("--json", good, illegal, good) == 1
    assert [json.loads(line)["error"] is None for line in capsys.readouterr().out.splitlines()] == [True, False, True]
    assert replay("--json", malformed, illegal, good) == 2
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_the_line_of_a_position() -> None:
    fields = {
        "file", "error", "ply", "to_move", "moves_left", "owners", "field", "hands", "bag", "mistakes", "pie", "legal",
        "result", "reason",
    }  # fmt: skip
    for line in Path("good.expected.jsonl").read_text().splitlines():
        shown = json.loads(line)
        assert set(shown) == fields
        assert set(shown["legal"]) == {"exchange", "claim", "place", "pie"}
        assert shown["bag"] == sorted(shown["bag"])
        assert all(hand == sorted(hand) for hand in shown["hands"].values())


def test_a_malformed_file_has_a_short_line(capsys: pytest.CaptureFixture[str]) -> None:
    replay("--json", "bad/malformed-cell.json")
    shown = json.loads(capsys.readouterr().out)
    assert shown == {
        "file": "bad/malformed-cell.json",
        "error": "unreadable: moves[0].cell: not on the field",
    }


def test_a_fault_shows_the_position_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    replay("--json", "bad/hit-contradicts.json", "bad/hand-short.json")
    before_the_move, no_deal = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (before_the_move["error"][:5], before_the_move["ply"], before_the_move["to_move"]) == ("ply 3", 2, "blue")
    assert (no_deal["error"][:5], no_deal["ply"], no_deal["field"]) == ("ply 0", None, None)


def at_ply(name: str, ply: int, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert replay("--json", "--ply", str(ply), name) == 0
    shown: dict[str, object] = json.loads(capsys.readouterr().out)
    return shown


def test_any_ply_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    name = "good/ended-resign.json"
    record = json.loads(Path(name).read_text())
    deal = at_ply(name, 0, capsys)
    assert (deal["ply"], deal["to_move"], deal["moves_left"], deal["result"]) == (0, "blue", 1, None)
    assert deal["field"] == record["deal"]["givens"]
    assert deal["hands"] == {color: sorted(hand) for color, hand in record["hands"].items()}
    last = len(record["moves"])
    before, end = at_ply(name, last - 1, capsys), at_ply(name, last, capsys)
    assert (before["to_move"], before["result"]) == ("red", None)
    assert (end["to_move"], end["moves_left"], end["pie"], end["reason"]) == (None, 0, False, "resign")
    assert end["legal"] == dict.fromkeys(("exchange", "claim", "place", "pie"), False)


def test_with_a_pass_due_the_passer_is_to_move_and_nothing_is_legal(capsys: pytest.CaptureFixture[str]) -> None:
    name = "good/domains-passes.json"
    moves = json.loads(Path(name).read_text())["moves"]
    at = next(at for at, move in enumerate(moves) if move["kind"] == "pass")
    shown = at_ply(name, at, capsys)
    assert shown["to_move"] == moves[at]["by"]
    assert shown["legal"] == dict.fromkeys(("exchange", "claim", "place", "pie"), False)
    assert shown["bag"] == []


def test_a_ply_past_the_end_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay("--json", "--ply", "3", "good/bare.json", "good/unfinished.json") == 2
    out, err = capsys.readouterr()
    assert [json.loads(line)["error"] for line in out.splitlines()] == ["ply 3: the record ends at ply 2", None]
    assert err == "good/bare.json: ply 3: the record ends at ply 2\n"


def test_the_whole_record_is_checked_whatever_ply_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay("--json", "--ply", "1", "bad/move-after-end.json") == 1
    shown = json.loads(capsys.readouterr().out)
    assert (shown["ply"], shown["error"]) == (1, "ply 81: a move follows the end of the game")


@pytest.mark.parametrize("ply", ["-1", "x", "1.5", "²", ""])
def test_a_ply_that_is_no_number_is_wrong_usage(ply: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        replay(f"--ply={ply}", "good/bare.json")
    assert exited.value.code == 2
    assert "number of moves" in capsys.readouterr().err


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, said in (
        (str(tmp_path / "none.json"), "No such file"),
        (str(tmp_path), "Is a directory"),
        ("a\0b", "null"),
    ):
        assert replay(name, "good/bare.json") == 2
        err = capsys.readouterr().err
        assert "unreadable: " in err
        assert said in err
        assert len(err.splitlines()) == 1


def test_a_file_of_any_size_is_read_no_further_than_the_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    big = tmp_path / "big.json"
    with big.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert replay(str(big)) == 2
    assert f"over {MAX_BYTES} bytes" in capsys.readouterr().err


def test_odd_file_names_stay_on_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = tmp_path / os.fsdecode(b"two\nlines\xff\x1b[31m.json")
    shutil.copy("bad/malformed-cell.json", odd)
    assert replay("--json", str(odd)) == 2
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == len(err.splitlines()) == 1
    assert json.loads(out)["file"] == str(odd)
    assert "\x1b" not in err
    assert replay(str(odd)) == 2


def test_positions_for_eyes(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay("good/bare.json") == 0
    pictures = capsys.readouterr().out.split("\n\n")
    assert pictures[0] == "good/bare.json: blitz, regular blocks, claim price 2"
    assert len(pictures) == 4
    record = json.loads(Path("good/bare.json").read_text())
    lines = pictures[3].splitlines()
    assert lines[0].startswith(
        f"ply 2: red place {record['moves'][1]['tile']} {record['moves'][1]['cell']} hit, draws "
    )
    assert lines[1] == "    a   b   c   d   e   f"
    assert [len(line) - len(line[2:].lstrip()) for line in lines[2:8]] == [4, 6, 8, 10, 12, 14]
    assert "*" in lines[2]
    assert lines[-1] == "blue to move"
    assert replay("--ply", "1", "good/bare.json") == 0
    assert "ply 0" not in capsys.readouterr().out


def test_the_end_for_eyes(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay("good/bridge-regular.json") == 0
    assert capsys.readouterr().out.endswith("over: red, connection\n")


def test_importing_the_command_loads_no_engine() -> None:
    code = "import sys, numbridge.cli.replay; print([m for m in sys.modules if m.startswith('tablesvc')])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert done.stdout == "[]\n"


def test_many_records_cost_little_more_than_reading_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Against the cost of decoding and encoding the same records as JSON, so that a slow machine fares no worse."""
    names = files("good") * 5
    raws = [Path(name).read_bytes() for name in names]
    started = time.process_time()
    for raw in raws:
        json.dumps(json.loads(raw))
    reading = time.process_time() - started
    started = time.process_time()
    assert replay("--json", *names) == 0
    replaying = time.process_time() - started
    capsys.readouterr()
    assert replaying < 60 * reading
