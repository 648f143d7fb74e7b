"""The pool, situation by situation."""

import time

import pytest

from lobby.matching.pool import Pool
from lobby.matching.seek import Seek, Span, Wish
from lobby.matching.tolerance import Tolerance
from tests.unit.lobby.builders import core_seek

BUSY = Tolerance(
    start=200, per_s=25, any_after_ms=20_000, quick_below=0
)  # as in a room where many wait: the tolerance holds


def names(pool: Pool, now: int = 0) -> set[frozenset[str]]:
    return {frozenset((pair.first.id, pair.second.id)) for pair in pool.pairs(now)}


def pool_of(*seeks: Seek, tolerance: Tolerance = BUSY) -> Pool:
    pool = Pool(tolerance)
    for seek in seeks:
        pool.add(seek)
    return pool


def test_two_alone_in_a_room_meet_at_once_whatever_their_ratings() -> None:
    pool = pool_of(core_seek("a", rating=800), core_seek("b", rating=2400), tolerance=Tolerance())
    assert names(pool) == {frozenset("ab")}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (core_seek("a", player="same"), core_seek("b", player="same")),
        (core_seek("a", Wish("regular")), core_seek("b", Wish("irregular"))),
        (core_seek("a", Wish(givens=Span(22, 25))), core_seek("b", Wish(givens=Span(26, 34)))),
        (core_seek("a", Wish(highlight=True)), core_seek("b", Wish(highlight=False))),
        (core_seek("a", Wish(rated=True)), core_seek("b", Wish(rated=False))),
        (core_seek("a", Wish(rating=Span(1600, 1700))), core_seek("b")),
        (core_seek("a"), core_seek("b", Wish(rating=Span(1000, 1499)))),
        (core_seek("a", avoid=frozenset({"p-b"})), core_seek("b")),
        (core_seek("a"), core_seek("b", avoid=frozenset({"p-a"}))),
    ],
)
def test_no_wait_brings_those_together_who_may_not_meet(a: Seek, b: Seek) -> None:
    pool = pool_of(a, b, tolerance=Tolerance())
    assert names(pool) == set()
    assert names(pool, now=3_600_000) == set()


def test_the_nearest_rating_is_preferred() -> None:
    pool = pool_of(core_seek("far", Wish(rating=Span(1501, 3000)), rating=1400))
    pool.add(core_seek("near", Wish(rating=Span(1501, 3000)), rating=1480))
    assert names(pool) == set()
    pool.add(core_seek("new", rating=1520))
    assert names(pool) == {frozenset(("near", "new"))}


def test_a_long_wait_makes_up_for_distance() -> None:
    pool = pool_of(core_seek("old", Wish(rating=Span(1501, 3000)), rating=1400, since=0))
    pool.add(core_seek("young", Wish(rating=Span(1501, 3000)), rating=1480, since=60_000))
    assert names(pool, 60_000) == set()
    pool.add(core_seek("new", rating=1520, since=60_000))
    assert names(pool, 60_000) == {frozenset(("old", "new"))}


def test_the_smaller_tolerance_of_the_two_counts_and_widens() -> None:
    pool = pool_of(core_seek("old", rating=1000, since=0))
    assert names(pool, 10_000) == set()
    pool.add(core_seek("new", rating=1400, since=10_000))
    assert names(pool, 10_000) == set()  # the old one would take 450 by now, the new one 200
    due = pool.next_due()
    assert due == 10_000 + 200 * 1000 // 25
    assert names(pool, due - 1) == set()
    assert names(pool, due) == {frozenset(("old", "new"))}


def test_after_the_bound_anyone_is_taken() -> None:
    pool = pool_of(core_seek("a", rating=100), core_seek("b", rating=3900))
    assert names(pool, 19_999) == set()
    assert names(pool, 20_000) == {frozenset("ab")}


def test_who_has_a_range_of_his_own_is_not_held_back_by_his_tolerance() -> None:
    pool = pool_of(core_seek("a", Wish(rating=Span(0, 4000)), rating=100), core_seek("b", Wish(rating=Span(0, 4000))))
    assert names(pool) == {frozenset("ab")}


@pytest.mark.parametrize(("rating", "meet"), [(1399, False), (1400, True), (1600, True), (1601, False)])
def test_both_ends_of_a_range_belong_to_it(rating: int, meet: bool) -> None:
    for first, second in (("a", "b"), ("b", "a")):
        seeks = {"a": core_seek("a", Wish(rating=Span(1400, 1600))), "b": core_seek("b", rating=rating)}
        pool = pool_of(seeks[first], tolerance=Tolerance())
        assert names(pool) == set()
        pool.add(seeks[second])  # it alone is looked at now
        assert bool(names(pool)) is meet


def test_a_room_that_becomes_quiet_holds_nobody_back_any_more() -> None:
    far = [core_seek("low", rating=1000), core_seek("high", rating=2000)]
    pool = pool_of(*far, core_seek("third", Wish(rating=Span(1, 2))), tolerance=Tolerance(quick_below=3))
    assert names(pool) == set()
    pool.remove("third")
    assert names(pool) == {frozenset(("low", "high"))}


