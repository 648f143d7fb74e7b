"""A gateway with real sockets over scripted backends."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from prometheus_client import CollectorRegistry

from gateway.settings import Settings
from gateway.wiring import GatewayApp, build
from numbridge.tokens import Claims, KeyRing, sign
from tests.helpers.client import Client
from tests.unit.gateway.fakes import KEY, Cluster

DEFAULTS = Settings(name="g1", port=0, token_key=KEY)


class World:
    """One running gateway and a way to talk to it."""

    def __init__(self, app: GatewayApp, cluster: Cluster, session: aiohttp.ClientSession) -> None:
        self.app = app
        self.cluster = cluster
        self.session = session
        self._clients: list[Client] = []
        self.url = f"http://127.0.0.1:{app.server.ports[0]}"

    def token(self, player: str, name: str = "", **claims: Any) -> str:
        """A token signed with the gateway's key."""
        return sign(KeyRing((KEY.encode(),)), player, name or player, **claims)

    async def player(self, player: str, **hello: Any) -> Client:
        """A connected player."""
        client = Client(self.session, self.url, self.token(player), {"id": player, "name": player})
        self._clients.append(client)
        return await client.connect(**hello)

    async def hang_up(self) -> None:
        """Closes what is still open, dropped sockets too."""
        await asyncio.gather(*(client.close() for client in self._clients))

    async def seated(self, game: str, *players: str) -> tuple[Client, ...]:
        """Connected players who have joined `game`."""
        clients = [await self.player(player) for player in players]
        for client in clients:
            await client.join(game)
        return tuple(clients)

    def metric(self, name: str, **labels: str) -> float:
        """The value of a collector."""
        return self.app.registry.get_sample_value(name, labels) or 0.0


@asynccontextmanager
async def gateway(
    cluster: Cluster | None = None, *, revoked: Callable[[Claims], bool] | None = None, **settings: Any
) -> AsyncIterator[World]:
    """A gateway that listens on a free port."""
    cluster = cluster if cluster is not None else Cluster()
    app = build(
        dataclasses.replace(DEFAULTS, **settings),
        behind=cluster.behind(),
        revoked=revoked,
        registry=CollectorRegistry(),
    )
    connector = aiohttp.TCPConnector(limit=0)
    async with app, aiohttp.ClientSession(connector=connector) as session:
        world = World(app, cluster, session)
        yield world
        await world.hang_up()
