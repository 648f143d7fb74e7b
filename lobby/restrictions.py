"""What operators have restricted: rooms closed for new seeks, players who may not seek.

SQL has the truth, every replica a copy in memory: read at the start, whenever
the ratings service says that it has changed, and every few seconds for what
was not heard. While the ratings service is away, what was known last stands.
"""

import asyncio
from datetime import UTC, datetime

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from lobby import notices
from lobby.adapters.redis_seeks import RedisSeeks
from lobby.metrics import Metrics
from lobby.ports import Announcer, Ratings
from lobby.seek_ending import end_seek
from numbridge import names
from numbridge.clock import now_ms
from numbridge.errors import Reason, Rejected
from numbridge.redis_io import AWAY
from numbridge.tasks import delays

log = structlog.get_logger("lobby.restrictions")

_EVERY_S = 10.0


class Restrictions:
    """One a replica."""

    def __init__(self, ratings: Ratings, seeks: RedisSeeks, announcer: Announcer, metrics: Metrics) -> None:
        self._ratings = ratings
        self._seeks = seeks
        self._announcer = announcer
        self._metrics = metrics
        self._closed: frozenset[str] | None = None
        self._muted: dict[str, int] = {}
        self._ended: set[str] = set()  # muted players whose open seeks have been ended
        self._news = asyncio.Event()
        self._reading = asyncio.Lock()
        self._client: Client | None = None
        self._subscription: Subscription | None = None

    def closed(self, room: str) -> bool:
        """Whether the room takes no new seeks."""
        return self._closed is not None and room in self._closed

    def muted(self, player: str) -> bool:
        """Whether the player may not seek now."""
        return self._muted.get(player, 0) > now_ms()

    async def check(self, player: str, room: str | None = None) -> None:
        """Raises Rejected: FORBIDDEN if the player may not seek, or if new seeks are not taken in the room;
        UNAVAILABLE if neither has ever been known."""
        if self._closed is None:
            async with self._reading:
                if self._closed is None:
                    await self._read()
        if self.muted(player):
            until = datetime.fromtimestamp(self._muted[player] / 1000, UTC)
            raise Rejected(Reason.FORBIDDEN, f"an operator has muted you: you may not seek until {until:%F %H:%M} UTC")
        if room is not None and self.closed(room):
            raise Rejected(Reason.FORBIDDEN, "this room is closed for new seeks for the moment")

    async def start(self, client: Client) -> None:
        """Begins to listen."""
        self._client = client
        self._subscription = await client.subscribe(names.RESTRICTIONS, cb=self._on_word)

    async def stop(self) -> None:
        """Stops listening."""
        if self._subscription is not None and self._client is not None and not self._client.is_closed:
            await self._subscription.unsubscribe()

    async def _on_word(self, _message: Msg) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Something may have changed."""
        self._news.set()

    async def run(self) -> None:
        """Keeps the copy fresh until cancelled."""
        pauses = delays(0.1, 2.0)
        while True:
            self._news.clear()
            try:
                async with self._reading:
                    await self._read()
            except (Rejected, *AWAY) as error:
                log.warning("restrictions_not_read", error=str(error))
                await asyncio.sleep(next(pauses))
                continue
            pauses = delays(0.1, 2.0)
            try:
                async with asyncio.timeout(_EVERY_S):
                    await self._news.wait()
            except TimeoutError:
                pass

    async def _read(self) -> None:
        closed, self._muted = await self._ratings.restrictions()
        self._closed = closed
        self._ended.intersection_update(self._muted)
        for player in self._muted.keys() - self._ended:
            await self.end_seeks(player)
            self._ended.add(player)

    async def end_seeks(self, player: str) -> None:
        """Ends the open seeks of a player who may not seek."""
        for seek in await self._seeks.get(list((await self._seeks.of_player(player)).values())):
            if seek is not None:
                await end_seek(self._seeks, self._announcer, self._metrics, seek, notices.ENDED_MUTED)
