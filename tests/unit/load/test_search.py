"""The search finds the highest level that holds, whatever it is, within its precision."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbridge.load.search import Search


def run(search: Search, holds: int) -> int:
    while (level := search.next()) is not None:
        search.report(level, held=level <= holds)
    return search.held


@given(st.integers(1, 100_000), st.integers(1, 5_000), st.floats(0.01, 0.5))
def test_it_finds_what_holds(holds: int, first: int, precision: float) -> None:
    search = Search(first, 200_000, precision=precision, tries=64)
    found = run(search, holds)
    assert found <= holds
    assert search.failed is not None
    assert search.failed > holds
    assert search.failed - found <= max(1.0, search.failed * precision)


def test_it_never_asks_for_more_than_the_most() -> None:
    search = Search(50, 300)
    assert run(search, 10_000) == 300
    assert search.tried == [50, 100, 200, 300]
    assert search.failed is None


def test_it_halves_when_the_first_level_fails() -> None:
    search = Search(64, 1_000)
    assert run(search, 10) in (9, 10)
    assert search.tried[:3] == [64, 32, 16]


def test_nothing_holds() -> None:
    assert run(Search(8, 100), 0) == 0


def test_it_gives_up_after_so_many_tries() -> None:
    search = Search(1, 10**9, precision=1e-6, tries=12)
    run(search, 10**8)
    assert len(search.tried) == 12


@pytest.mark.parametrize("level", [50, 40])
def test_a_level_that_fails_below_one_that_held_takes_the_claim_back(level: int) -> None:
    search = Search(50, 100)
    search.report(50, held=True)
    search.report(level, held=False)
    assert search.held == 0
    assert search.failed == level
