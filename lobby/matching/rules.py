"""The hard rules: which two seeks may meet at all.

A rule that is broken is a missing edge: no wait, no preference and no other
path (accepting from the list, a house bot, a rematch) gets around it.
"""

from collections.abc import Set

from lobby.matching.seek import Profile, Seek, Span


def _spans_meet(a: Span | None, b: Span | None) -> bool:
    return a is not None and b is not None and a.lo <= b.hi and b.lo <= a.hi


def choices_overlap(a: Profile, b: Profile) -> bool:
    """Whether one game can give both what they ask: some layout with some number of givens, and both switches."""
    return (
        (a.highlight is None or b.highlight is None or a.highlight is b.highlight)
        and (a.rated is None or b.rated is None or a.rated is b.rated)
        and (_spans_meet(a.regular, b.regular) or _spans_meet(a.irregular, b.irregular))
    )


def may_meet(player: str, avoids: Set[str], other: str, other_avoids: Set[str]) -> bool:
    """Whether two people may be brought together: two different ones, neither of whom blocks the other."""
    return player != other and other not in avoids and player not in other_avoids


def in_range(want: Span | None, rating: int) -> bool:
    """Whether an opponent of this rating is acceptable."""
    return want is None or want.lo <= rating <= want.hi


def acceptable(a: Seek, b: Seek) -> bool:
    """Whether the two players may be brought together with their ratings, if their choices overlap."""
    if a.player == b.player or b.player in a.avoid or a.player in b.avoid:
        return False
    mine, theirs = a.want, b.want
    return (mine is None or mine.lo <= b.rating <= mine.hi) and (theirs is None or theirs.lo <= a.rating <= theirs.hi)


def compatible(a: Seek, b: Seek) -> bool:
    """Whether the two may be paired by every rule that does not depend on who else waits."""
    return acceptable(a, b) and choices_overlap(a.profile, b.profile)


def repeats(a: Seek, b: Seek) -> bool:
    """Whether either of the two would meet the opponent of the latest game again.

    Such a pair is made only if nobody waits whom one of them could meet
    without repeating, so two friends alone in a room play on and on.
    """
    return a.last == b.player or b.last == a.player
