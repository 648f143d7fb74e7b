"""What is said to players, and about seek lists, over NATS."""

from collections.abc import Callable
from typing import TypeVar

import structlog
from google.protobuf.message import DecodeError, Message

from gateway.adapters.nats_bus import Bus
from gateway.ports import Subscription
from numbridge import names
from numbridge.v1 import lobby_pb2

log = structlog.get_logger("numbridge.gateway.notices")

M = TypeVar("M", bound=Message)


def _parsed(kind: type[M], callback: Callable[[M], None]) -> Callable[[bytes], None]:
    def on_data(payload: bytes) -> None:
        try:
            message = kind.FromString(payload)
        except DecodeError:
            log.warning("bad_notice", kind=kind.__name__, size=len(payload))
            return
        callback(message)

    return on_data


class NatsNotices:
    """Implements ports.Notices."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def player(self, player: str, on_notice: Callable[[lobby_pb2.PlayerNotice], None]) -> Subscription:
        return await self._bus.subscribe(names.player_subject(player), _parsed(lobby_pb2.PlayerNotice, on_notice))

    async def seeks(self, room: str, on_delta: Callable[[lobby_pb2.SeekDelta], None]) -> Subscription:
        return await self._bus.subscribe(names.seeks_subject(room), _parsed(lobby_pb2.SeekDelta, on_delta))

    async def announcements(self, on_text: Callable[[bytes], None]) -> Subscription:
        return await self._bus.subscribe(names.ANNOUNCEMENTS, on_text)

    async def announce(self, text: bytes) -> None:
        await self._bus.publish(names.ANNOUNCEMENTS, text)

    def on_loss(self, callback: Callable[[], None]) -> None:
        self._bus.on_loss(callback)
