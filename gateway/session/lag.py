"""Network lag of one socket, from the round trips of the server's own pings.

A client may hold its pongs back and send its moves at once, to be credited with a lag that is not there. Beside the
cap, two things bound what that gains: where the system's TCP has measured the same way (its acknowledgements are not
the client program's to delay) no more counts than that and a little; and a ping that stays without an answer for
long ends all credit until one is answered.
"""

MAX_LAG_MS = 500  # the most that a move is credited with (rules, section 7)
TCP_SLACK_S = 0.05  # by how much a round trip may exceed what TCP measures: the client program's own time
SILENT_S = 10.0  # a ping that has no answer for so long: no credit
SAMPLES = 6  # recent round trips that count; the smallest is nearest to the network's own


class Lag:
    """One ping under way at a time; its payload is what the pong must bring back."""

    __slots__ = ("_count", "_most_s", "_recent", "_sent_at", "_waiting", "last_s")

    def __init__(self) -> None:
        self._recent: list[float] = []  # a deque, even an empty one, takes 0.7 KB a socket
        self._waiting: bytes | None = None
        self._sent_at = 0.0
        self._count = 0
        self._most_s: float | None = None
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
        self._recent = [*self._recent[1 - SAMPLES :], self.last_s]
        return True

    @property
    def waiting(self) -> bool:
        """Whether a ping is under way."""
        return self._waiting is not None

    def bound(self, tcp_s: float | None) -> None:
        """TCP's own estimate of the round trip, seconds; None where the system has none for this client."""
        self._most_s = None if tcp_s is None else tcp_s + TCP_SLACK_S

    def lag_ms(self, now: float) -> int:
        """Estimate of one way, in milliseconds: half the smallest recent round trip, bounded and capped."""
        if not self._recent or (self.waiting and now - self._sent_at > SILENT_S):
            return 0
        trip = min(self._recent)
        if self._most_s is not None:
            trip = min(trip, self._most_s)
        return min(MAX_LAG_MS, round(trip * 500))
