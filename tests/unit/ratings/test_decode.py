"""What counts as a result, and what is set aside."""

from collections.abc import Callable

import pytest

from numbridge.v1 import log_pb2
from ratings.decode import Poison, decode_result
from ratings.domain import Seated
from tests.unit.ratings.builders import SETTINGS, T0, a_result, subject_of

Spoil = Callable[[log_pb2.GameResult], object]


def test_result_becomes_a_finished_game() -> None:
    result = a_result("ada", "bob", "draw", rated=False)
    game = decode_result(subject_of(result), result.SerializeToString())
    assert game.record == result.record
    assert game.final_view == result.final_view
    head = game.head
    assert (head.game, head.room, head.variant, head.rated) == (result.game, "bridge", "bridge", False)
    assert (head.result, head.reason, head.version) == ("draw", "resign", 12)
    assert (head.started_at, head.ended_at) == (T0 - 60_000, T0)
    assert head.settings == SETTINGS | {"rated": False}
    assert head.blue == Seated("ada", "Ada", 1500)
    assert head.red == Seated("bob", "Bob", None)


def test_name_that_cannot_be_kept_costs_nobody_a_game() -> None:
    result = a_result()
    result.summary.blue.name = "A\0" * 40
    result.summary.red.name = ""
    head = decode_result(subject_of(result), result.SerializeToString()).head
    assert head.blue.name == "A" * 32
    assert head.red.name == "bob"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r: setattr(r, "game", "07-another"),
        lambda r: setattr(r.summary, "game", "07-another"),
        lambda r: setattr(r, "result", "purple"),
        lambda r: setattr(r, "reason", ""),
        lambda r: setattr(r, "reason", "re\0sign"),
        lambda r: setattr(r, "ended_at", 0),
        lambda r: setattr(r, "record", b"[1]"),
        lambda r: setattr(r, "record", b'{"format": "\xff"}'),
        lambda r: setattr(r, "final_view", b""),
        lambda r: setattr(r.summary.settings, "variant", "chess"),
        lambda r: setattr(r.summary.red, "id", "ada"),
        lambda r: setattr(r.summary.red, "id", ""),
        lambda r: setattr(r.summary.red, "id", "x" * 65),
        lambda r: setattr(r.summary.red, "id", "x\0"),
        lambda r: r.ClearField("summary"),
    ],
)
def test_message_with_a_flaw_is_no_result(spoil: Spoil) -> None:
    result = a_result("ada", "bob")
    subject = subject_of(result)
    spoil(result)
    with pytest.raises(Poison):
        decode_result(subject, result.SerializeToString())


@pytest.mark.parametrize("payload", [b"\xff\xff\xff", b"", b"{}"])
def test_other_bytes_are_no_result(payload: bytes) -> None:
    with pytest.raises(Poison):
        decode_result("result.7.07-abc", payload)


@pytest.mark.parametrize("subject", ["result.7", "result.7.x.y", ""])
def test_other_subjects_hold_no_result(subject: str) -> None:
    with pytest.raises(Poison):
        decode_result(subject, a_result().SerializeToString())
