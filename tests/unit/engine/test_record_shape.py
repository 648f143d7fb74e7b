"""The shape of records: every way to be malformed, and what is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablesvc.engine.errors import Malformed
from tablesvc.engine.record import as_dict, from_events
from tablesvc.engine.record_shape import parse
from tests.unit.engine.playing import deal_names
from tests.unit.engine.test_record_check import blitz, bridge
from tests.unit.engine.test_whole_games import play_out

Json = dict[str, Any]
OPTIONAL = [
    ("game",),
    ("room",),
    ("players",),
    ("started_at",),
    ("ended_at",),
    ("moves", 0, "used_ms"),
    ("moves", 0, "at"),
]
REQUIRED = [
    ("format",), ("settings",), ("deal",), ("hands",), ("moves",),
    *[("settings", name) for name in ("variant", "side", "blocks", "givens", "claim_price", "highlight", "rated")],
    ("settings", "move_ms"), ("settings", "game_ms"),
    ("deal", "blocks"), ("deal", "solution"), ("deal", "givens"), ("hands", "blue"), ("hands", "red"),
    ("players", "blue"), ("players", "red"), ("players", "blue", "id"), ("players", "red", "name"),
    ("moves", 0, "by"), ("moves", 0, "kind"), ("moves", 0, "drew"), ("moves", 0, "cell"), ("moves", 0, "paid"),
    ("moves", 1, "cell"), ("moves", 2, "tile"), ("moves", 2, "hit"), ("moves", 2, "cell"), ("moves", 5, "drew"),
    ("end", "result"), ("end", "reason"),
]  # fmt: skip


def whole() -> Json:
    return bridge() | {"end": {"result": "blue", "reason": "resign"}, "ended_at": 5}


def at(record: Json, path: tuple[str | int, ...]) -> Any:
    place: Any = record
    for step in path:
        place = place[step]
    return place


def refused(raw: bytes | Json) -> str:
    with pytest.raises(Malformed) as malformed:
        parse(raw if isinstance(raw, bytes) else json.dumps(raw).encode())
    return str(malformed.value)


def test_a_whole_record_is_read_and_written_back_the_same() -> None:
    record = whole()
    assert as_dict(parse(json.dumps(record).encode())) == record


@pytest.mark.parametrize("path", OPTIONAL)
def test_optional_fields_may_be_missing_but_not_of_another_type(path: tuple[str | int, ...]) -> None:
    record = whole()
    del at(record, path[:-1])[path[-1]]
    parse(json.dumps(record).encode())
    for wrong in (None, True, [1], 1.5):
        record = whole()
        at(record, path[:-1])[path[-1]] = wrong
        assert str(path[-1]) in refused(record)


@pytest.mark.parametrize("path", REQUIRED)
def test_required_fields_are_there_and_of_their_type(path: tuple[str | int, ...]) -> None:
    record = whole()
    value = at(record, path)
    del at(record, path[:-1])[path[-1]]
    assert refused(record).endswith(f"{path[-1]}: missing")
    wrongs: list[object] = [None, [[]], {"a": 1}, 1.5, "x", 1, True, False]
    for wrong in wrongs:
        if type(wrong) is type(value) and not isinstance(wrong, str | list | dict):
            continue
        if path[-1] in ("id", "name", "blocks") and isinstance(wrong, str):
            continue
        record = whole()
        at(record, path[:-1])[path[-1]] = wrong
        assert str(path[-1]) in refused(record)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("format",), "numbridge.record/2", "format"),
        (("settings", "variant"), "hex", "settings.variant"),
        (("settings", "side"), 6, "settings.side"),
        (("settings", "claim_price"), 0, "settings.claim_price"),
        (("settings", "claim_price"), 3, "settings.claim_price"),
        (("settings", "rated"), 1, "settings.rated"),
        (("settings", "givens"), True, "settings.givens"),
        (("settings", "givens"), 30.0, "settings.givens"),
        (("deal", "solution"), "1" * 80, "deal.solution: not 81"),
        (("deal", "solution"), "0" + "1" * 80, "deal.solution: a character"),
        (("deal", "solution"), "." + "1" * 80, "deal.solution: a character"),
        (("deal", "givens"), "x" + "." * 80, "deal.givens: a character"),
        (("deal", "blocks"), "A" + "a" * 80, "deal.blocks: a character"),
        (("deal", "blocks"), "a" * 82, "deal.blocks: not 81"),
        (("hands", "blue"), [1, 2, 10], "hands.blue"),
        (("hands", "blue"), [0, 2, 3], "hands.blue"),
        (("hands", "red"), [1, True, 3], "hands.red"),
        (("hands", "red"), ["1", 2, 3], "hands.red"),
        (("players", "red", "rating"), "1500", "players.red.rating"),
        (("players", "red", "rating"), True, "players.red.rating"),
        (("players", "red", "rating"), None, "players.red.rating"),
        (("moves", 0), [], "moves[0]: not an object"),
        (("moves", 0, "by"), "green", "moves[0].by"),
        (("moves", 0, "kind"), "offer", "moves[0].kind"),
        (("moves", 0, "cell"), "j1", "moves[0].cell"),
        (("moves", 0, "cell"), "a10", "moves[0].cell"),
        (("moves", 0, "cell"), "A1", "moves[0].cell"),
        (("moves", 0, "cell"), "a01", "moves[0].cell"),
        (("moves", 1, "cell"), "", "moves[1].cell"),
        (("moves", 2, "tile"), 10, "moves[2].tile"),
        (("moves", 2, "tile"), 0, "moves[2].tile"),
        (("moves", 2, "hit"), 1, "moves[2].hit"),
        (("moves", 2, "drew"), [0], "moves[2].drew"),
        (("moves", 2, "drew"), [1.0], "moves[2].drew"),
        (("moves", 0, "paid"), [-1], "moves[0].paid"),
        (("end",), None, "end"),
        (("end", "result"), "green", "end.result"),
        (("end", "reason"), "boredom", "end.reason"),
    ],
)
def test_values_out_of_range(path: tuple[str | int, ...], value: object, said: str) -> None:
    record = whole()
    at(record, path[:-1])[path[-1]] = value
    assert refused(record).startswith(said)


def test_digits_and_cells_of_blitz_end_at_six() -> None:
    for path, value in ((("moves", 0, "cell"), "g1"), (("moves", 1, "tile"), 7), (("hands", "red"), [7, 1, 1])):
        record = blitz()
        at(record, path[:-1])[path[-1]] = value
        assert str(path[-1]) in refused(record)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "a record is an object"),
        (b"null", "a record is an object"),
        (b"{} {}", "not JSON"),
        (b"{'format': 1}", "not JSON"),
        (b'{"format": "\xff"}', "not UTF-8: byte 12"),
        (b'\xef\xbb\xbf{"format": "x"}', "a byte order mark"),
        ('{"format": "x"}'.encode("utf-16"), "not UTF-8"),
        (b'{"x": NaN}', "not JSON: NaN"),
        (b'{"x": -Infinity}', "not JSON: -Infinity"),
        (b'{"x": ' + b"9" * 5000 + b"}", "a number with too many digits"),
        (b'{"x": ' + b"[" * 64 + b"]" * 64 + b"}", "nested over 64 deep"),
        (b"[" * 100_000 + b"]" * 100_000, "nested over 64 deep"),
        (b'{"x":' * 100_000 + b"1" + b"}" * 100_000, "nested over 64 deep"),
        (b'{"x": "\n"}', "not JSON"),
    ],
)
def test_bytes_that_are_no_record(raw: bytes, said: str) -> None:
    assert refused(raw).startswith(said)


def test_unknown_fields_are_ignored_as_deep_as_64() -> None:
    record = whole()
    deep: object = 1
    for _ in range(63):
        deep = [deep]
    record["more"] = deep
    record["moves"][0] |= {"more": {"NaN": 1}, "tile": "not looked at in a claim"}
    record["settings"]["more"] = 1e999 > 1
    assert parse(json.dumps(record).encode()).game == "g"


def test_a_rating_may_have_a_fraction_but_no_end() -> None:
    record = whole()
    record["players"]["red"]["rating"] = 1499.6
    red = parse(json.dumps(record).encode()).red
    assert red is not None
    assert red.rating == 1500
    text = json.dumps(record).replace("1499.6", "1e999")
    assert refused(text.encode()) == "players.red.rating: not a number"


def test_of_a_name_that_occurs_twice_the_last_counts() -> None:
    text = json.dumps(whole())
    assert parse((text[:-1] + ', "game": "again"}').encode()).game == "again"


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_are_refused_politely(raw: bytes) -> None:
    with pytest.raises(Malformed):
        parse(raw)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(path=st.sampled_from([*REQUIRED, *OPTIONAL]), value=JSON)
def test_any_value_in_any_place_is_read_or_refused_politely(path: tuple[str | int, ...], value: object) -> None:
    record = whole()
    at(record, path[:-1])[path[-1]] = value
    raw = json.dumps(record).replace("Infinity", "1e999").encode()
    try:
        read = parse(raw)
    except Malformed:
        return
    assert as_dict(parse(json.dumps(as_dict(read)).encode())) == as_dict(read)


@pytest.mark.parametrize("variant", ["bridge", "blitz", "domains"])
def test_what_is_written_is_read_back_the_same(variant: str) -> None:
    for seed, name in enumerate(deal_names(variant)[:3]):
        game = play_out(variant, name, 1 + seed % 2, seed, 0.8)
        record = from_events("g", game.events)
        assert parse(json.dumps(as_dict(record)).encode()) == record


def test_a_history_begins_with_its_opening() -> None:
    with pytest.raises(ValueError, match="Opened"):
        from_events("g", [])
