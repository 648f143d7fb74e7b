"""Dice that fall alike on every machine: `random.Random(seed).random()`, whose stream Python promises, and
nothing else of it.

The multiplication is exact enough to be the same everywhere: an IEEE double times a small whole number.
"""

from hashlib import sha256
from random import Random


def seeded(*parts: object) -> Random:
    """A generator for just this purpose: the parts are mixed, so that near seeds and other settings have
    nothing in common."""
    text = ":".join(str(part) for part in parts)
    return Random(int.from_bytes(sha256(text.encode()).digest()))


def below(rng: Random, limit: int) -> int:
    """A whole number from 0 to limit - 1."""
    return int(rng.random() * limit)


def shuffle(rng: Random, items: list[int]) -> None:
    """Put the items into a random order, in place."""
    random = rng.random
    for last in range(len(items) - 1, 0, -1):
        other = int(random() * (last + 1))
        items[last], items[other] = items[other], items[last]
