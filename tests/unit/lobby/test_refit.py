"""What becomes of an open seek when its room changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lobby.matching.refit import refit
from lobby.matching.seek import BadSeek, Limits, Profile, Span, Wish, normalise, profile
from lobby.rooms import LobbyRooms
from tests.unit.lobby.builders import BARE, NINE, SIX, STUDY, room

NARROW = Limits(Span(30, 40), Span(30, 40), 32, highlight=True, rated=True)
IRREGULAR = Limits(None, Span(22, 34), 30, highlight=True, rated=True)


@pytest.mark.parametrize(
    ("wish", "before", "after", "left"),
    [
        (Wish(), NINE, NINE, Wish(None, Span(22, 34))),
        (Wish(), NINE, NARROW, Wish(None, Span(30, 34))),
        (Wish(givens=Span(31, 33)), NINE, NARROW, Wish(None, Span(31, 33))),
        (Wish(givens=Span(22, 29)), NINE, NARROW, None),
        (Wish(rated=True), NINE, STUDY, None),
        (Wish(), NINE, STUDY, Wish(None, Span(22, 34), rated=False)),
        (Wish(highlight=True), NINE, BARE, None),
        (Wish(highlight=None), NINE, BARE, Wish(None, Span(22, 34), highlight=False)),
        (Wish("regular"), NINE, IRREGULAR, None),
        (Wish(), NINE, IRREGULAR, Wish("irregular", Span(22, 34))),
        (Wish(rating=Span(1, 2)), NINE, NARROW, Wish(None, Span(30, 34), rating=Span(1, 2))),
    ],
)
def test_a_wish_keeps_what_the_room_still_allows(wish: Wish, before: Limits, after: Limits, left: Wish | None) -> None:
    assert refit(normalise(wish, before), after) == left


def _limits() -> st.SearchStrategy[Limits]:
    spans = st.tuples(st.integers(5, 40), st.integers(0, 12)).map(lambda pair: Span(pair[0], pair[0] + pair[1]))
    maybe = st.one_of(st.none(), spans)
    return st.builds(Limits, maybe, maybe, st.just(30), st.booleans(), st.booleans()).filter(
        lambda limits: limits.regular is not None or limits.irregular is not None
    )


def _wishes() -> st.SearchStrategy[Wish]:
    spans = st.tuples(st.integers(5, 40), st.integers(0, 12)).map(lambda pair: Span(pair[0], pair[0] + pair[1]))
    switch = st.sampled_from([None, True, False])
    return st.builds(Wish, st.sampled_from([None, "regular", "irregular"]), st.one_of(st.none(), spans), switch, switch)


def _games(profile: Profile) -> set[tuple[str, int, bool, bool]]:
    """Every game that a seek may lead to."""
    both = (True, False)
    return {
        (blocks, givens, highlight, rated)
        for blocks, span in (("regular", profile.regular), ("irregular", profile.irregular))
        if span is not None
        for givens in range(span.lo, span.hi + 1)
        for highlight in (both if profile.highlight is None else (profile.highlight,))
        for rated in (both if profile.rated is None else (profile.rated,))
    }


def _everything(limits: Limits) -> set[tuple[str, int, bool, bool]]:
    """Every game that a room allows."""
    return _games(profile(normalise(Wish(), limits), limits))


@given(_wishes(), _limits(), _limits())
def test_what_is_left_is_exactly_what_the_player_asked_for_and_the_room_allows(
    wish: Wish, before: Limits, after: Limits
) -> None:
    try:
        asked = normalise(wish, before)
    except BadSeek:
        return
    left = refit(asked, after)
    wanted = _games(profile(asked, before)) & _everything(after)
    if left is None:
        assert not _consenting(asked, before) & _everything(after)
    else:
        assert _games(profile(left, after)) <= _consenting(asked, before) & _everything(after)
        assert wanted <= _games(profile(left, after))
        assert refit(left, after) == left


def _consenting(asked: Wish, before: Limits) -> set[tuple[str, int, bool, bool]]:
    """Every game that the player has agreed to, also with blocks that the room of then did not have."""
    givens = asked.givens or before.givens
    return _games(
        Profile(
            givens if asked.blocks in (None, "regular") else None,
            givens if asked.blocks in (None, "irregular") else None,
            asked.highlight,
            asked.rated,
        )
    )


def test_the_difference_of_two_files() -> None:
    rooms = LobbyRooms((room("a", NINE), room("b", NINE), room("c", NINE), room("d", SIX, "blitz")))
    same = rooms.get("a")
    difference = rooms.become(
        LobbyRooms((room("a", NINE), room("b", STUDY), room("d", NINE, "domains"), room("e", NINE)))
    )
    assert difference.gone == {"c", "d"}
    assert difference.changed == {"b"}
    assert rooms.ids == ["a", "b", "d", "e"]
    assert rooms.get("a") == same
