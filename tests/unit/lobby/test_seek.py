"""What a room makes of a wish."""

import pytest

from lobby.matching.seek import BadSeek, Profile, Span, Wish, normalise, profile
from tests.unit.lobby.builders import BARE, NINE, SIX, STUDY


def test_a_bare_wish_gets_the_rooms_limits() -> None:
    assert normalise(Wish(), NINE) == Wish(None, Span(22, 34), None, None, None)


def test_what_the_room_has_not_is_false() -> None:
    assert normalise(Wish(), STUDY).rated is False
    assert normalise(Wish(rated=False), STUDY).rated is False
    assert normalise(Wish(), BARE).highlight is False
    assert normalise(Wish(highlight=False), BARE).highlight is False


@pytest.mark.parametrize(
    ("wish", "limits", "field", "says"),
    [
        (Wish(rated=True), STUDY, "rated", "not rated"),
        (Wish(highlight=True), BARE, "highlight", "not allowed"),
        (Wish(givens=Span(21, 21)), NINE, "givens", "22 to 34"),
        (Wish(givens=Span(30, 35)), NINE, "givens", "22 to 34"),
        (Wish(givens=Span(31, 30)), NINE, "givens", "22 to 34"),
        (Wish(rating=Span(1600, 1500)), NINE, "rating", "1600"),
        (Wish(blocks="regular", givens=Span(7, 7)), SIX, "givens", "exactly one solution"),
        (Wish(givens=Span(6, 9)), SIX, "givens", "7 to 12"),
    ],
)
def test_a_wish_outside_the_limits_names_field_and_limits(wish: Wish, limits: object, field: str, says: str) -> None:
    with pytest.raises(BadSeek) as refused:
        normalise(wish, limits)  # type: ignore[arg-type]
    assert refused.value.field == field
    assert field in str(refused.value)
    assert says in str(refused.value)


def test_seven_givens_with_open_blocks_become_irregular() -> None:
    assert normalise(Wish(givens=Span(7, 7)), SIX) == Wish("irregular", Span(7, 7))


def test_a_regular_range_loses_the_seven() -> None:
    assert normalise(Wish("regular", Span(7, 9)), SIX).givens == Span(8, 9)
    assert normalise(Wish("regular"), SIX).givens == Span(8, 12)


def test_an_open_range_keeps_the_seven_for_irregular_blocks_alone() -> None:
    wish = normalise(Wish(givens=Span(7, 9)), SIX)
    assert wish == Wish(None, Span(7, 9))
    assert profile(wish, SIX) == Profile(Span(8, 9), Span(7, 9), None, None)


def test_an_irregular_wish_may_have_seven() -> None:
    assert normalise(Wish("irregular", Span(7, 7)), SIX).givens == Span(7, 7)
