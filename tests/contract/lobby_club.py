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

from lobby.pools import preferred
from lobby.settings import LobbySettings
from lobby.wiring import LobbyApp, build
from numbridge import names, redis_io
from numbridge.v1 import common_pb2, lobby_pb2, lobby_pb2_grpc, log_pb2
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
        self.asked = 0
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
        await self.nats.subscribe("seats.ask", cb=self._on_ask)
        await self.nats.flush()

    async def close(self) -> None:
        """Stops everything."""
        await self._stack.aclose()

    async def _on_notice(self, message: Msg) -> None:
        notice = lobby_pb2.PlayerNotice.FromString(message.data)
        text = json.loads(notice.text)
        text["_seeks"] = list(notice.seeks)
        self.heard.setdefault(notice.player, []).append(text)

    async def _on_ask(self, _message: Msg) -> None:
        self.asked += 1

    async def _on_delta(self, message: Msg) -> None:
        self.deltas.append(lobby_pb2.SeekDelta.FromString(message.data))

    def events_of(self, delta: lobby_pb2.SeekDelta) -> list[dict[str, Any]]:
        """The events of a delta."""
        return [json.loads(text) for text in delta.events]

    async def list_events(self, count: int) -> list[dict[str, Any]]:
        """All events of all lists so far, once there are so many."""
        await eventually(lambda: sum(len(delta.events) for delta in self.deltas) >= count)
        return [event for delta in self.deltas for event in self.events_of(delta)]

    async def replica(self, name: str, **changes: Any) -> LobbyApp:
        """Starts a lobby replica and connects a stub to it."""
        app = build(
            replace(self.settings, name=name, **changes),
            registry=CollectorRegistry(),
            rooms=None if self.settings.rooms_file else rooms(),
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
        """Waits until every room is with the replica that should have it, and matching is open."""
        replicas = [app.settings.name for app in self.apps]

        def settled() -> bool:
            return all(
                app.gate.open
                and app.pools.owned
                == {room for room in app.parts.rooms.ids if preferred(room, replicas) == app.settings.name}
                for app in self.apps
            )

        await eventually(settled)

    @property
    def stub(self) -> "lobby_pb2_grpc.LobbyAsyncStub":
        """Any replica."""
        return self.stubs[0]

    async def post(
        self,
        player: str,
        room: str = "bridge",
        *,
        seek: str = "",
        via: int = 0,
        gateway: str = GATEWAY,
        since: int = 0,
        **fields: Any,
    ) -> lobby_pb2.PostSeekReply:
        """Posts a seek; `since`: again, for Redis has lost it."""
        return await self.stubs[via].PostSeek(
            lobby_pb2.PostSeekRequest(
                seek=seek or f"auto-{next(self._names)}",
                player=common_pb2.Player(id=player, name=player.title()),
                gateway=gateway,
                wish=wish(room, **fields),
                since=since,
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

    async def play(self, one: str, two: str, **fields: Any) -> str:
        """Seats two players in Bridge by an accepted seek. Gives the game."""
        seek = f"auto-{next(self._names)}"
        mark = (len(self.heard.get(one, [])), len(self.heard.get(two, [])))
        posted = await self.post(one, seek=seek, rating_min=0, rating_max=4000, **fields)
        assert not posted.HasField("reject"), posted
        accepted = await self.accept(two, seek)
        assert accepted.game, accepted
        for player, since in zip((one, two), mark, strict=True):
            await self.hears(player, "seated", game=accepted.game)
            assert len(self.heard[player]) > since
        return accepted.game

    async def rematch(self, player: str, game: str) -> lobby_pb2.AskRematchReply:
        """Asks for a rematch."""
        who = common_pb2.Player(id=player, name=player.title())
        return await self.stub.AskRematch(lobby_pb2.AskRematchRequest(game=game, player=who, gateway=GATEWAY))

    async def leave(self, player: str, gateway: str = GATEWAY) -> None:
        """The player's last connection to the gateway has gone."""
        await self.stub.SetPresence(lobby_pb2.SetPresenceRequest(gateway=gateway, player=player, connected=False))

    async def status_of(self, player: str, game: str, status: str | None) -> bool:
        """Whether the player is known to sit at the game with this status; None: not at all."""
        [seats] = await self.apps[0].seats.of([player])
        return (seats[game][0] if game in seats else None) == status

    async def over(self, game: str) -> None:
        """The game ends; its worker says so, and it is heard."""
        await self.say(game, "over", version=1_000)
        player = self.tables.made[game].blue.id
        await eventually(lambda: self.status_of(player, game, None))

    async def say(self, game: str, status: str, version: int) -> None:
        """A worker says how a game stands."""
        self.tables.change(game, status, version)
        notice = log_pb2.SeatNotice(games=[self.tables.made[game].to_proto()], worker="w-1")
        await self._publish(7, notice)

    async def whole_shard(self, shard: int, games: list[str]) -> None:
        """A worker says which games are all that it has in a shard."""
        summaries = [self.tables.made[game].to_proto() for game in games]
        await self._publish(shard, log_pb2.SeatNotice(games=summaries, worker="w-1", whole_shard=True, shard=shard))

    async def _publish(self, shard: int, notice: log_pb2.SeatNotice) -> None:
        await self.nats.publish(names.seats_subject(shard), notice.SerializeToString())
        await self.nats.flush()

    async def restrict(self) -> None:
        """The ratings service says that operators have restricted something."""
        await self.nats.publish(names.RESTRICTIONS, b"")
        await self.nats.flush()

    async def kill(self, number: int) -> None:
        """A replica dies without a word: its loops end, its leases stay."""
        parts = self.apps[number].parts
        parts.serving = False
        await parts.server.stop(0)
        for tasks in (parts.tasks, *parts.matching.values()):
            await tasks.close()
        await parts.seating.stop()
        await parts.nats.close()
        await parts.redis.aclose()
        del self.apps[number], self.stubs[number]


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
