"""The values that both players accept.

Blocks and switches go by coin where both leave them open; givens are the
number nearest to the room's default. Blue goes by a fair coin.
"""

from collections.abc import Callable
from dataclasses import dataclass

from lobby.matching.seek import Blocks, Profile, Span

Coin = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Settled:
    """What a game is played under, as far as the players choose it."""

    blocks: Blocks
    givens: int
    highlight: bool
    rated: bool


def settle(a: Profile, b: Profile, default: int, coin: Coin) -> Settled:
    """The game for two overlapping profiles. One who accepts a seek from the list is given its own profile,
    for an accepter takes on whatever the seek leaves open.

    Raises ValueError if they do not overlap.
    """
    can: list[tuple[Blocks, Span]] = []
    if a.regular and b.regular and (span := a.regular.overlap(b.regular)):
        can.append(("regular", span))
    if a.irregular and b.irregular and (span := a.irregular.overlap(b.irregular)):
        can.append(("irregular", span))
    if not can:
        raise ValueError("no layout suits both")
    blocks, span = can[1] if len(can) == 2 and coin() else can[0]
    return Settled(
        blocks,
        min(max(default, span.lo), span.hi),
        _switch(a.highlight, b.highlight, coin),
        _switch(a.rated, b.rated, coin),
    )


def _switch(a: bool | None, b: bool | None, coin: Coin) -> bool:
    if a is not None and b is not None and a is not b:
        raise ValueError("a switch does not suit both")
    chosen = a if a is not None else b
    return coin() if chosen is None else chosen


def colors(first: str, second: str, coin: Coin) -> tuple[str, str]:
    """Who is blue and who is red."""
    return (first, second) if coin() else (second, first)
