"""Dice that nobody can foresee: the system's cryptographic source, read a block at a time.

A read costs a system call, and a move draws up to three tiles; a block serves about forty moves.
"""

import os
import struct
from collections.abc import Callable, Iterator

_WORDS = 128
_READ = struct.Struct(f"<{_WORDS}I")
_ALL = 1 << 32


class SecretDice:
    """See engine.dice. Not for a forked child: it would repeat its parent's block."""

    def __init__(self, source: Callable[[int], bytes] = os.urandom) -> None:
        """`source(n)`: n unpredictable bytes."""
        self._source = source
        self._words: Iterator[int] = iter(())

    def below(self, n: int, /) -> int:
        """See engine.dice. `n` is at most 2**32."""
        even = _ALL - _ALL % n  # words from here on would favour the small numbers
        while True:
            for word in self._words:
                if word < even:
                    return word % n
            self._words = iter(_READ.unpack(self._source(_READ.size)))
