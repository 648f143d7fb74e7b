"""The rooms file: the club's own four, and everything that can be wrong with another."""

import re
from dataclasses import FrozenInstanceError
from importlib import resources
from pathlib import Path

import pytest

from numbridge.rooms import Room, RoomsError, givens_limits, load, parse, why_not_regular
from tablesvc.dealing.dealer import fewest_givens

ROOT = Path(__file__).parents[2]
GOOD = """
# one of a club's own
[[room]]
id = "quick"
name = "Quick"
variant = "blitz"
givens = { min = 7, max = 12, default = 10 }
claim_price = 2
move_ms = 1500
game_ms = 20000
highlight = true
rated = true
"""


def problems(text: str) -> list[str]:
    with pytest.raises(RoomsError) as refused:
        parse(text.encode())
    return refused.value.problems


def test_the_clubs_rooms() -> None:
    shown = {
        room.id: (
            room.name,
            room.variant,
            room.side,
            room.givens.min,
            room.givens.max,
            room.givens.default,
            room.claim_price,
            room.move_ms,
            room.game_ms,
            room.highlight,
            room.rated,
        )
        for room in load()
    }
    assert shown == {
        "bridge": ("Numbridge Bridge", "bridge", 9, 22, 34, 30, 1, 60_000, 900_000, True, True),
        "study": ("Numbridge Study", "bridge", 9, 22, 34, 30, 1, 120_000, 1_800_000, True, False),
        "blitz": ("Numbridge Blitz", "blitz", 6, 7, 12, 10, 2, 30_000, 300_000, True, True),
        "domains": ("Numbridge Domains", "domains", 9, 22, 34, 30, 1, 45_000, 900_000, True, True),
    }


def test_the_file_in_the_repository_is_the_one_in_the_package() -> None:
    packaged = resources.files("numbridge").joinpath("rooms.toml").read_bytes()
    assert (ROOT / "rooms.toml").read_bytes() == packaged
    assert load(ROOT / "rooms.toml") == load()


def test_a_room_shows_itself_as_the_protocol_says() -> None:
    (room,) = parse(GOOD.encode())
    assert room.to_json() == {
        "id": "quick",
        "name": "Quick",
        "variant": "blitz",
        "side": 6,
        "givens": {"min": 7, "max": 12, "default": 10},
        "claim_price": 2,
        "move_ms": 1500,
        "game_ms": 20000,
        "highlight": True,
        "rated": True,
    }


def test_a_room_does_not_change() -> None:
    (room,) = parse(GOOD.encode())
    with pytest.raises(FrozenInstanceError):
        room.rated = False  # type: ignore[misc]


def test_what_else_a_room_may_have_is_optional() -> None:
    (plain,) = parse(GOOD.encode())
    (tuned,) = parse(
        f"{GOOD}tolerance_start = 50\ntolerance_per_s = 5\ntolerance_max = 300\nguests = false\nside = 6".encode()
    )
    assert (tuned.tolerance_start, tuned.tolerance_per_s, tuned.tolerance_max, tuned.guests) == (50, 5, 300, False)
    assert plain.guests
    assert plain.tolerance_start <= plain.tolerance_max


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('variant = "blitz"', 'variant = "chess"', "line 6: room 'quick': variant is 'chess'; it must be bridge"),
        ('variant = "blitz"\n', "", "line 3: room 'quick': variant is missing"),
        ('id = "quick"', 'id = "Quick one"', "line 4: room 'Quick one': id must be 1 to 32"),
        ('id = "quick"', "id = 7", "line 4: room number 1: id is 7; it must be a text"),
        ('name = "Quick"', 'name = ""', "line 5: room 'quick': name must be 1 to 64"),
        ("claim_price = 2", "claim_price = 3", "line 8: room 'quick': claim_price is 3; it must be 1 to 2"),
        ("claim_price = 2", "claim_price = true", "claim_price is True; it must be a whole number"),
        ("move_ms = 1500", 'move_ms = "1500"', "line 9: room 'quick': move_ms is '1500'; it must be a whole number"),
        ("move_ms = 1500", "move_ms = 0", "move_ms is 0; it must be "),
        ("game_ms = 20000\n", "", "line 3: room 'quick': game_ms is missing"),
        ("rated = true", "rated = 1", "line 12: room 'quick': rated is 1; it must be true or false"),
        ("rated = true", "rate = true", "line 12: room 'quick': rate is no setting of a room"),
        ("rated = true", "side = 9", "line 12: room 'quick': side is 9; it follows from the variant and is 6"),
        ("rated = true", "tolerance_max = 1", "tolerance_max is 1, under tolerance_start"),
        ("{ min = 7, max = 12, default = 10 }", "30", "line 7: room 'quick': givens must be a table"),
        ("default = 10", "default = 13", "line 7: room 'quick': givens has default 13 outside 7 to 12"),
        ("min = 7", "min = 4", "line 7: room 'quick': givens are 4 to 12; on this field they must be 5 to 36"),
        ("max = 12", "max = 37", "givens are 7 to 37; on this field they must be 5 to 36"),
        ("min = 7", "min = 7, mid = 8", "givens has an unknown key 'mid'"),
        (", default = 10", "", "givens needs whole numbers min, max and default"),
        ("# one of a club's own", "limit = 3", "line 1: unknown key 'limit'"),
    ],
)
def test_every_problem_names_its_line_room_field_and_limit(old: str, new: str, said: str) -> None:
    assert old in GOOD
    (only,) = problems(GOOD.replace(old, new))
    assert said in only


