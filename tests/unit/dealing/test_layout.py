"""Block layouts are n connected shapes of n cells, by the neighbours of a hexagon."""

from random import Random

import pytest

from tablesvc.dealing.cover import REGULAR
from tablesvc.dealing.layout import draw_layout, is_connected_layout, neighbours


def flood(side: int, cells: set[int]) -> set[int]:
    """What can be reached from one of the cells inside them, by a plain reading of the rule."""
    reached = {min(cells)}
    while True:
        more = set()
        for cell in reached:
            row, column = divmod(cell, side)
            for down, right in ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0)):
                if 0 <= row + down < side and 0 <= column + right < side:
                    more.add((row + down) * side + column + right)
        more = more & cells | reached
        if more == reached:
            return reached
        reached = more


@pytest.mark.parametrize("side", [6, 9])
def test_every_layout_is_connected_shapes_of_n_cells(side: int) -> None:
    rng = Random(1)
    drawn = {draw_layout(side, rng) for _ in range(60)}
    assert len(drawn) == 60
    for blocks in drawn:
        assert is_connected_layout(side, blocks)
        for letter in "abcdefghi"[:side]:
            cells = {cell for cell, here in enumerate(blocks) if here == letter}
            assert len(cells) == side
            assert flood(side, cells) == cells
            assert len({cell // side for cell in cells}) > 1
            assert len({cell % side for cell in cells}) > 1


@pytest.mark.parametrize("side", [6, 9])
def test_letters_come_in_reading_order(side: int) -> None:
    blocks = draw_layout(side, Random(4))
    assert "".join(dict.fromkeys(blocks)) == "abcdefghi"[:side]


def test_neighbours_are_those_of_a_hexagon() -> None:
    near = neighbours(9)
    a1, b1, a2, b2, c2, i1 = 0, 1, 9, 10, 11, 8
    assert a2 in near[b1]
    assert c2 not in near[b1]
    assert set(near[a1]) == {b1, a2}
    assert len(near[i1]) == 3
    assert len(near[b2]) == 6


@pytest.mark.parametrize("side", [6, 9])
def test_regular_layouts_are_connected(side: int) -> None:
    assert is_connected_layout(side, REGULAR[side])


def test_what_is_no_division_of_the_field_is_seen() -> None:
    good = REGULAR[6]
    assert not is_connected_layout(6, good[:-1])
    assert not is_connected_layout(6, "b" + good[1:])  # a lone cell of b in the corner of a
    assert not is_connected_layout(6, good.replace("b", "a"))
    # a and f swap one cell each: right numbers, torn shapes
    torn = "f" + good[1:-1] + "a"
    assert torn.count("a") == torn.count("f") == 6
    assert not is_connected_layout(6, torn)


def test_touching_by_a_square_boards_corner_is_no_connection() -> None:
    # Two cells of a, b1 and c2, touch only at a corner of a square board; a hexagon has no such corner.
    rows = ["aabbbb", "dcabbc", "dcaccc", "dcafff", "ddafff", "deeeee"]
    shape = {cell for cell, letter in enumerate("".join(rows)) if letter == "a"}
    assert flood(6, shape) != shape
    assert not is_connected_layout(6, "".join(rows))
