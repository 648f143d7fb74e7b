"""Faults of our own: counted and logged, never shown, and never the end of anybody else's request."""

from types import TracebackType

import structlog

from gateway.metrics import Metrics
from numbridge.errors import Reason, Rejected

log = structlog.get_logger("numbridge.gateway.faults")


class Supervised:
    """A block whose Rejected and unexpected exceptions end in `rejected` instead of going on; cancelling goes on."""

    __slots__ = ("_metrics", "_where", "rejected")

    def __init__(self, metrics: Metrics, where: str) -> None:
        self._metrics = metrics
        self._where = where
        self.rejected: Rejected | None = None

    def __enter__(self) -> "Supervised":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        if isinstance(error, Rejected):
            self.rejected = error
        else:
            self._metrics.fault(self._where)
            log.error("fault", where=self._where, exc_info=error)
            self.rejected = Rejected(Reason.INTERNAL, "a fault of the server's own; it has been logged")
        return True
