"""The order of faults: seeded, every kind in turn, never two at once in the way of a move."""

from itertools import islice
from random import Random

from tests.chaos.faults import ASIDE, HOWS, KINDS, PLAY, Planned, lane


def first(parts: tuple[str, ...], seed: int, count: int) -> list[Planned]:
    return list(islice(lane(parts, Random(seed)), count))


def test_a_seed_gives_the_same_faults_again() -> None:
    assert first(PLAY, 7, 40) == first(PLAY, 7, 40)
    assert first(PLAY, 7, 40) != first(PLAY, 8, 40)


def test_every_kind_comes_before_any_comes_again() -> None:
    for parts in (PLAY, ASIDE):
        kinds = {f"{what} {how}" for what in parts for how in HOWS[what]}
        for begin in (0, len(kinds)):
            assert {planned.kind for planned in first(parts, 3, 2 * len(kinds))[begin : begin + len(kinds)]} == kinds


def test_some_faults_alone_may_be_asked_for() -> None:
    only = frozenset({"worker drain", "nats kill"})
    assert {planned.kind for planned in islice(lane(PLAY, Random(1), only), 10)} == only
    assert list(lane(ASIDE, Random(1), only)) == []


def test_the_lanes_share_nothing_and_leave_nothing_out() -> None:
    assert not set(PLAY) & set(ASIDE)
    assert set(PLAY) | set(ASIDE) == set(HOWS)
    assert len(KINDS) == 17
