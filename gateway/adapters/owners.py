"""The shard map, as this process watches it."""

from collections.abc import Callable

import structlog
from nats.errors import Error as NatsError

from gateway.adapters.nats_bus import Bus
from numbridge.routing import Owner, Routes
from numbridge.settings import CommonSettings
from numbridge.tasks import attempts

log = structlog.get_logger("numbridge.gateway.owners")

START_S = 30.0  # how long JetStream may take to come up before the gateway gives up


class ClusterOwners:
    """Implements ports.Owners. Before `start` nobody owns anything."""

    def __init__(self, settings: CommonSettings, bus: Bus) -> None:
        self.count = settings.shards
        self._settings = settings
        self._bus = bus
        self._routes: Routes | None = None
        self._callbacks: list[Callable[[int], None]] = []

    async def start(self) -> None:
        """Reads the map and follows it. Raises TimeoutError if JetStream stays away."""
        async for attempt in attempts(START_S, cap_s=1.0):
            try:
                js = self._bus.client.jetstream()
                self._routes = await Routes.open(js, self._settings.shards, self._settings.stream_replicas)
                break
            except (NatsError, OSError) as error:
                log.warning("shard_map_away", attempt=attempt, error=type(error).__name__)
        else:
            raise TimeoutError("the shard map can't be read")
        for callback in self._callbacks:
            self._routes.on_change(callback)
        await self._routes.start()
        self._bus.on_loss(self._routes.refresh)

    async def stop(self) -> None:
        """Stops following it."""
        if self._routes is not None:
            await self._routes.stop()

    def owner(self, shard: int) -> Owner | None:
        return self._routes.owner(shard) if self._routes is not None else None

    async def wait_owner(self, shard: int, timeout_s: float, unlike: Owner | None = None) -> Owner | None:
        if self._routes is None:
            return None
        return await self._routes.wait_owner(shard, timeout_s, unlike)

    def on_change(self, callback: Callable[[int], None]) -> None:
        self._callbacks.append(callback)
        if self._routes is not None:
            self._routes.on_change(callback)