def test_a_crowd_of_nearer_ones_that_are_not_ready_hides_nobody() -> None:
    """More of them than are looked at for the nearest: the one further away, who is ready, is found all the same."""
    crowd = [f"young{number}" for number in range(60)]
    strangers = frozenset(f"p-{name}" for name in (*crowd, "old"))
    young = [core_seek(name, rating=1710 + n, since=50_000, avoid=strangers) for n, name in enumerate(crowd)]
    pool = pool_of(*young, core_seek("old", rating=1800, since=0, avoid=strangers))
    assert names(pool, 50_000) == set()
    pool.add(core_seek("new", Wish(rating=Span(0, 4000)), since=50_000))
    assert names(pool, 50_000) == {frozenset(("old", "new"))}


def test_two_who_have_just_met_wait_for_others_but_not_alone() -> None:
    a, b = core_seek("a", last="p-b"), core_seek("b", last="p-a")
    assert names(pool_of(a, b)) == {frozenset("ab")}
    pool = pool_of(a, b, core_seek("c", Wish("regular")))
    assert len(names(pool)) == 1
    assert names(pool_of(a, b)) == {frozenset("ab")}


def test_somebody_who_fits_neither_does_not_keep_friends_apart() -> None:
    a, b = core_seek("a", Wish("regular"), last="p-b"), core_seek("b", Wish("regular"), last="p-a")
    assert names(pool_of(a, b, core_seek("c", Wish("irregular")))) == {frozenset("ab")}


def test_friends_meet_again_once_the_third_has_gone() -> None:
    a, b = core_seek("a", last="p-b"), core_seek("b", last="p-a")
    pool = pool_of(a, b, core_seek("c", rating=2000))  # c fits, but is out of reach yet
    assert names(pool) == set()
    pool.remove("c")
    assert names(pool, 1_000) == {frozenset("ab")}


def test_a_seek_whose_partner_is_gone_waits_on_with_its_age() -> None:
    pool = pool_of(core_seek("a", since=5), core_seek("b", since=6))
    [pair] = pool.pairs(10)
    assert (pair.first.id, pair.second.id) == ("a", "b")
    assert len(pool) == 2
    assert pool.waiting == 0
    pool.drop("b")
    pool.put_back("a")
    pool.add(core_seek("c", since=9))
    [again] = pool.pairs(10)
    assert again.first.id == "a"
    assert again.first.since == 5


def test_what_is_removed_while_set_aside_does_not_come_back() -> None:
    pool = pool_of(core_seek("a"), core_seek("b"))
    pool.pairs(0)
    pool.remove("a")
    pool.put_back("a")
    pool.put_back("b")
    assert pool.ids() == {"b"}


def test_a_new_seek_of_a_player_replaces_the_old_one() -> None:
    pool = pool_of(core_seek("a", player="p"), core_seek("b", player="p"))
    assert pool.ids() == {"b"}
    assert pool.of("p") == core_seek("b", player="p")


def test_a_block_counts_at_once_and_lifting_it_too() -> None:
    pool = pool_of(core_seek("a", Wish("regular")))
    pool.avoid("p-a", frozenset({"p-b"}))
    pool.add(core_seek("b"))
    assert names(pool) == set()
    pool.avoid("p-a", frozenset())
    assert names(pool) == {frozenset("ab")}


def test_the_oldest_are_looked_at_first() -> None:
    pool = Pool(BUSY)
    for number in range(10):
        pool.add(core_seek(f"s{number}", since=number))
    [pair] = pool.pairs(10, limit=1)
    assert pair.first.id == "s0"
    assert pool.unread == 8


def _narrow(number: int) -> Seek:
    """Seeks that nobody among them fits: everyone asks for stronger players than there are, in many profiles."""
    least = 1600 + number % 100 if number % 10 == 0 else 2048
    low = 22 + number % 13
    wish = Wish(
        (None, "regular", "irregular")[number % 3],
        Span(low, min(34, low + number % 5)),
        (None, True, False)[number // 3 % 3],
        (None, True, False)[number // 9 % 3],
        Span(least, 4095),
    )
    return core_seek(f"s{number}", wish, rating=1000 + number * 7 % 500, since=number)


def _cost(pool: Pool, first: int) -> float:
    """Seconds for one new seek: the median of many, its partner looked for and not found."""
    took = []
    for number in range(first, first + 401):
        seek = _narrow(number)
        start = time.perf_counter()
        pool.add(seek)
        assert pool.pairs(number) == []
        took.append(time.perf_counter() - start)
        pool.remove(seek.id)
    return sorted(took)[200]


def test_a_hundred_thousand_seeks_that_do_not_match_cost_little_more_than_a_thousand() -> None:
    small, large = Pool(BUSY), Pool(BUSY)
    for number in range(100_000):
        if number < 1_000:
            small.add(_narrow(number))
        large.add(_narrow(number))
    assert small.pairs(100_000) == []
    assert large.pairs(100_000) == []
    few, many = _cost(small, 200_000), _cost(large, 200_000)
    assert many < few * 15, f"{few * 1e6:.0f} µs beside 1,000 seeks, {many * 1e6:.0f} µs beside 100,000"
