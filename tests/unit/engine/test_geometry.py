"""Cells, neighbours, chains."""

import pytest

from tablesvc.engine.geometry import cells_of, geometry
from tablesvc.engine.goals import chain, reached, sides
from tablesvc.engine.seats import BLUE, RED
from tests.unit.engine.playing import Game, mask


def names_near(side: int, name: str) -> set[str]:
    field = geometry(side)
    return {field.names[cell] for cell in field.neighbours[field.index[name]]}


def test_cells_are_named_column_then_row() -> None:
    field = geometry(9)
    assert field.names[0] == "a1"
    assert field.names[8] == "i1"
    assert field.index["e3"] == 2 * 9 + 4
    assert "j1" not in field.index
    assert "a10" not in field.index


@pytest.mark.parametrize("side", [4, 6, 9])
def test_b1_and_a2_touch_and_b1_and_c2_do_not(side: int) -> None:
    assert "a2" in names_near(side, "b1")
    assert "c2" not in names_near(side, "b1")


@pytest.mark.parametrize("side", [4, 6, 9])
def test_the_sharp_corners_have_two_neighbours_the_blunt_ones_three(side: int) -> None:
    top_right, bottom_left = f"{chr(96 + side)}1", f"a{side}"
    assert names_near(side, "a1") == {"b1", "a2"}
    assert len(names_near(side, top_right)) == 3
    assert len(names_near(side, bottom_left)) == 3
    assert len(names_near(side, f"{chr(96 + side)}{side}")) == 2


def test_an_inner_cell_has_six_neighbours() -> None:
    assert names_near(9, "e5") == {"d5", "f5", "e4", "f4", "d6", "e6"}


@pytest.mark.parametrize("side", [2, 6, 9])
def test_neighbourhood_is_mutual_and_its_masks_say_the_same(side: int) -> None:
    field = geometry(side)
    for cell in range(field.cells):
        assert cells_of(field.neighbour_mask[cell]) == list(field.neighbours[cell])
        assert all(cell in field.neighbours[near] for near in field.neighbours[cell])


@pytest.mark.parametrize("side", [2, 6, 9])
def test_one_step_of_spreading_is_the_neighbours(side: int) -> None:
    field = geometry(side)
    for cell in range(field.cells):
        near = field.neighbour_mask[cell] | 1 << cell
        assert field.spread(1 << cell, near) == near
        for far in range(field.cells):
            if not near >> far & 1:
                assert field.spread(1 << cell, 1 << cell | 1 << far) == 1 << cell


def test_spreading_outside_the_given_cells_gives_nothing() -> None:
    assert geometry(6).spread(1, 2) == 0


@pytest.mark.parametrize("side", [1, 27])
def test_no_field_is_too_small_or_too_large(side: int) -> None:
    with pytest.raises(ValueError, match="2 to 26"):
        geometry(side)


def test_blue_connects_top_to_bottom_on_a_side_of_four() -> None:
    field = geometry(4)
    owned = mask(4, "b1", "b2", "a3", "a4")
    assert [field.names[cell] for cell in chain(field, owned, BLUE)] == ["b1", "b2", "a3", "a4"]
    assert chain(field, owned & ~mask(4, "a3"), BLUE) == ()


def test_the_sides_are_blues_top_and_bottom_reds_left_and_right() -> None:
    field = geometry(4)
    assert sides(field, BLUE) == (mask(4, "a1", "b1", "c1", "d1"), mask(4, "a4", "b4", "c4", "d4"))
    assert sides(field, RED) == (mask(4, "a1", "a2", "a3", "a4"), mask(4, "d1", "d2", "d3", "d4"))


def test_the_chain_is_a_shortest_one() -> None:
    field = geometry(4)
    owned = field.full & ~mask(4, "b2", "c2", "d2")
    assert len(chain(field, owned, BLUE)) == 4
    assert len(chain(field, owned, RED)) == 4


def test_two_ends_without_a_middle_are_no_goal() -> None:
    field = Game("blitz", "blitz-a").state.table.field
    ends = mask(6, "c1", "c2", "a6", "a5")
    assert not reached(field, ends, field.geometry.index["c2"], BLUE)
    whole = ends | mask(6, "b3", "b4")
    assert reached(field, whole, field.geometry.index["b3"], BLUE)
    assert not reached(field, whole, field.geometry.index["b3"], RED)
