"""The pure parts of the load test with locust: shapes, and what counts as shown to both."""

import pytest

from loadtest.shapes import Shape
from loadtest.tables import Tables


def test_steps_are_five_equal_stairs() -> None:
    shape = Shape("steps", 100, 300)
    assert [shape.at(second) for second in (0, 59, 60, 120, 180, 240, 299)] == [20, 20, 40, 60, 80, 100, 100]
    assert shape.at(300) is None


def test_a_spike_is_all_at_once_in_the_middle() -> None:
    shape = Shape("spike", 50, 100)
    assert [shape.at(second) for second in (0, 39, 40, 59, 60, 99)] == [10, 10, 50, 50, 10, 10]


def test_a_soak_goes_up_and_stays() -> None:
    shape = Shape("soak", 40, 1000)
    assert [shape.at(second) for second in (0, 25, 50, 999)] == [1, 20, 40, 40]


def test_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="steps, spike or soak"):
        Shape("wave", 1, 1).at(0)


def test_a_move_counts_when_every_player_who_is_here_has_it() -> None:
    tables = Tables()
    tables.enter("g")
    tables.enter("g")
    tables.sent("g", 4, 10.0)
    assert tables.seen("g", 5, 10.2) is None
    assert tables.seen("g", 5, 10.5) == 0.5
    assert tables.seen("g", 6, 11.0) is None  # nobody's here
    tables.leave("g")
    tables.sent("g", 6, 12.0)
    assert tables.seen("g", 7, 12.25) == 0.25
    tables.leave("g")
    assert tables.seen("g", 7, 13.0) is None
