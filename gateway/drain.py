"""Going away without losing anything: stop accepting, send everybody to another gateway, tell the lobby."""

import asyncio

from gateway.http.server import Server
from gateway.http.socket import Door
from gateway.keeper import Keeper
from gateway.players import Players
from numbridge import wire

CLOSE_S = 5.0  # for all closing handshakes; what is left is cut


class Drain:
    """Steps of the drain; readiness has gone off before the first."""

    def __init__(self, server: Server, door: Door, keeper: Keeper, players: Players) -> None:
        self._server = server
        self._door = door
        self._keeper = keeper
        self._players = players

    async def refuse(self) -> None:
        """No new connections: the ports are closed, so that the other gateways that share one get them."""
        self._door.closed = True
        await self._server.stop_listening()

    async def close(self) -> None:
        """Closes every socket with 1012: clients connect elsewhere and resume by version."""
        self._keeper.shut_all(wire.CLOSE_RESTART, "this gateway is going away; connect again and join with since")
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._keeper.empty()
        except TimeoutError:
            pass
        await self._players.settle()
