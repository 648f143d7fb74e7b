"""Frames and seat notices over core NATS: buffered by the client, never flushed, never waited for."""

from nats.aio.client import Client

from numbridge import names
from numbridge.kv_mirror import AWAY
from numbridge.names import Seat
from numbridge.v1 import log_pb2 as pb
from tablesvc.metrics import Metrics


class NatsViews:
    """See ports.Views."""

    def __init__(self, client: Client, metrics: Metrics) -> None:
        self._client = client
        self._metrics = metrics

    async def frames(self, game: str, seat: Seat, payload: bytes) -> None:
        """See ports.Views."""
        await self._say(names.view_subject(game, seat), payload)

    async def seats(self, shard: int, notice: pb.SeatNotice) -> None:
        """See ports.Views."""
        await self._say(names.seats_subject(shard), notice.SerializeToString())

    async def _say(self, subject: str, payload: bytes) -> None:
        # What is buffered while the server is away would come out of date, and for shards lost meanwhile.
        if not self._client.is_connected:
            self._metrics.dropped("view_away")
            return
        try:
            await self._client.publish(subject, payload)
        except AWAY:
            self._metrics.dropped("view_away")
