"""Network lag of one socket, from the round trips of the server's own pings."""

from collections import deque

MAX_LAG_MS = 500  # the most that a move is credited with (rules, section 7)
SAMPLES = 6  # recent round trips that count; the smallest is nearest to the network's own


class Lag:
    """One ping under way at a time; its payload is what the pong must bring back."""

    __slots__ = ("_count", "_recent", "_sent_at", "_waiting", "last_s")

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=SAMPLES)
        self._waiting: bytes | None = None
        self._sent_at = 0.0
        self._count = 0
        self.last_s = 0.0  # the last round trip, seconds

    def ping(self, now: float, salt: bytes) -> bytes:
        """Payload of the next ping. `salt` is unguessable, so that no pong can be sent before its ping has come."""
        self._count += 1
        self._waiting = b"%d." % self._count + salt
        self._sent_at = now
        return self._waiting

    def pong(self, payload: bytes, now: float) -> bool:
        """Takes a pong; False if it answers no ping that is under way (unasked pongs are allowed, and mean nothing)."""
        if self._waiting is None or payload != self._waiting:
            return False
        self._waiting = None
        self.last_s = max(0.0, now - self._sent_at)
        self._recent.append(self.last_s)
        return True

    @property
    def waiting(self) -> bool:
        """Whether a ping is under way."""
        return self._waiting is not None

    @property
    def lag_ms(self) -> int:
        """Estimate of one way, in milliseconds: half the smallest recent round trip, capped."""
        if not self._recent:
            return 0
        return min(MAX_LAG_MS, round(min(self._recent) * 500))