def test_all_problems_of_all_rooms_are_listed_together() -> None:
    other = GOOD.replace('"quick"', '"slow"').replace("move_ms = 1500", "move_ms = -1")
    found = problems(GOOD.replace("claim_price = 2", "claim_price = 0").replace("true", "7") + other)
    assert [problem.split(":")[0] for problem in found] == ["line 8", "line 11", "line 12", "line 21"]
    assert ["'quick'" in problem for problem in found] == [True, True, True, False]


def test_two_rooms_of_one_id() -> None:
    assert problems(GOOD + GOOD) == ["line 16: room 'quick' is there twice"]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "no [[room]]"),
        (b'room = "bridge"', "no [[room]]"),
        (b"[room]\nid = 1", "no [[room]]"),
        (b"[[room]\n", "not TOML"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_file_that_holds_no_rooms(raw: bytes, said: str) -> None:
    with pytest.raises(RoomsError, match=re.escape(said)):
        parse(raw)


def test_a_file_of_too_many_rooms() -> None:
    many = "".join(GOOD.replace('"quick"', f'"quick{number}"') for number in range(201))
    assert problems(many) == ["there are 201 rooms; the limit is 200"]


def room_with(low: int, high: int, variant: str = "blitz") -> Room:
    text = GOOD.replace("min = 7, max = 12, default = 10", f"min = {low}, max = {high}, default = {high}")
    return parse(text.replace('"blitz"', f'"{variant}"').encode())[0]


@pytest.mark.parametrize(
    ("room", "regular", "irregular"),
    [
        (room_with(7, 12), (8, 12), (7, 12)),
        (room_with(9, 12), (9, 12), (9, 12)),
        (room_with(5, 7), (8, 7), (5, 7)),
        (room_with(22, 34, "bridge"), (22, 34), (22, 34)),
        (room_with(22, 81, "domains"), (22, 81), (22, 81)),
    ],
)
def test_a_lower_limit_below_what_regular_blocks_can_have_holds_for_irregular_ones_only(
    room: Room, regular: tuple[int, int], irregular: tuple[int, int]
) -> None:
    assert givens_limits(room, "regular") == regular
    assert givens_limits(room, "irregular") == irregular


def test_the_reason_is_a_sentence() -> None:
    (blitz,) = (room for room in load() if room.id == "blitz")
    assert "6×6" in why_not_regular(blitz)
    assert "regular blocks" in why_not_regular(blitz)


def test_rooms_and_dealer_agree_on_what_cannot_exist() -> None:
    for variant in ("blitz", "bridge"):
        room = room_with(20 if variant == "bridge" else 5, 30, variant)
        low, _ = givens_limits(room_with(14, 30, variant) if variant == "bridge" else room, "regular")
        assert low == fewest_givens(room.side, "regular")
