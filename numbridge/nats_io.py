"""NATS: connections, streams and buckets with the settings that the promises need."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable

import nats
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext
from nats.js.api import (
    DiscardPolicy,
    KeyValueConfig,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import BadRequestError, NotFoundError
from nats.js.kv import KeyValue

from numbridge import names
from numbridge.settings import CommonSettings

log = structlog.get_logger("numbridge.nats")

Hook = Callable[[], Awaitable[None]]

_STREAM_EXISTS = 10058  # another process made it first, with other settings
FIRST_CONNECT_S = 30.0
PENDING_BYTES = 8 * 1024 * 1024  # outgoing buffer while the server is away; beyond it publish raises


async def connect(
    settings: CommonSettings,
    *,
    on_reconnect: Hook | None = None,
    on_disconnect: Hook | None = None,
    on_error: Callable[[Exception], Awaitable[None]] | None = None,
) -> Client:
    """A connection that comes back by itself for ever.

    Raises OSError or TimeoutError if there is no server within FIRST_CONNECT_S.
    """

    async def errors(error: Exception) -> None:
        log.warning("nats_error", error=f"{type(error).__name__}: {error}")
        if on_error is not None:
            await on_error(error)

    async def gone() -> None:
        log.warning("nats_disconnected")
        if on_disconnect is not None:
            await on_disconnect()

    async def back() -> None:
        log.info("nats_reconnected")
        if on_reconnect is not None:
            await on_reconnect()

    tls = ssl.create_default_context(cafile=settings.nats_tls_ca) if settings.nats_tls_ca else None
    # nats-py tries for ever, the first time too; a service that finds no server is to say so and end.
    async with asyncio.timeout(FIRST_CONNECT_S):
        return await nats.connect(
            servers=[url.strip() for url in settings.nats_url.split(",")],
            name=f"numbridge {settings.name}",
            user_credentials=settings.nats_creds or None,
            inbox_prefix=settings.nats_inbox,
            tls=tls,
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.25,
            connect_timeout=3,
            ping_interval=5,
            max_outstanding_pings=2,
            pending_size=PENDING_BYTES,
            allow_reconnect=True,
            error_cb=errors,
            disconnected_cb=gone,
            reconnected_cb=back,
        )


async def settle(client: Client, timeout_s: float = 3.0) -> None:
    """Returns when the server has taken all that was sent on this connection: subscriptions are in force.

    `Client.flush` does not promise that: its ping is written ahead of commands that still wait in the client's
    buffer. A message to ourselves goes the way of all commands. Raises TimeoutError, or a nats error.
    """
    inbox = client.new_inbox()
    arrived: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    subscription = await client.subscribe(inbox, future=arrived)
    try:
        await client.publish(inbox, b"")
        async with asyncio.timeout(timeout_s):
            await arrived
    finally:
        if not client.is_closed:
            await subscription.unsubscribe()


class _HandsOver:
    """Stands where nats-py's `subscribe` takes a future for the one message of a reply: passes every message on."""

    __slots__ = ("_on_message",)

    def __init__(self, on_message: Callable[[Msg], None]) -> None:
        self._on_message = on_message

    def cancelled(self) -> bool:
        """Never: the subscription is ended instead."""
        return False

    def set_result(self, message: Msg) -> None:
        """A message has been read."""
        self._on_message(message)


async def subscribe_directly(client: Client, subject: str, on_message: Callable[[Msg], None]) -> Subscription:
    """A subscription whose messages are handed over as they are read, in order. `on_message` must not raise.

    nats-py gives each subscription a queue and a task. With one subscription a player and one a seat, and callbacks
    that never wait, these were a third of what a socket holds at a gateway, and a wake-up a message.
    """
    subscription = await client.subscribe(subject, future=_HandsOver(on_message))  # type: ignore[arg-type]
    subscription._pending_queue = None  # type: ignore[assignment]  # never used: a reply has none either
    return subscription


async def ensure_streams(js: JetStreamContext, replicas: int) -> None:
    """Makes TABLES and RESULTS if they are not there; existing ones are left as the operator set them."""
    for config in stream_configs(replicas):
        await _ensure(js, config)


def stream_configs(replicas: int) -> tuple[StreamConfig, StreamConfig]:
    """TABLES and RESULTS as the promises need them."""
    # No age limit: adjourned games stay. A full stream refuses appends and drops nothing.
    return (
        _config(names.TABLES, names.TABLES_SUBJECTS, RetentionPolicy.LIMITS, replicas),
        _config(names.RESULTS, names.RESULTS_SUBJECTS, RetentionPolicy.WORK_QUEUE, replicas),
    )


def _config(name: str, subjects: str, retention: RetentionPolicy, replicas: int) -> StreamConfig:
    return StreamConfig(
        name=name,
        subjects=[subjects],
        retention=retention,
        storage=StorageType.FILE,
        num_replicas=replicas,
        discard=DiscardPolicy.NEW,
        allow_direct=True,
    )


async def _ensure(js: JetStreamContext, config: StreamConfig) -> None:
    try:
        await js.stream_info(str(config.name))
    except NotFoundError:
        try:
            await js.add_stream(config)
        except BadRequestError as error:
            if error.err_code != _STREAM_EXISTS:
                raise


async def bucket(js: JetStreamContext, name: str, replicas: int) -> KeyValue:
    """A KV bucket, made if it is not there."""
    try:
        return await js.key_value(name)
    except NotFoundError:
        pass
    try:
        return await js.create_key_value(
            KeyValueConfig(bucket=name, history=1, storage=StorageType.FILE, replicas=replicas)
        )
    except BadRequestError as error:
        if error.err_code != _STREAM_EXISTS:
            raise
        return await js.key_value(name)
