"""The values that both accept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lobby.matching.rules import choices_overlap
from lobby.matching.seek import Limits, Profile, Span, Wish, normalise, profile
from lobby.matching.settle import Settled, colors, settle
from tests.unit.lobby.builders import NINE, SIX


def of(wish: Wish, limits: Limits = NINE) -> Profile:
    return profile(normalise(wish, limits), limits)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        (Span(22, 34), Span(22, 34), 30),
        (Span(22, 26), Span(24, 34), 26),
        (Span(31, 34), Span(22, 33), 31),
        (Span(28, 28), Span(22, 34), 28),
    ],
)
def test_givens_are_the_number_nearest_to_the_default(one: Span, two: Span, expected: int) -> None:
    assert settle(of(Wish(givens=one)), of(Wish(givens=two)), 30, lambda: True).givens == expected


@pytest.mark.parametrize("heads", [True, False])
def test_what_both_leave_open_goes_by_coin(heads: bool) -> None:
    settled = settle(of(Wish()), of(Wish()), 30, lambda: heads)
    assert settled == Settled("irregular" if heads else "regular", 30, heads, heads)


def test_what_one_asks_for_is_what_both_get() -> None:
    one, two = of(Wish("irregular", highlight=False)), of(Wish(rated=True))
    assert settle(one, two, 30, lambda: True) == Settled("irregular", 30, False, True)


def test_seven_givens_settle_as_irregular_whatever_the_coin() -> None:
    seven, open_range = of(Wish(givens=Span(7, 7)), SIX), of(Wish(), SIX)
    for heads in (True, False):
        settled = settle(seven, open_range, 10, lambda heads=heads: heads)  # type: ignore[misc]
        assert (settled.blocks, settled.givens) == ("irregular", 7)


def test_profiles_that_do_not_overlap_cannot_be_settled() -> None:
    with pytest.raises(ValueError, match="layout"):
        settle(of(Wish("regular")), of(Wish("irregular")), 30, lambda: True)
    with pytest.raises(ValueError, match="switch"):
        settle(of(Wish(rated=True)), of(Wish(rated=False)), 30, lambda: True)


def test_colours_go_by_coin() -> None:
    assert colors("a", "b", lambda: True) == ("a", "b")
    assert colors("a", "b", lambda: False) == ("b", "a")


wishes = st.builds(
    Wish,
    blocks=st.sampled_from([None, "regular", "irregular"]),
    givens=st.tuples(st.integers(8, 12), st.integers(0, 4)).map(lambda t: Span(t[0], min(12, t[0] + t[1]))),
    highlight=st.sampled_from([None, True, False]),
    rated=st.sampled_from([None, True, False]),
)


@given(wishes, wishes, st.booleans())
def test_a_settled_game_is_one_that_both_accept(one: Wish, two: Wish, heads: bool) -> None:
    a, b = of(one, SIX), of(two, SIX)
    if not choices_overlap(a, b):
        return
    settled = settle(a, b, 10, lambda: heads)
    for wish in (one, two):
        assert wish.blocks in (None, settled.blocks)
        assert wish.givens is not None
        assert wish.givens.lo <= settled.givens <= wish.givens.hi
        assert wish.highlight in (None, settled.highlight)
        assert wish.rated in (None, settled.rated)
