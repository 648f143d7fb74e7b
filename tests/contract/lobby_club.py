"""A lobby in this process on real NATS and Redis, and what its players hear; tables and ratings are fakes."""

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import nats
from grpc import aio
from nats.aio.client import Client
from nats.aio.msg import Msg
from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from lobby.settings import LobbySettings
from lobby.wiring import LobbyApp, build
from numbridge import names, redis_io
from numbridge.v1 import common_pb2, lobby_pb2, lobby_pb2_grpc
from tests.helpers.eventually import eventually
from tests.unit.lobby.builders import FakeRatings, FakeTables, FakeWorkers, rooms, wish

GATEWAY = "gw-1"


class Club:
    """One or more lobby replicas and their players."""

    def __init__(self, nats_url: str, redis_url: str) -> None:
        self.settings = LobbySettings(
            name="lobby-1",
            nats_url=nats_url,
            redis_url=redis_url,
            grpc_port=0,
            pool_ttl_ms=1_500,
            grace_ms=400,
            gateway_lease_ms=1_200,
            strand_ms=600,
            seat_deadline_ms=1_500,
            seat_attempt_ms=500,
            hold_ms=1_000,
            deltas_ms=50,
        )
        self.tables = FakeTables()
        self.ratings = FakeRatings()
        self.workers = FakeWorkers()
        self.apps: list[LobbyApp] = []
        self.stubs: list[lobby_pb2_grpc.LobbyAsyncStub] = []
        self.heard: dict[str, list[dict[str, Any]]] = {}
        self.deltas: list[lobby_pb2.SeekDelta] = []
        self.redis: Redis
        self.nats: Client
        self._names = itertools.count(1)
        self._stack = AsyncExitStack()

    async def open(self) -> None:
        """Connects the test's own ears."""
        self.redis = redis_io.connect(self.settings.redis_url)
        self._stack.push_async_callback(self.redis.aclose)
        self.nats = await nats.connect(self.settings.nats_url)
        self._stack.push_async_callback(self.nats.close)
        await self.nats.subscribe("player.*", cb=self._on_notice)
        await self.nats.subscribe("lobby.seeks.*", cb=self._on_delta)
        await self.nats.flush()

    async def close(self) -> None:
        """Stops everything."""
        await self._stack.aclose()

    async def _on_notice(self, message: Msg) -> None:
        notice = lobby_pb2.PlayerNotice.FromString(message.data)
        text = json.loads(notice.text)
        text["_seeks"] = list(notice.seeks)
        self.heard.setdefault(notice.player, []).append(text)

    async def _on_delta(self, message: Msg) -> None:
        self.deltas.append(lobby_pb2.SeekDelta.FromString(message.data))

    async def replica(self, name: str, **changes: Any) -> LobbyApp:
        """Starts a lobby replica and connects a stub to it."""
        app = build(
            replace(self.settings, name=name, **changes),
            registry=CollectorRegistry(),
            rooms=rooms(),
            tables=self.tables,
            ratings=self.ratings,
            workers=self.workers,
        )
        await app.start()
        self._stack.push_async_callback(app.stop)
        channel = aio.insecure_channel(f"127.0.0.1:{app.port}")
        self._stack.push_async_callback(channel.close, None)
        self.apps.append(app)
        self.stubs.append(lobby_pb2_grpc.LobbyStub(channel))
        return app

    async def ready(self) -> None:
        """Waits until every room has exactly one owner, and matching is open."""

        def settled() -> bool:
            owned = [room for app in self.apps for room in app.pools.owned]
            return sorted(owned) == sorted(rooms().ids) and all(app.gate.open for app in self.apps)

        await eventually(settled)

    @property
    def stub(self) -> "lobby_pb2_grpc.LobbyAsyncStub":
        """Any replica."""
        return self.stubs[0]

    async def post(
        self, player: str, room: str = "bridge", *, seek: str = "", via: int = 0, gateway: str = GATEWAY, **fields: Any
    ) -> lobby_pb2.PostSeekReply:
        """Posts a seek."""
        return await self.stubs[via].PostSeek(
            lobby_pb2.PostSeekRequest(
                seek=seek or f"s-{next(self._names)}",
                player=common_pb2.Player(id=player, name=player.title()),
                gateway=gateway,
                wish=wish(room, **fields),
            )
        )

    async def accept(self, player: str, seek: str, via: int = 0) -> lobby_pb2.AcceptSeekReply:
        """Accepts a seek."""
        return await self.stubs[via].AcceptSeek(
            lobby_pb2.AcceptSeekRequest(
                seek=seek, player=common_pb2.Player(id=player, name=player.title()), gateway=GATEWAY
            )
        )

    async def listed(self, room: str = "", via: int = 0) -> list[str]:
        """Ids of the open seeks."""
        reply = await self.stubs[via].ListSeeks(lobby_pb2.ListSeeksRequest(room=room))
        return [seek.seek for seek in reply.seeks]

    async def keep(self, players: list[str], gateway: str = GATEWAY, **fields: Any) -> lobby_pb2.KeepGatewayReply:
        """A gateway's heartbeat."""
        return await self.stub.KeepGateway(lobby_pb2.KeepGatewayRequest(gateway=gateway, players=players, **fields))

    async def hears(self, player: str, ev: str, **fields: Any) -> dict[str, Any]:
        """Waits until the player has been told such an event."""

        def told() -> dict[str, Any] | None:
            for event in self.heard.get(player, []):
                if event["ev"] == ev and all(event.get(key) == value for key, value in fields.items()):
                    return event
            return None

        event: dict[str, Any] | None = await eventually(
            told, what=f"{player} hears {ev} {fields}; heard {self.heard.get(player)}"
        )
        assert event is not None
        return event

    async def over(self, game: str) -> None:
        """The game ends; its worker says so."""
        await self.say(game, "over")

    async def say(self, game: str, status: str, version: int = 1) -> None:
        """A worker says how a game stands."""
        from numbridge.v1 import log_pb2

        summary = self.tables.made[game]
        changed = type(summary)(
            summary.game,
            summary.room,
            summary.settings,
            summary.blue,
            summary.red,
            status,
            summary.started_at,
            version,
        )
        self.tables.made[game] = changed
        notice = log_pb2.SeatNotice(games=[changed.to_proto()], worker="w-1")
        await self.nats.publish(names.seats_subject(7), notice.SerializeToString())
        await self.nats.flush()


@asynccontextmanager
async def club(nats_url: str, redis_url: str, replicas: int = 1, **changes: Any) -> AsyncIterator[Club]:
    """A club with running replicas."""
    made = Club(nats_url, redis_url)
    made.settings = replace(made.settings, **changes)
    try:
        await made.open()
        for number in range(replicas):
            await made.replica(f"lobby-{number + 1}")
        await made.ready()
        yield made
    finally:
        await made.close()
