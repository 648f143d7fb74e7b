"""Block layouts."""

import pytest

from tablesvc.engine import blocks
from tablesvc.engine.geometry import geometry
from tests.unit.engine.playing import deals, mask

PLAIN = "".join(chr(97 + row) * 6 for row in range(6))


def test_regular_blocks_are_three_by_three_and_two_by_three() -> None:
    assert blocks.regular(9) == "aaabbbccc" * 3 + "dddeeefff" * 3 + "ggghhhiii" * 3
    assert blocks.regular(6) == "aaabbb" * 2 + "cccddd" * 2 + "eeefff" * 2


@pytest.mark.parametrize("name", list(deals()))
def test_dealt_layouts_have_no_fault(name: str) -> None:
    _, deal = deals()[name]
    side = geometry(9 if len(deal.blocks) == 81 else 6).side
    assert blocks.fault(side, deal.blocks) is None


def test_the_letters_of_a_regular_layout_do_not_matter() -> None:
    assert blocks.is_regular(6, blocks.regular(6).translate(str.maketrans("abcdef", "zyxwvu")))
    assert not blocks.is_regular(6, PLAIN)


def test_a_block_that_touches_only_corner_to_corner_is_not_connected() -> None:
    assert blocks.connected(6, mask(6, "b1", "a2"))
    assert not blocks.connected(6, mask(6, "a1", "b2"))


@pytest.mark.parametrize(
    ("layout", "fault"),
    [
        (PLAIN.replace("f", "e"), "there are 5 blocks, not 6"),
        (PLAIN[:-1] + "g", "there are 7 blocks, not 6"),
        (PLAIN[:-1] + "e", "block e has 7 cells, not 6"),
        ("c" + PLAIN[1:12] + "a" + PLAIN[13:], "block c is not connected"),
    ],
)
def test_faults_are_named(layout: str, fault: str) -> None:
    assert blocks.fault(6, layout) == fault


def test_masks_come_in_the_order_of_first_occurrence() -> None:
    assert blocks.masks(6, PLAIN) == geometry(6).rows
