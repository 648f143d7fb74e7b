"""The pool against a slow and obvious matcher that looks at every pair: nothing forbidden, nothing missed."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from lobby.matching.pool import REPEAT_RETRY_MS, Pool
from lobby.matching.seek import Seek, Span, Wish
from lobby.matching.tolerance import Tolerance
from tests.unit.lobby.builders import SIX, core_seek

PLAYERS = [f"p{number}" for number in range(16)]


def fits(a: Seek, b: Seek) -> bool:
    """Every hard rule, spelled out again without the code under test."""
    if a.player == b.player or a.player in b.avoid or b.player in a.avoid:
        return False
    for one, two in ((a, b), (b, a)):
        if one.want is not None and not one.want.lo <= two.rating <= one.want.hi:
            return False
    for this, that in ((a.profile.highlight, b.profile.highlight), (a.profile.rated, b.profile.rated)):
        if this is not None and that is not None and this != that:
            return False
    return bool(numbers(a.profile.regular) & numbers(b.profile.regular)) or bool(
        numbers(a.profile.irregular) & numbers(b.profile.irregular)
    )


def numbers(span: Span | None) -> set[int]:
    return set() if span is None else set(range(span.lo, span.hi + 1))


def repeat(a: Seek, b: Seek) -> bool:
    return a.last == b.player or b.last == a.player


def ready_at(seek: Seek, difference: int, policy: Tolerance) -> int:
    """When the seek takes such a difference, found by trying every millisecond that can matter."""
    if seek.want is not None or difference <= policy.start:
        return seek.since
    for wait in range(0, policy.any_after_ms, 10):
        if min(policy.most, policy.start + wait * policy.per_s // 1000) >= difference:
            return seek.since + wait
    return seek.since + policy.any_after_ms


def pair_ready(a: Seek, b: Seek, policy: Tolerance) -> int:
    difference = abs(a.rating - b.rating)
    return max(ready_at(a, difference, policy), ready_at(b, difference, policy))


def somebody_else(a: Seek, b: Seek, waiting: list[Seek]) -> bool:
    return any(
        fits(one, other) and not repeat(one, other) for one in (a, b) for other in waiting if other not in (a, b)
    )


def check(pool: Pool, waiting: dict[str, Seek], now: int, policy: Tolerance, *, repeats_too: bool) -> bool:
    """Reads the pairs out, checks each in its turn, and that none was missed. True if there were any."""
    pairs = pool.pairs(now)
    for pair in pairs:
        a, b = waiting[pair.first.id], waiting[pair.second.id]
        assert fits(a, b), "a forbidden pair"
        quiet = len(waiting) < policy.quick_below
        assert quiet or pair_ready(a, b, policy) <= now + 10, "a pair before its time"
        if repeat(a, b):
            assert not somebody_else(a, b, list(waiting.values())), "the same two while others wait"
        for seek in (a, b):
            del waiting[seek.id]
            pool.drop(seek.id)
    assert pool.ids() == waiting.keys()
    left = list(waiting.values())
    quiet = len(left) < policy.quick_below
    due = pool.next_due()
    for a, b in combinations(left, 2):
        if not fits(a, b):
            continue
        if repeat(a, b):
            missed = (quiet or pair_ready(a, b, policy) + 10 <= now) and not somebody_else(a, b, left)
            assert not (missed and repeats_too), "two friends were kept apart for nobody"
            continue
        assert not quiet, "a pair was missed in a quiet room"
        at = pair_ready(a, b, policy)
        assert at > now - 10, "a pair was missed"
        assert due is not None, "nobody will look at a pair whose time comes"
        assert due <= at + 10, "somebody will look at a pair too late"
    return bool(pairs)


few = st.integers(1000, 1300)
spans = st.tuples(st.integers(7, 12), st.integers(0, 5)).map(lambda t: Span(t[0], min(12, t[0] + t[1])))
wants = st.one_of(
    st.none(), st.none(), st.tuples(st.integers(1000, 2000), st.integers(0, 800)).map(lambda t: Span(t[0], sum(t)))
)
wishes = st.builds(
    Wish,
    blocks=st.sampled_from([None, None, None, "regular", "irregular"]),
    givens=st.one_of(st.none(), spans.filter(lambda span: span.hi > 7)),
    highlight=st.sampled_from([None, None, None, True, False]),
    rated=st.sampled_from([None, None, None, True, False]),
    rating=wants,
)
people = st.sampled_from(PLAYERS)
adds = st.tuples(
    st.just("add"),
    people,
    wishes,
    st.one_of(few, st.integers(1000, 2000)),
    st.frozensets(people, max_size=1),
    st.one_of(st.none(), people),
    st.integers(0, 30_000),
)
steps = st.one_of(
    adds,
    adds,
    adds,
    st.tuples(st.just("remove"), people),
    st.tuples(st.just("block"), people, st.frozensets(people, max_size=3)),
    st.tuples(st.just("wait"), st.integers(1, 25_000)),
    st.tuples(st.just("due")),
)
policies = st.builds(
    Tolerance,
    start=st.sampled_from([0, 50, 200]),
    per_s=st.sampled_from([0, 25, 100]),
    most=st.sampled_from([200, 500, 1_000]),
    any_after_ms=st.sampled_from([5_000, 20_000]),
    quick_below=st.sampled_from([0, 3, 8]),
)


@settings(max_examples=200, deadline=None)
@given(policies, st.lists(steps, min_size=15, max_size=60))
def test_nothing_forbidden_nothing_missed(policy: Tolerance, script: list[tuple[object, ...]]) -> None:
    pool, waiting, now = Pool(policy), dict[str, Seek](), 100_000
    for number, step in enumerate(script):
        match step:
            case ("add", str() as player, Wish() as wish, int() as rating, frozenset() as avoid, last, int() as age):
                seek = core_seek(
                    f"s{number}",
                    wish,
                    limits=SIX,
                    rating=rating,
                    since=now - age if number % 3 == 0 else now,
                    player=player,
                    avoid=avoid - {player},
                    last=last if isinstance(last, str) else None,
                )
                for old in [name for name, other in waiting.items() if other.player == player]:
                    del waiting[old]
                waiting[seek.id] = seek
                pool.add(seek)
            case ("remove", player):
                for old in [name for name, other in waiting.items() if other.player == player]:
                    del waiting[old]
                    pool.remove(old)
            case ("block", str() as player, frozenset() as avoid):
                pool.avoid(player, avoid)
                for name, other in list(waiting.items()):
                    if other.player == player:
                        waiting[name] = core_like(other, avoid)
            case ("wait", int() as pause):
                now += pause
            case ("due",):
                now = max(now, pool.next_due() or now)
        check(pool, waiting, now, policy, repeats_too=False)
    while True:  # until nothing comes any more; then nothing may be missing, friends included
        now += REPEAT_RETRY_MS
        if not check(pool, waiting, now, policy, repeats_too=False):
            break
    now += REPEAT_RETRY_MS
    check(pool, waiting, now, policy, repeats_too=True)
    now += policy.any_after_ms  # the bound: by now nobody waits beside somebody who fits
    while check(pool, waiting, now, policy, repeats_too=False):
        pass
    assert not [pair for pair in combinations(waiting.values(), 2) if fits(*pair) and not repeat(*pair)]


def core_like(seek: Seek, avoid: frozenset[str]) -> Seek:
    """The seek with another block list."""
    return Seek(seek.id, seek.player, seek.room, seek.profile, seek.rating, seek.want, seek.since, avoid, seek.last)
