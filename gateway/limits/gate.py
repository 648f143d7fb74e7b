"""One limit."""

from gateway.metrics import Metrics
from gateway.ports import LimitsAway, SharedLimits
from gateway.session.limits import Buckets, Rate
from numbridge.clock import monotonic
from numbridge.errors import Reason, Rejected
from numbridge.tasks import Tasks

NOTES_MOST = 1_000  # notes for Redis under way at the same time; beyond it they are dropped: the own bucket has them


class Gate:
    """So many of something for each key: by this gateway's own buckets, then by those that all gateways share."""

    def __init__(
        self, name: str, what: str, rate: Rate, shared: SharedLimits | None, metrics: Metrics, *, own: bool = True
    ) -> None:
        """`what`: what there were too many of, for the refusal. `own`: False where the session counts."""
        self._name = name
        self._what = what
        self._rate = rate
        self._shared = shared
        self._metrics = metrics
        self._own = Buckets(rate) if own else None
        self._notes = Tasks()

    async def take(self, key: str) -> None:
        """Raises Rejected (limit) when `key` has done that too often."""
        wait = self._own.take(key, monotonic()) if self._own is not None else 0
        self._refuse(wait or await self._ask(key, take=True))

    async def look(self, key: str) -> None:
        """As `take`, and takes nothing."""
        wait = self._own.peek(key, monotonic()) if self._own is not None else 0
        self._refuse(wait or await self._ask(key, take=False))

    def note(self, key: str) -> None:
        """It has happened: takes without asking, and without waiting for Redis."""
        if self._own is not None:
            self._own.take(key, monotonic())
        if self._shared is not None and len(self._notes) < NOTES_MOST:
            self._notes.spawn(self._ask(key, take=True), "limit_note")

    async def stop(self) -> None:
        """Ends notes under way."""
        await self._notes.close()

    def _refuse(self, wait: int) -> None:
        if wait:
            self._metrics.limited(self._name)
            raise Rejected(Reason.LIMIT, f"too many {self._what} in a short time; wait {wait} ms", retry_ms=wait)

    async def _ask(self, key: str, *, take: bool) -> int:
        if self._shared is None:
            return 0
        try:
            return await self._shared.take(self._name, key, self._rate, take=take)
        except LimitsAway:
            self._metrics.unshared()
            return 0
