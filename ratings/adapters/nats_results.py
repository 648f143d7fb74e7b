"""`ports.ResultSource` on a durable pull consumer of RESULTS, shared by all replicas.

Some waits of the library raise the built-in TimeoutError, which is no NatsError.
"""

import asyncio
import json
from collections.abc import Coroutine
from datetime import UTC, datetime

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig

from numbridge import names, nats_io
from ratings.ports import Delivery, StreamAway

log = structlog.get_logger("numbridge.ratings")

FETCH_S = 1.0  # a fruitless pull ends after this, so that a drain never waits longer
MAX_UNACKNOWLEDGED = 1_000  # over all replicas; beyond it the stream holds results back


class NatsDelivery:
    """`ports.Delivery`. The verbs are published, not awaited: a lost one brings the message again."""

    def __init__(self, message: Msg) -> None:
        self._message = message
        self.subject: str = message.subject
        self.payload: bytes = message.data
        self.deliveries: int = message.metadata.num_delivered or 1

    async def ack(self) -> None:
        """Done."""
        await self._end(self._message.ack())

    async def retry(self, delay_s: float) -> None:
        """Again, after a pause."""
        await self._end(self._message.nak(delay=delay_s))

    async def term(self) -> None:
        """Never again."""
        await self._end(self._message.term())

    async def _end(self, verb: Coroutine[None, None, None]) -> None:
        try:
            await verb
        except NatsError as error:
            log.warning("acknowledgement_lost", subject=self.subject, error=f"{type(error).__name__}: {error}")


class NatsReader:
    """`ports.ResultReader`: one pull at a time for one message, so that none waits for company."""

    def __init__(self, pull: JetStreamContext.PullSubscription) -> None:
        self._pull = pull

    async def next(self) -> Delivery | None:
        """The next message; None after FETCH_S without one. Raises StreamAway."""
        try:
            messages = await self._pull.fetch(1, timeout=FETCH_S)
        except TimeoutError:
            return None
        except NatsError as error:
            raise StreamAway(f"{type(error).__name__}: {error}") from error
        return NatsDelivery(messages[0])

    async def close(self) -> None:
        """Ends the subscription."""
        try:
            await self._pull.unsubscribe()
        except NatsError:
            pass  # it has gone with its connection


class NatsResults:
    """`ports.ResultSource`."""

    def __init__(self, client: Client, *, replicas: int, ack_wait_s: float) -> None:
        self._client = client
        self._js = client.jetstream(timeout=3)
        self._replicas = replicas
        self._ack_wait_s = ack_wait_s
        self._making = asyncio.Lock()

    async def reader(self) -> NatsReader:
        """A new reader; makes stream and consumer where they are missing. Raises StreamAway."""
        try:
            async with self._making:
                return NatsReader(await self._subscribe())
        except (NatsError, TimeoutError) as error:
            raise StreamAway(f"{type(error).__name__}: {error}") from error

    async def waiting(self) -> int:
        """Results not done yet. Raises StreamAway."""
        try:
            info = await self._js.consumer_info(names.RESULTS, names.RESULTS_CONSUMER)
        except (NatsError, TimeoutError) as error:
            raise StreamAway(f"{type(error).__name__}: {error}") from error
        return (info.num_pending or 0) + (info.num_ack_pending or 0)

    async def oldest_s(self) -> float:
        """Seconds that the oldest result has waited; 0 if there is none. Raises StreamAway."""
        try:
            reply = await self._client.request(f"$JS.API.STREAM.INFO.{names.RESULTS}", b"", timeout=3)
            state = json.loads(reply.data).get("state", {})
            if not state.get("messages"):
                return 0.0
            return (datetime.now(UTC) - datetime.fromisoformat(state["first_ts"][:19] + "+00:00")).total_seconds()
        except (NatsError, TimeoutError, ValueError, KeyError) as error:
            raise StreamAway(f"{type(error).__name__}: {error}") from error

    async def _subscribe(self) -> JetStreamContext.PullSubscription:
        await nats_io.ensure_streams(self._js, self._replicas)
        return await self._js.pull_subscribe(
            names.RESULTS_SUBJECTS,
            durable=names.RESULTS_CONSUMER,
            stream=names.RESULTS,
            config=ConsumerConfig(
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=self._ack_wait_s,
                max_deliver=-1,
                max_ack_pending=MAX_UNACKNOWLEDGED,
            ),
        )
