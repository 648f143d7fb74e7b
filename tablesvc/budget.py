"""How often something costly may be done: so many at once, so many a second in the long run."""

from collections.abc import Callable

from numbridge.clock import monotonic


class Budget:
    """A bucket of tokens, full at the start."""

    def __init__(self, burst: int, per_s: float, clock: Callable[[], float] = monotonic) -> None:
        """`clock`: seconds that never go back."""
        self._burst = float(burst)
        self._per_s = per_s
        self._clock = clock
        self._level = self._burst
        self._at = clock()

    def take(self) -> bool:
        """Whether it may be done once more now; if so, it is counted."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._at) * self._per_s)
        self._at = now
        if self._level < 1.0:
            return False
        self._level -= 1.0
        return True
