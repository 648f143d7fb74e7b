"""Frames of tables over NATS."""

from collections.abc import Callable

import structlog

from gateway.adapters.nats_bus import Bus
from gateway.ports import Subscription
from numbridge import frames, names

log = structlog.get_logger("numbridge.gateway.views")


class NatsViews:
    """Implements ports.Views."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def watch(self, game: str, seat: names.Seat, on_frames: Callable[[list[frames.Frame]], None]) -> Subscription:
        def on_data(payload: bytes) -> None:
            try:
                unpacked = frames.unpack(payload)
            except ValueError:
                log.warning("bad_view_payload", game=game, size=len(payload))
                return
            on_frames(unpacked)

        return await self._bus.subscribe(names.view_subject(game, seat), on_data)

    def on_loss(self, callback: Callable[[], None]) -> None:
        self._bus.on_loss(callback)
