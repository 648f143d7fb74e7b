"""What Numbridge makes of Glicko-2: the choices are the constants below, nowhere else."""

from dataclasses import dataclass

from ratings.model.glicko2 import Outcome, Strength, after_period, widened

VARIANTS = ("bridge", "blitz", "domains")
# Results that count; `none` (nobody came, or an operator ended it) does not.
RATED_RESULTS = ("blue", "red", "draw")

# (decided) How fast the volatility moves; the middle of the author's range.
TAU = 0.5
# (decided) Nobody is less certain than somebody who has never played.
MAX_DEVIATION = 350.0
# (decided) Everybody starts here, in each variant.
INITIAL = Strength(rating=1500.0, deviation=MAX_DEVIATION, volatility=0.06)
# (decided) A game is a period of its own; away from the table a day counts as one more.
PERIODS_A_DAY = 1.0

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's strength in a variant, and from when it is.

    `games` counts rated games; `last_at` is the end of the last one in milliseconds since the
    epoch, None before the first.
    """

    strength: Strength
    games: int
    last_at: int | None


NEWCOMER = Standing(strength=INITIAL, games=0, last_at=None)


@dataclass(frozen=True, slots=True)
class Change:
    """What one game did to one player: strength just before (idle days counted) and after."""

    before: Strength
    after: Standing


def strength_at(standing: Standing, at: int) -> Strength:
    """The strength at `at` (milliseconds): the deviation grows with time away, up to the cap."""
    if standing.last_at is None:
        return standing.strength
    return _capped(widened(standing.strength, max(0, at - standing.last_at) / DAY_MS * PERIODS_A_DAY))


def counts(rated: bool, result: str) -> bool:
    """Whether a game with this result changes ratings."""
    return rated and result in RATED_RESULTS


def apply_game(blue: Standing, red: Standing, result: str, ended_at: int) -> tuple[Change, Change]:
    """Changes of blue and red by a game that counts. Raises ValueError for any other result."""
    if result not in RATED_RESULTS:
        raise ValueError(f"a game with result {result!r} is not rated")
    score = {"blue": 1.0, "red": 0.0, "draw": 0.5}[result]
    blue_before, red_before = strength_at(blue, ended_at), strength_at(red, ended_at)
    return (
        _change(blue, blue_before, Outcome(red_before, score), ended_at),
        _change(red, red_before, Outcome(blue_before, 1.0 - score), ended_at),
    )


def _change(standing: Standing, before: Strength, outcome: Outcome, ended_at: int) -> Change:
    # Results may arrive out of order: time never runs backwards for a standing.
    last_at = ended_at if standing.last_at is None else max(standing.last_at, ended_at)
    after = _capped(after_period(before, [outcome], TAU))
    return Change(before=before, after=Standing(strength=after, games=standing.games + 1, last_at=last_at))


def _capped(strength: Strength) -> Strength:
    if strength.deviation <= MAX_DEVIATION:
        return strength
    return Strength(strength.rating, MAX_DEVIATION, strength.volatility)
