"""A short visit to a running cluster from the inside: NATS, who owns what, gRPC calls with a bound on every wait."""

import logging
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

import nats.errors
import nats.js.errors
import structlog
from grpc import aio
from nats.aio.client import Client
from nats.js import JetStreamContext

from numbridge import nats_io, rpc
from numbridge.cli.cluster import ClientSettings
from numbridge.cli.errors import CheckFailed
from numbridge.routing import Routes

CALL_S = 3.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Inside:
    """Connections of one visit."""

    settings: ClientSettings
    client: Client
    js: JetStreamContext
    routes: Routes

    @property
    def server(self) -> str:
        """Version of the NATS server that answers, as 2.11.3."""
        version = self.client.connected_server_version
        return f"{version.major}.{version.minor}.{version.patch}"


@asynccontextmanager
async def visit(settings: ClientSettings) -> AsyncIterator[Inside]:
    """Connects, reads the shard map, and leaves again. Raises CheckFailed if NATS can't be reached."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of how NATS' client ends a TLS connection
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))  # what fails is said by the command
    opened: list[Routes] = []

    async def back() -> None:
        for routes in opened:
            routes.refresh()

    try:
        client = await nats_io.connect(settings, on_reconnect=back)
    except (OSError, TimeoutError, nats.errors.Error) as error:
        raise CheckFailed(f"NATS can't be reached at {_shown(settings.nats_url)}: {_said(error)}") from None
    try:
        js = client.jetstream(timeout=CALL_S)
        try:
            routes = await Routes.open(js, settings.shards, settings.stream_replicas)
            await routes.start()
            opened.append(routes)
        except (TimeoutError, nats.errors.Error, nats.js.errors.Error) as error:
            raise CheckFailed(f"JetStream at {_shown(settings.nats_url)} does not answer: {_said(error)}") from None
        try:
            yield Inside(settings, client, js, routes)
        finally:
            await routes.stop()
    finally:
        await client.close()


def _shown(urls: str) -> str:
    """Servers' addresses without the user and password that an URL may hold."""
    return ", ".join(url.strip().rpartition("@")[2] for url in urls.split(","))


def _said(error: BaseException) -> str:
    """What an error says in one line; its name where it says nothing."""
    return " ".join(str(error).split()) or type(error).__name__


@asynccontextmanager
async def calling(settings: ClientSettings, address: str, role: str) -> AsyncIterator[aio.Channel]:
    """A channel for a few calls."""
    channel = rpc.channel(settings, address, role)
    try:
        yield channel
    finally:
        await channel.close(None)


async def answer_of(call: Awaitable[T]) -> T | None:
    """The answer of a gRPC call; None if the service can't be reached or refuses."""
    try:
        return await call
    except aio.AioRpcError:
        return None
