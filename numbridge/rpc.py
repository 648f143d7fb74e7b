"""gRPC servers and channels, with health, reflection, keepalive and optional mutual TLS.

Create servers and channels inside the running loop; one loop a process.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from prometheus_client import CollectorRegistry

from numbridge.errors import Reason, Rejected, status_of
from numbridge.process_metrics import CallMetrics
from numbridge.settings import CommonSettings
from numbridge.trust import host_of
from numbridge.trust.callers import Callers

_OPTIONS: tuple[tuple[str, Any], ...] = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
)
_SERVER_OPTIONS = (
    *_OPTIONS,
    ("grpc.so_reuseport", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
)
_CHANNEL_OPTIONS = (
    *_OPTIONS,
    ("grpc.lb_policy_name", "round_robin"),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
    ("grpc.enable_retries", 0),  # what may be retried is decided where the call is made
)


def _pem(settings: CommonSettings) -> tuple[bytes, bytes, bytes] | None:
    if not settings.grpc_tls_cert:
        return None
    cert, key, ca = (
        Path(path).read_bytes() for path in (settings.grpc_tls_cert, settings.grpc_tls_key, settings.grpc_tls_ca)
    )
    return cert, key, ca


class Server:
    """A gRPC server that knows its port once started."""

    def __init__(
        self, settings: CommonSettings, port: int, services: Sequence[str], registry: CollectorRegistry | None = None
    ) -> None:
        """`services`: full names, for health and reflection. Register servicers on `.server` before `start`.

        `registry`: where unary calls are measured; None: not at all.
        """
        pem = _pem(settings)
        interceptors: list[Any] = [] if pem is None else [Callers()]
        if registry is not None:
            interceptors.append(CallMetrics(registry))
        self.server = aio.server(options=_SERVER_OPTIONS, interceptors=interceptors)
        self.health: Any = vars(health)["aio"].HealthServicer()  # the stubs do not know it
        self._services = services
        health_pb2_grpc.add_HealthServicer_to_server(self.health, self.server)
        reflection.enable_server_reflection((*services, health.SERVICE_NAME, reflection.SERVICE_NAME), self.server)
        address = f"{settings.listen_host}:{port}"
        if pem is not None:
            cert, key, ca = pem
            credentials = grpc.ssl_server_credentials([(key, cert)], ca, require_client_auth=True)
            self.port = self.server.add_secure_port(address, credentials)
        else:
            self.port = self.server.add_insecure_port(address)

    async def start(self) -> None:
        """Starts serving and reports healthy."""
        await self.server.start()
        for name in ("", *self._services):
            await self.health.set(name, health_pb2.HealthCheckResponse.SERVING)

    async def stop(self, grace_s: float = 2.0) -> None:
        """Reports unhealthy, lets calls under way end within `grace_s`, and stops."""
        await self.health.enter_graceful_shutdown()
        await self.server.stop(grace_s)


def channel(settings: CommonSettings, address: str, role: str) -> aio.Channel:
    """A channel to `address`: host:port, several separated by commas (round robin), or a gRPC target.

    `role`: whose certificate must be shown there, where certificates are; addresses come and go with processes.
    """
    target = address
    if "," in address:
        target = "ipv4:" + ",".join(part.strip() for part in address.split(","))
    if (pem := _pem(settings)) is not None:
        cert, key, ca = pem
        credentials = grpc.ssl_channel_credentials(ca, key, cert)
        options = (*_CHANNEL_OPTIONS, ("grpc.ssl_target_name_override", host_of(role)))
        return aio.secure_channel(target, credentials, options=options)
    return aio.insecure_channel(target, options=_CHANNEL_OPTIONS)


async def abort(context: "aio.ServicerContext[Any, Any]", rejected: Rejected) -> None:
    """Ends a unary call with the status of a refusal; the reason travels as metadata."""
    await context.abort(
        status_of(rejected.reason),
        rejected.message,
        trailing_metadata=(("numbridge-reason", str(rejected.reason)),),
    )


def reason_of(error: aio.AioRpcError) -> Rejected:
    """The refusal that a failed call stands for; without one, a service that is away."""
    trailing: Any = error.trailing_metadata() or ()
    reason = dict(trailing).get("numbridge-reason")
    if reason in tuple(Reason):
        return Rejected(Reason(str(reason)), error.details() or str(reason))
    if error.code() is grpc.StatusCode.NOT_FOUND:
        return Rejected(Reason.NOT_FOUND, error.details() or "not found")
    if error.code() is grpc.StatusCode.INVALID_ARGUMENT:
        return Rejected(Reason.BAD_MESSAGE, error.details() or "malformed request")
    if error.code() in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN):
        return Rejected(Reason.INTERNAL, "a fault of the server's own; it has been logged")
    return Rejected(Reason.UNAVAILABLE, "part of the club can't be reached just now; nothing was lost, try again")
