"""The round over all sockets: pings, silent sockets, sockets without a hello, slow readers that have caught up."""

import asyncio

from gateway.connection import Connection
from gateway.metrics import Metrics
from numbridge import clock, wire
from numbridge.tasks import Tasks, forever

ROUND_S = 0.25


class Keeper:
    """All open connections."""

    def __init__(self, metrics: Metrics, *, hello_ms: int, ping_ms: int, dead_ms: int) -> None:
        self.connections: set[Connection] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self._metrics = metrics
        self._hello_s = hello_ms / 1000
        self._ping_s = ping_ms / 1000
        self._dead_s = dead_ms / 1000
        self._tasks = Tasks()

    async def start(self) -> None:
        """Starts the rounds."""
        self._tasks.spawn(forever(self._round, ROUND_S, "keeper"), "keeper")

    async def stop(self) -> None:
        """Ends the rounds."""
        await self._tasks.close()

    def add(self, connection: Connection) -> None:
        """A socket has opened."""
        self.connections.add(connection)
        self._empty.clear()

    def drop(self, connection: Connection) -> None:
        """A socket has gone."""
        self.connections.discard(connection)
        if not self.connections:
            self._empty.set()

    async def empty(self) -> None:
        """Waits until no socket is left."""
        await self._empty.wait()

    def shut_all(self, code: int, reason: str) -> None:
        """Closes every socket."""
        for connection in tuple(self.connections):
            connection.shut(code, reason, "drain")

    async def _round(self) -> None:
        now = clock.monotonic()
        for connection in tuple(self.connections):
            if connection.closing:
                continue
            if now - connection.heard_at > self._dead_s:
                connection.shut(wire.CLOSE_POLICY, "nothing was heard for too long", "silent")
            elif not connection.open and now - connection.opened_at > self._hello_s:
                connection.shut(wire.CLOSE_POLICY, "no hello in time", "no_hello")
            else:
                if now - connection.pinged_at >= self._ping_s:
                    connection.ping(now)
                connection.tick()
