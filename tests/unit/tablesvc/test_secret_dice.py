"""The dice are even, use each word of the source once, and throw away what would favour small numbers."""

import os
import struct
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tablesvc.secret_dice import SecretDice


def scripted(*words: int) -> SecretDice:
    """Dice whose source says these words first, then zeroes."""
    blocks = [struct.pack("<128I", *words, *([0] * (128 - len(words))))]
    return SecretDice(lambda size: blocks.pop() if blocks else bytes(size))


def test_each_word_is_used_once_and_in_order() -> None:
    dice = scripted(7, 12, 23)
    assert [dice.below(10) for _ in range(3)] == [7, 2, 3]


def test_a_word_beyond_the_last_whole_round_is_thrown_away() -> None:
    last_even = (1 << 32) - (1 << 32) % 10 - 1
    dice = scripted(last_even + 1, (1 << 32) - 1, last_even, 4)
    assert [dice.below(10), dice.below(10)] == [9, 4]


def test_a_new_block_is_read_when_one_is_used_up() -> None:
    reads: list[int] = []

    def source(size: int) -> bytes:
        reads.append(size)
        return os.urandom(size)

    dice = SecretDice(source)
    for _ in range(300):
        dice.below(2)
    assert reads == [512, 512, 512]


@given(st.integers(1, 60))
def test_it_stays_below(n: int) -> None:
    dice = SecretDice()
    assert all(0 <= dice.below(n) < n for _ in range(20))


def test_every_number_comes() -> None:
    dice = SecretDice()
    counts = Counter(dice.below(6) for _ in range(6_000))
    assert set(counts) == set(range(6))
    assert all(700 < count < 1_300 for count in counts.values())  # ten standard deviations
