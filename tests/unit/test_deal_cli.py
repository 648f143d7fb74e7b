"""`numbridge deal`: output, limits, exit codes."""

import json
from pathlib import Path

import pytest

from numbridge.cli.deal import picture
from numbridge.cli.main import main
from tablesvc.dealing.cover import REGULAR
from tablesvc.dealing.layout import is_connected_layout
from tablesvc.dealing.solver import has_unique_solution

Capture = pytest.CaptureFixture[str]

ROOMS = """
[[room]]
id = "odd"
name = "Odd"
variant = "blitz"
givens = { min = 5, max = 7, default = 6 }
claim_price = 1
move_ms = 1000
game_ms = 60000

[[room]]
id = "wide"
name = "Wide"
variant = "bridge"
givens = { min = 17, max = 60, default = 55 }
claim_price = 1
move_ms = 1000
game_ms = 60000
"""


def deal(*arguments: str) -> int:
    """Runs the command; its exit code."""
    with pytest.raises(SystemExit) as end:
        main(["deal", *arguments])
    assert isinstance(end.value.code, int)
    return end.value.code


def deals(capsys: Capture, *arguments: str) -> list[dict[str, str]]:
    """The deals of a call that succeeds, from --json."""
    assert deal("--json", *arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return [json.loads(line) for line in out.splitlines()]


def complaint(capsys: Capture, *arguments: str) -> str:
    """The one line of a call that is refused."""
    assert deal(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    assert len(err.splitlines()) == 1
    return err


@pytest.fixture
def rooms(tmp_path: Path) -> str:
    path = tmp_path / "rooms.toml"
    path.write_text(ROOMS)
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "side", "givens"),
    [
        ("--room bridge", 9, 30),
        ("--room study --givens 22", 9, 22),
        ("--room domains --blocks irregular --givens 34", 9, 34),
        ("--room blitz", 6, 10),
        ("--room blitz --givens 8", 6, 8),
        ("--room blitz --blocks irregular --givens 7", 6, 7),
        ("--room blitz --blocks regular --givens 12", 6, 12),
    ],
)
def test_a_line_of_json_holds_a_whole_deal(capsys: Capture, arguments: str, side: int, givens: int) -> None:
    (made,) = deals(capsys, *arguments.split())
    assert len(made["givens"]) - made["givens"].count(".") == givens
    assert is_connected_layout(side, made["blocks"])
    assert (made["blocks"] == REGULAR[side]) == ("irregular" not in arguments)
    assert has_unique_solution(side, made["blocks"], made["givens"], made["solution"])


def test_a_seed_deals_the_same_again_and_a_series_repeats_nothing(capsys: Capture) -> None:
    call = ("--room", "blitz", "--blocks", "irregular", "--seed", "42", "--count", "20")
    series = deals(capsys, *call)
    assert deals(capsys, *call) == series
    assert len({made["blocks"] + made["givens"] for made in series}) == 20
    assert deals(capsys, *call[:-2]) == series[:1]


def test_each_deal_of_a_series_can_be_had_alone_by_its_seed(capsys: Capture) -> None:
    series = deals(capsys, "--room", "bridge", "--seed", "1", "--count", "3")
    for made in series:
        assert deals(capsys, "--room", "bridge", "--seed", str(made["seed"])) == [made]


def test_without_a_seed_every_call_deals_afresh(capsys: Capture) -> None:
    one, other = (deals(capsys, "--room", "blitz", "--count", "2") for _ in range(2))
    assert len({made["givens"] for made in one + other}) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--room nowhere", "no room 'nowhere'; the rooms are bridge, study, blitz, domains"),
        ("--room blitz --givens 7", "no 6×6 field with regular blocks and fewer than 8 givens"),
        ("--room blitz --givens 6", "8 to 12 givens, not 6"),
        ("--room blitz --blocks irregular --givens 6", "7 to 12 givens, not 6"),
        ("--room blitz --givens 13", "8 to 12 givens, not 13"),
        ("--room bridge --givens 21", "22 to 34 givens, not 21"),
        ("--room bridge --givens -30", "22 to 34 givens, not -30"),
        ("--room bridge --givens many", "--givens"),
        ("--room bridge --count 0", "--count must be 1 to"),
        ("--room bridge --seed x", "--seed"),
        ("--room bridge --blocks any", "--blocks"),
        ("--givens 30", "--room"),
        ("--room bridge --rooms /nowhere/rooms.toml", "/nowhere/rooms.toml: No such file"),
    ],
)
def test_what_is_outside_the_limits_is_one_line_and_exit_code_2(capsys: Capture, arguments: str, said: str) -> None:
    assert said in complaint(capsys, *arguments.split())


def test_another_rooms_file_sets_other_limits(capsys: Capture, rooms: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert deals(capsys, "--room", "wide", "--rooms", rooms)[0]["givens"].count(".") == 26
    monkeypatch.setenv("NUMBRIDGE_ROOMS_FILE", rooms)
    assert deals(capsys, "--room", "odd", "--blocks", "irregular")[0]["givens"].count(".") == 30
    for extra in ((), ("--givens", "7")):
        assert "no 6×6 field with regular blocks" in complaint(capsys, "--room", "odd", *extra)


def test_a_rooms_file_with_a_fault_is_said_in_one_line(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(ROOMS.replace('"blitz"', '"chess"').replace("min = 17", "min = 70"))
    said = complaint(capsys, "--room", "odd", "--rooms", str(path))
    assert "'odd'" in said
    assert "'wide'" in said


def test_a_deal_within_the_limits_that_is_not_found_fails_with_code_1(
    capsys: Capture, rooms: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablesvc.dealing.dealer.FIELDS", {9: 1})
    assert deal("--room", "wide", "--rooms", rooms, "--givens", "17", "--seed", "1") == 1
    _, err = capsys.readouterr()
    assert err == ("numbridge: no deal of side 9 with regular blocks and 17 givens was found (seed 1)\n")


def test_the_picture_is_a_rhombus_with_lines_around_the_blocks() -> None:
    blocks = "aabb" * 2 + "ccdd" * 2
    assert picture(4, blocks, "1.3." + "." * 12).splitlines() == [
        "  ----------------",
        "  | 1   . | 3   . |",
        "  --      --      --",
        "    | .   . | .   . |",
        "    ------------------",
        "      | .   . | .   . |",
        "      --      --      --",
        "        | .   . | .   . |",
        "        ----------------",
    ]


def test_for_eyes_both_fields_are_drawn(capsys: Capture) -> None:
    assert deal("--room", "blitz", "--seed", "3", "--count", "2") == 0
    out, _ = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "Numbridge Blitz: regular blocks, 10 givens, seed 3"
    digits = [line.replace("|", " ").split() for line in lines if line.strip().startswith("|")]
    assert [len(row) for row in digits] == [6] * 24
    for first in (0, 12):
        shown = [cell for row in digits[first : first + 6] for cell in row]
        solved = [cell for row in digits[first + 6 : first + 12] for cell in row]
        assert shown.count(".") == 26
        assert all(cell in (".", digit) for cell, digit in zip(shown, solved, strict=True))
