"""Takes in what table workers say about who sits where. Replicas share the notices as one queue group."""

import structlog
from google.protobuf.message import DecodeError
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from lobby.adapters.redis_seats import Forgot, RedisSeats
from lobby.metrics import Metrics
from lobby.stored import Summary
from numbridge import names
from numbridge.clock import now_ms
from numbridge.redis_io import AWAY
from numbridge.v1 import log_pb2

log = structlog.get_logger("lobby.seats")

_GROUP = "lobby"
_YOUNG_MS = 5_000  # a whole shard's list may be older than a game that is new: such a one is left alone


class SeatNotices:
    """Lost notices heal: workers repeat whole shards every 30 s, and whenever somebody asks."""

    def __init__(self, client: Client, seats: RedisSeats, metrics: Metrics) -> None:
        self._client = client
        self._seats = seats
        self._metrics = metrics
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        """Begins to listen."""
        self._subscription = await self._client.subscribe(names.SEATS_ALL, queue=_GROUP, cb=self._on_message)

    async def stop(self) -> None:
        """Stops listening."""
        if self._subscription is not None and not self._client.is_closed:
            await self._subscription.unsubscribe()

    async def _on_message(self, message: Msg) -> None:
        if message.subject == names.SEATS_ASK:
            return
        try:
            notice = log_pb2.SeatNotice.FromString(message.data)
        except DecodeError:
            self._metrics.swept("bad_seat_notice")
            return
        try:
            await self.take(notice)
        except AWAY:
            self._metrics.swept("seat_notice_missed")  # the gate asks for seats again once Redis is back

    async def take(self, notice: log_pb2.SeatNotice) -> None:
        """Writes one notice down. Raises one of redis_io.AWAY."""
        now = now_ms()
        await self._seats.note([Summary.of(game) for game in notice.games], now)
        if not notice.whole_shard:
            return
        unnamed = await self._seats.of_shard(notice.shard) - {game.game for game in notice.games}
        for game in unnamed:
            if await self._seats.forget(game, now - _YOUNG_MS) is Forgot.FORGOTTEN:
                self._metrics.swept("game_gone")
