"""The rating model: the author's own example, and what must hold for any players."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratings.model.glicko2 import Outcome, Strength, after_period, widened
from ratings.model.rules import (
    DAY_MS,
    INITIAL,
    MAX_DEVIATION,
    NEWCOMER,
    Standing,
    apply_game,
    counts,
    strength_at,
)

strengths = st.builds(
    Strength,
    rating=st.floats(0, 4000),
    deviation=st.floats(20, MAX_DEVIATION),
    volatility=st.floats(0.03, 0.12),
)
standings = st.builds(Standing, strength=strengths, games=st.integers(1, 1000), last_at=st.integers(0, 10**12))
results = st.sampled_from(["blue", "red", "draw"])
times = st.integers(0, 2 * 10**12)


def test_published_example() -> None:
    player = Strength(1500, 200, 0.06)
    games = [
        Outcome(Strength(1400, 30, 0.06), 1.0),
        Outcome(Strength(1550, 100, 0.06), 0.0),
        Outcome(Strength(1700, 300, 0.06), 0.0),
    ]
    after = after_period(player, games, tau=0.5)
    assert after.rating == pytest.approx(1464.06, abs=0.011)
    assert after.deviation == pytest.approx(151.52, abs=0.01)
    assert after.volatility == pytest.approx(0.05999, abs=0.00001)


def test_period_without_games_only_widens() -> None:
    after = after_period(Strength(1600, 50, 0.06), [], tau=0.5)
    assert after.rating == 1600
    assert after.volatility == 0.06
    assert after.deviation == pytest.approx(math.hypot(50, 0.06 * 173.7178))


def test_first_game_of_two_newcomers() -> None:
    blue, red = apply_game(NEWCOMER, NEWCOMER, "blue", 1_000)
    assert blue.before == red.before == INITIAL
    assert blue.after.strength.rating == pytest.approx(1662.31, abs=0.01)
    assert blue.after.strength.rating - 1500 == pytest.approx(1500 - red.after.strength.rating)
    assert blue.after.strength.deviation == pytest.approx(290.32, abs=0.01)
    assert (blue.after.games, blue.after.last_at) == (1, 1_000)


def test_deviation_grows_with_days_away_and_stops_at_the_cap() -> None:
    standing = Standing(Strength(1800, 60, 0.06), games=50, last_at=0)
    grown = [strength_at(standing, days * DAY_MS).deviation for days in (0, 1, 30, 365, 36_500)]
    assert grown == sorted(grown)
    assert grown[0] == 60
    assert grown[3] == pytest.approx(math.hypot(60, 0.06 * 173.7178 * math.sqrt(365)))
    assert grown[4] == MAX_DEVIATION
    assert strength_at(standing, -DAY_MS) == standing.strength


def test_only_played_out_rated_games_count() -> None:
    assert [counts(True, r) for r in ("blue", "red", "draw", "none")] == [True, True, True, False]
    assert not counts(False, "blue")
    with pytest.raises(ValueError, match="not rated"):
        apply_game(NEWCOMER, NEWCOMER, "none", 0)


@given(standings, standings, results, times)
def test_swapping_the_colours_swaps_the_changes(blue: Standing, red: Standing, result: str, at: int) -> None:
    swapped = {"blue": "red", "red": "blue", "draw": "draw"}[result]
    assert apply_game(blue, red, result, at) == tuple(reversed(apply_game(red, blue, swapped, at)))


@given(standings, standings, results, times)
def test_numbers_stay_within_bounds(blue: Standing, red: Standing, result: str, at: int) -> None:
    for was, change in zip((blue, red), apply_game(blue, red, result, at), strict=True):
        after = change.after.strength
        assert 0 < after.deviation <= MAX_DEVIATION
        assert was.strength.deviation <= change.before.deviation <= MAX_DEVIATION
        assert math.isfinite(after.rating)
        assert 0 < after.volatility < 1
        assert change.after.games == was.games + 1
        assert change.after.last_at is not None
        assert was.last_at is not None
        assert change.after.last_at >= was.last_at


@given(standings, standings, times)
def test_a_win_never_costs_and_a_loss_never_pays(blue: Standing, red: Standing, at: int) -> None:
    won, lost = apply_game(blue, red, "blue", at)
    assert won.after.strength.rating >= won.before.rating
    assert lost.after.strength.rating <= lost.before.rating


@given(strengths, st.floats(0, 1000), st.floats(0, 1000))
def test_widening_adds_up(strength: Strength, first: float, second: float) -> None:
    twice = widened(widened(strength, first), second)
    assert twice.deviation == pytest.approx(widened(strength, first + second).deviation)
