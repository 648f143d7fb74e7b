"""What the lobby says on core NATS."""

from collections.abc import Sequence

from nats.aio.client import Client
from nats.errors import Error as NatsError

from lobby.metrics import Metrics
from lobby.ports import Notice
from numbridge import names
from numbridge.v1 import lobby_pb2

AWAY = (NatsError, OSError, TimeoutError)


def notice_to_proto(notice: Notice) -> lobby_pb2.PlayerNotice:
    """A notice as gateways read it."""
    return lobby_pb2.PlayerNotice(player=notice.player, text=notice.text, game=notice.game, seeks=notice.seeks)


class NatsAnnouncer:
    """Publishes are buffered by the client; while the server is away up to its bound, beyond it they are counted and
    dropped (gateways heal by their heartbeat, lists by their numbering)."""

    def __init__(self, client: Client, metrics: Metrics) -> None:
        self._client = client
        self._metrics = metrics

    async def tell(self, notices: Sequence[Notice]) -> None:
        """Tells players."""
        for notice in notices:
            try:
                payload = notice_to_proto(notice).SerializeToString()
                await self._client.publish(names.player_subject(notice.player), payload)
            except AWAY:
                self._metrics.told("dropped")
            else:
                self._metrics.told("sent")

    async def delta(self, room: str, run: str, seq: int, events: Sequence[bytes]) -> None:
        """Tells the watchers of a list."""
        message = lobby_pb2.SeekDelta(room=room, run=run, seq=seq, events=events)
        try:
            await self._client.publish(names.seeks_subject(room), message.SerializeToString())
        except AWAY:
            self._metrics.delta("dropped")
        else:
            self._metrics.delta("sent")

    async def ask_seats(self) -> None:
        """Asks every worker to say who sits where."""
        try:
            await self._client.publish(names.SEATS_ASK, b"")
        except AWAY:
            self._metrics.told("dropped")
