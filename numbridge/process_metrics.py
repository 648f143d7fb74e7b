"""What every service measures of itself: release, readiness, drain, its loop's lag, and its unary gRPC calls."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from grpc import aio
from prometheus_client import CollectorRegistry, Gauge, Histogram

from numbridge import RELEASE
from numbridge.clock import monotonic
from numbridge.obs import LATENCY_BUCKETS

_LOOK_S = 0.25


class ProcessMetrics:
    """One per process."""

    def __init__(self, registry: CollectorRegistry, ready: Callable[[], bool], draining: Callable[[], bool]) -> None:
        """`ready`, `draining`: asked at each scrape; cheap."""
        info = Gauge("numbridge_release_info", "1; the release is the label.", ["release"], registry=registry)
        info.labels(RELEASE).set(1)
        Gauge(
            "numbridge_ready", "1 while the service can reach what it needs, else 0.", registry=registry
        ).set_function(lambda: float(ready()))
        Gauge(
            "numbridge_draining", "1 from the first signal, or a drain by command, until the end.", registry=registry
        ).set_function(lambda: float(draining()))
        Gauge(
            "numbridge_asyncio_tasks",
            "Tasks of the event loop; they go back when their work is done.",
            registry=registry,
        ).set_function(_tasks)
        self._lag = Histogram(
            "numbridge_loop_lag_seconds",
            "How late the event loop got to a timer: everything this process does waits that long.",
            buckets=LATENCY_BUCKETS,
            registry=registry,
        )

    async def watch(self) -> None:
        """Measures the loop until cancelled."""
        while True:
            due = monotonic() + _LOOK_S
            await asyncio.sleep(_LOOK_S)
            self._lag.observe(max(0.0, monotonic() - due))


def _tasks() -> float:
    try:
        return float(len(asyncio.all_tasks()))
    except RuntimeError:  # asked outside of the loop
        return 0.0


class CallMetrics(aio.ServerInterceptor):  # type: ignore[type-arg]
    """Times unary calls. A method that the server does not have is not counted, so the label's set is closed."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "numbridge_grpc_call_seconds",
            "Unary gRPC calls served, by method and how they ended; `refused` ended with a status of ours.",
            ["method", "outcome"],
            buckets=LATENCY_BUCKETS,
            registry=registry,
        )

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any) -> Any:
        """See aio.ServerInterceptor."""
        handler = await continuation(handler_call_details)
        if handler is None or handler.unary_unary is None:
            return handler
        method = handler_call_details.method.rpartition("/")[2]

        async def timed(request: Any, context: Any) -> Any:
            began, outcome = monotonic(), "fault"
            try:
                reply = await handler.unary_unary(request, context)
                outcome = "ok"
            except aio.AbortError:
                outcome = "refused"
                raise
            except asyncio.CancelledError:
                outcome = "cancelled"
                raise
            finally:
                self._seconds.labels(method, outcome).observe(monotonic() - began)
            return reply

        return grpc.unary_unary_rpc_method_handler(timed, handler.request_deserializer, handler.response_serializer)
