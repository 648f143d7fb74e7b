"""Logs and metrics.

Logs go to stderr, one line an event. Secrets (tokens, hands, solutions) are
never passed to a logger; `redact` is the belt to that brace.
"""

import io
import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

_SECRET_KEYS = frozenset(
    {"token", "authorization", "solution", "hand", "hands", "bag", "drew", "paid", "secret", "key"}
)

# Seconds; dense where the goals lie: moves under 100 ms, on an idle cluster under 2 ms.
LATENCY_BUCKETS = (
    0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02,
    0.03, 0.05, 0.075, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
)  # fmt: skip


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Blanks values whose key says that they are secret."""
    for key in _SECRET_KEYS & event.keys():
        event[key] = "[redacted]"
    return event


class _Stderr(io.StringIO):
    """Whatever stderr is when a line is written: it may have been replaced since the loggers were made."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def setup_logs(service: str, name: str, level: str, fmt: str) -> None:
    """Configures structlog and the standard library's logging for this process."""
    number = getattr(logging, level.upper())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        redact,
    ]
    last = structlog.processors.JSONRenderer() if fmt == "json" else structlog.dev.ConsoleRenderer(colors=False)
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info, last],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(file=_Stderr()),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(
        level=max(number, logging.WARNING), stream=_Stderr(), format="%(levelname)s %(name)s %(message)s"
    )
    structlog.contextvars.bind_contextvars(service=service, name=name)
