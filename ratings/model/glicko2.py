"""Glicko-2 as its author publishes it.

Source: Mark E. Glickman, "Example of the Glicko-2 system", Boston University, revised 2022
(http://www.glicko.net/glicko/glicko2.pdf). Step numbers below are that paper's. The test suite
holds this module to the paper's worked example.

It is written here, rather than taken from a package, because those on PyPI that give the paper's numbers
are untyped and keep the state in a mutable player, or have seen one release only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Points on the players' scale for one unit on the internal scale (step 2).
SCALE = 173.7178
# Centre of the players' scale.
CENTRE = 1500.0
# Where the iteration for the volatility stops (step 5).
CONVERGENCE = 1e-6
# The iteration converges in about ten rounds; more means an argument out of all bounds.
MAX_ROUNDS = 200


@dataclass(frozen=True, slots=True)
class Strength:
    """A player's strength in one variant.

    `rating` and `deviation` are in points on the players' scale (1500 is the centre), `volatility`
    has no unit.
    """

    rating: float
    deviation: float
    volatility: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """One game of a period: who the opponent was before it, and the score 1, 0.5 or 0."""

    opponent: Strength
    score: float


def widened(strength: Strength, periods: float) -> Strength:
    """`strength` after `periods` (not below 0, fractions allowed) without a game (step 6, no cap)."""
    if periods <= 0.0:
        return strength
    inner = math.hypot(strength.deviation / SCALE, strength.volatility * math.sqrt(periods))
    return Strength(strength.rating, inner * SCALE, strength.volatility)


def after_period(strength: Strength, outcomes: Sequence[Outcome], tau: float) -> Strength:
    """`strength` after one period with these games (steps 2 to 8); without games it only widens.

    `tau` limits how fast the volatility moves: 0.3 to 1.2 by the paper.
    """
    if not outcomes:
        return widened(strength, 1.0)
    mu = (strength.rating - CENTRE) / SCALE
    phi = strength.deviation / SCALE
    information = 0.0  # 1/v of step 3
    surprise = 0.0  # the sum of step 4
    for outcome in outcomes:
        weight = _g(outcome.opponent.deviation / SCALE)
        other = (outcome.opponent.rating - CENTRE) / SCALE
        expected = _expected(weight * (mu - other))
        information += weight * weight * expected * (1.0 - expected)
        surprise += weight * (outcome.score - expected)
    variance = 1.0 / information
    sigma = _volatility(strength.volatility, phi, variance, variance * surprise, tau)
    before = phi * phi + sigma * sigma  # step 6, squared
    after = 1.0 / (1.0 / before + information)  # step 7, squared
    return Strength(
        rating=CENTRE + SCALE * (mu + after * surprise),
        deviation=SCALE * math.sqrt(after),
        volatility=sigma,
    )


def _g(phi: float) -> float:
    """How much a game against an opponent of deviation `phi` (internal scale) says."""
    return 1.0 / math.sqrt(1.0 + 3.0 * phi * phi / (math.pi * math.pi))


def _expected(gap: float) -> float:
    """Expected score for a weighted gap; kept off 0 and 1, where a game would carry no information at all."""
    bounded = max(-30.0, min(30.0, gap))
    return 1.0 / (1.0 + math.exp(-bounded))


def _volatility(sigma: float, phi: float, variance: float, delta: float, tau: float) -> float:
    """The new volatility by the Illinois variant of regula falsi (step 5)."""
    start = math.log(sigma * sigma)

    def f(x: float) -> float:
        grown = math.exp(x)
        total = phi * phi + variance + grown
        return grown * (delta * delta - total) / (2.0 * total * total) - (x - start) / (tau * tau)

    low = start
    if delta * delta > phi * phi + variance:
        high = math.log(delta * delta - phi * phi - variance)
    else:
        steps = 1
        while f(start - steps * tau) < 0.0 and steps < MAX_ROUNDS:
            steps += 1
        high = start - steps * tau
    f_low, f_high = f(low), f(high)
    for _ in range(MAX_ROUNDS):
        if abs(high - low) <= CONVERGENCE:
            break
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = f(middle)
        if f_middle * f_high <= 0.0:
            low, f_low = high, f_high
        else:
            f_low /= 2.0
        high, f_high = middle, f_middle
    return math.exp(low / 2.0)
