"""What gateways say about their players, and what they are told in turn."""

from collections.abc import Sequence

from lobby.adapters.redis_presence import RedisPresence
from lobby.adapters.redis_seats import RedisSeats
from lobby.adapters.redis_seeks import RedisSeeks
from lobby.desk import Desk
from lobby.gate import Gate
from lobby.metrics import Metrics
from lobby.notices import kept_for, seated_at
from lobby.ports import Notice, Ratings
from lobby.seating import TOLD_MS
from numbridge.clock import monotonic, now_ms
from numbridge.errors import Rejected
from numbridge.tasks import Tasks
from numbridge.v1 import lobby_pb2

_REPOST_MS = 60_000  # after Redis came back empty: how long gateways may still bring seeks that it has lost
_MOST_GATEWAYS = 1_000


class Greeting:
    """One a replica; any replica answers any call."""

    def __init__(
        self,
        seeks: RedisSeeks,
        seats: RedisSeats,
        presence: RedisPresence,
        desk: Desk,
        gate: Gate,
        ratings: Ratings,
        tasks: Tasks,
        metrics: Metrics,
        grace_ms: int,
        lease_ms: int,
        hold_ms: int,
    ) -> None:
        self._seeks = seeks
        self._seats = seats
        self._presence = presence
        self._desk = desk
        self._gate = gate
        self._ratings = ratings
        self._tasks = tasks
        self._metrics = metrics
        self._grace = grace_ms
        self.lease_ms = lease_ms
        self._hold = hold_ms
        self._heard: dict[str, float] = {}

    async def heard(self, gateway: str) -> None:
        """A gateway has called: it lives, even if its first heartbeat is still to come."""
        if not gateway or monotonic() - self._heard.get(gateway, float("-inf")) < self.lease_ms / 3_000:
            return
        if len(self._heard) >= _MOST_GATEWAYS:
            self._heard.clear()
        self._heard[gateway] = monotonic()
        await self._presence.keep_gateway(gateway, now_ms() + self.lease_ms)

    async def greet(self, player: str, gateway: str) -> tuple[list[str], list[str]]:
        """A player has connected: the ids of the unfinished games and of the open seeks."""
        await self.heard(gateway)
        await self._presence.connected(player, gateway, True, 0)
        self._tasks.spawn(self._ratings.warm(player), "warm")
        await self._gate.wait_open(self._hold / 1000)  # right after a loss of Redis seats are still being announced
        [seats] = await self._seats.of([player])
        seeks = await self._seeks.of_player(player)
        return [game for game, (status, _) in seats.items() if status != "seating"], list(seeks.values())

    async def connected(self, player: str, gateway: str, here: bool) -> None:
        """The first connection of a player's to this gateway has come, or the last has gone."""
        await self.heard(gateway)
        await self._presence.connected(player, gateway, here, now_ms() + self._grace)

    async def keep(self, request: lobby_pb2.KeepGatewayRequest) -> tuple[list[str], list[Notice]]:
        """A heartbeat: the seeks that have ended, and the `seated` of the last minute."""
        now = now_ms()
        marker = await self._presence.marker(now)
        self._heard[request.gateway] = monotonic()
        await self._presence.keep_gateway(request.gateway, now + self.lease_ms)
        await self._presence.claim(request.players, request.gateway)
        seats = dict(zip(request.players, await self._seats.of(request.players), strict=True))
        ended = []
        there = await self._seeks.get([seek.seek for seek in request.seeks])
        for seek, found in zip(request.seeks, there, strict=True):
            if found is not None:
                continue
            if any(status == "seating" for status, _ in seats.get(seek.player.id, {}).values()):
                continue  # it is being seated: the end is still open
            if not (seek.since < marker.since and now - marker.since < _REPOST_MS and await self._again(seek, request)):
                ended.append(seek.seek)
        return ended, await self._seated(seats, now)

    async def _again(self, seek: lobby_pb2.Seek, request: lobby_pb2.KeepGatewayRequest) -> bool:
        """Redis has lost the seek: posts it again, its age kept. False if it may not be open any more."""
        try:
            await self._desk.post(
                lobby_pb2.PostSeekRequest(
                    seek=seek.seek, player=seek.player, gateway=request.gateway, wish=seek.wish, since=seek.since
                )
            )
        except Rejected:
            return False
        self._metrics.swept("reposted")
        return True

    async def _seated(self, seats: dict[str, dict[str, tuple[str, int]]], now: int) -> list[Notice]:
        wanted = [
            (player, game)
            for player, games in seats.items()
            for game, (status, at) in games.items()
            if status == "playing" and now - at <= TOLD_MS
        ]
        texts = await self._seats.told([game for _, game in wanted])
        found = []
        for (player, game), text in zip(wanted, texts, strict=True):
            notice = kept_for(game, player, text) if text is not None else await self._from_table(game, player)
            if notice is not None:
                found.append(notice)
        return found

    async def _from_table(self, game: str, player: str) -> Notice | None:
        """Redis came back empty while the two were being seated: only the table's own word is left."""
        summary = await self._seats.get(game)
        return seated_at(summary, player) if summary is not None else None


def notices_of(found: Sequence[Notice]) -> list[lobby_pb2.PlayerNotice]:
    """Notices as gateways read them."""
    return [
        lobby_pb2.PlayerNotice(player=notice.player, text=notice.text, game=notice.game, seeks=notice.seeks)
        for notice in found
    ]
