"""The one source of luck that the engine knows."""

from typing import Protocol


class Dice(Protocol):
    """Fair, unpredictable numbers. The table worker passes a cryptographic one."""

    def below(self, n: int, /) -> int:
        """A number drawn evenly from 0..n-1; n is at least 1."""
        ...
