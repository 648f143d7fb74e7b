"""The gateway's NATS connection: subscriptions that are in force when they return, and word of possible loss."""

import asyncio
from collections.abc import Callable

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as NatsSubscription
from nats.errors import Error as NatsError

from gateway.faults import Supervised
from gateway.metrics import Metrics
from numbridge import nats_io
from numbridge.errors import unavailable
from numbridge.settings import CommonSettings
from numbridge.tasks import Tasks

log = structlog.get_logger("numbridge.gateway.bus")

SETTLE_S = 3.0  # for the server to say that a subscription is in force
LOSS_S = 0.1  # losses within this time are told of once


class Bus:
    """One connection for all of the gateway's subscriptions."""

    def __init__(self, settings: CommonSettings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._tasks = Tasks()
        self._losses: list[Callable[[], None]] = []
        self._client: Client | None = None
        self.subscriptions = 0
        self._telling: asyncio.TimerHandle | None = None

    @property
    def client(self) -> Client:
        """The connection. Raises Rejected before `start`."""
        if self._client is None:
            raise unavailable("the message bus")
        return self._client

    @property
    def connected(self) -> bool:
        """Whether the connection stands now."""
        return self._client is not None and self._client.is_connected

    def on_loss(self, callback: Callable[[], None]) -> None:
        """`callback()` runs after a reconnect: what was said meanwhile went to nobody."""
        self._losses.append(callback)

    async def start(self) -> None:
        """Connects. Raises OSError or TimeoutError if there is no server."""
        self._client = await nats_io.connect(self._settings, on_reconnect=self._back)

    async def stop(self) -> None:
        """Closes the connection."""
        if self._telling is not None:
            self._telling.cancel()
        await self._tasks.close()
        if self._client is not None:
            await self._client.close()

    async def subscribe(self, subject: str, on_data: Callable[[bytes], None]) -> "Ended":
        """Subscribes; nothing that is published after the return is missed. Raises Rejected (unavailable)."""

        ended = Ended(self)

        def on_message(message: Msg) -> None:
            if not ended.is_over:
                with Supervised(self._metrics, "bus"):
                    on_data(message.data)

        try:
            ended.subscription = await nats_io.subscribe_directly(self.client, subject, on_message)
        except (NatsError, OSError) as error:
            raise unavailable("the message bus") from error
        self.subscriptions += 1
        try:
            await nats_io.settle(self.client, SETTLE_S)
        except (NatsError, TimeoutError, OSError) as error:
            ended.end()
            raise unavailable("the message bus") from error
        except BaseException:
            ended.end()
            raise
        return ended

    async def publish(self, subject: str, data: bytes) -> None:
        """Says something; it has reached the server when this returns. Raises Rejected (unavailable)."""
        if not self.connected:  # or it would be said after a reconnect, whenever that is
            raise unavailable("the message bus")
        try:
            await self.client.publish(subject, data)
            await self.client.flush(int(SETTLE_S))
        except (NatsError, TimeoutError, OSError) as error:
            raise unavailable("the message bus") from error

    def drop(self, subscription: NatsSubscription) -> None:
        """Ends a subscription in the background."""
        self.subscriptions -= 1
        self._tasks.spawn(self._drop(subscription), "unsubscribe")

    async def _drop(self, subscription: NatsSubscription) -> None:
        try:
            await subscription.unsubscribe()
        except (NatsError, OSError):  # the connection is gone, and the subscription with it
            pass

    async def _back(self) -> None:
        self._lost("reconnect")

    def _lost(self, why: str) -> None:
        """Tells of a loss, a moment later: a connection that comes and goes is mended once."""
        if self._telling is None:
            self._metrics.resync(why)
            self._telling = asyncio.get_running_loop().call_later(LOSS_S, self._tell)

    def _tell(self) -> None:
        self._telling = None
        for callback in self._losses:
            callback()


class Ended:
    """A subscription that can be ended."""

    __slots__ = ("_bus", "is_over", "subscription")

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.is_over = False
        self.subscription: NatsSubscription | None = None

    def end(self) -> None:
        """No call comes after this."""
        self.is_over = True
        if self.subscription is not None:
            self._bus.drop(self.subscription)
            self.subscription = None
