"""The ratings service with the world around it, for its contract tests."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from prometheus_client import CollectorRegistry

from numbridge import frames, names, nats_io, rpc
from numbridge.app import App
from numbridge.local_servers import free_port
from numbridge.v1 import log_pb2, ratings_pb2_grpc
from ratings.ports import Ledger
from ratings.settings import RatingsSettings
from ratings.wiring import build
from tests.unit.ratings.builders import subject_of


def unchanged(ledger: Ledger) -> Ledger:
    """No test in between."""
    return ledger


@dataclass
class Service:
    """One running replica, and a stub of its own."""

    app: App
    stub: "ratings_pb2_grpc.RatingsAsyncStub"

    def count(self, outcome: str) -> float:
        """Deliveries with this outcome, by the metric."""
        return self.app.registry.get_sample_value("numbridge_ratings_results_total", {"outcome": outcome}) or 0.0


class Cluster:
    """The world around the service: a worker's results go in, announcements come out."""

    def __init__(self, settings: RatingsSettings, client: Client) -> None:
        self.settings = settings
        self.client = client
        self.js = client.jetstream()
        self.archived: list[str] = []
        self.frames: dict[tuple[str, str], list[dict[str, Any]]] = {}

    async def listen(self) -> None:
        """Hears everything that the service says."""

        async def on_archived(message: Msg) -> None:
            assert message.subject == f"archived.7.{message.data.decode()}"
            self.archived.append(message.data.decode())

        async def on_view(message: Msg) -> None:
            _, game, seat = message.subject.split(".")
            for version, text in frames.unpack(message.data):
                assert version == 0
                self.frames.setdefault((game, seat), []).append(json.loads(text))

        await self.client.subscribe(names.ARCHIVED_ALL, cb=on_archived)
        await self.client.subscribe("view.>", cb=on_view)
        await nats_io.ensure_streams(self.js, 1)
        await self.client.flush()

    async def publish(self, *results: log_pb2.GameResult) -> None:
        """As a worker does, without the message id: every call is a new message."""
        for result in results:
            await self.js.publish(subject_of(result), result.SerializeToString())

    async def left(self) -> int:
        """Messages in the stream."""
        return int((await self.js.stream_info(names.RESULTS)).state.messages)

    @asynccontextmanager
    async def service(
        self, wrap_ledger: Callable[[Ledger], Ledger] = unchanged, **settings: Any
    ) -> AsyncIterator[Service]:
        """A replica, up and reachable."""
        mine = replace(self.settings, grpc_port=free_port(), **settings)
        app = build(mine, registry=CollectorRegistry(), wrap_ledger=wrap_ledger)
        async with app, rpc.channel(mine, f"127.0.0.1:{mine.grpc_port}", "ratings") as channel:
            yield Service(app, ratings_pb2_grpc.RatingsStub(channel))


@asynccontextmanager
async def ratings_cluster(nats_url: str, redis_url: str, folder: Path) -> AsyncIterator[Cluster]:
    """Streams, listeners and settings; no replica yet."""
    settings = RatingsSettings(
        name="test",
        nats_url=nats_url,
        redis_url=redis_url,
        database_url=f"sqlite:///{folder}/ratings.sqlite3",
        results_ack_wait_ms=1_000,
    )
    client = await nats.connect(nats_url)
    try:
        cluster = Cluster(settings, client)
        await cluster.listen()
        yield cluster
    finally:
        await client.close()
