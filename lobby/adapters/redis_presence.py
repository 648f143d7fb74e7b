"""Which gateways live, whose players have left, and whether Redis still is the one we know."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from redis.asyncio import Redis

from lobby import keys
from lobby.adapters.script_lane import ScriptLane
from lobby.stored import decode_mine

_SCAN = 500


@dataclass(frozen=True, slots=True)
class Marker:
    """Whether matching may go on, and since when this Redis has been in use, milliseconds."""

    ready: bool
    since: int


class RedisPresence:
    """Every call raises one of redis_io.AWAY while Redis is away, and may be repeated."""

    def __init__(self, redis: Redis) -> None:
        self._redis: Any = redis  # redis-py's types know neither bytes nor RESP2 replies apart
        self._lane = ScriptLane(redis)

    async def marker(self, now: int, open_for: int | None = None) -> Marker:
        """The marker; an empty Redis gets one that holds matching. `open_for`: opens the one that is that old."""
        text: bytes = await self._lane.run("mark-1", [keys.MARKER], [now, "" if open_for is None else open_for])
        state, _, since = text.decode().partition("|")
        return Marker(state == "ready", int(since))

    async def keep_gateway(self, gateway: str, until: int) -> None:
        """The gateway lives at least until then."""
        await self._redis.zadd(keys.GATEWAYS, {gateway: until})

    async def connected(self, player: str, gateway: str, here: bool, ends_at: int) -> None:
        """A player's first connection to a gateway has come, or the last has gone."""
        await self._lane.run("be_present-2", [keys.MINE, keys.LEAVING], [player, gateway, int(here), ends_at])

    async def claim(self, players: Sequence[str], gateway: str) -> None:
        """The gateway says that it holds these players: none of them is leaving."""
        leaving = {name.decode() for name in await self._redis.zrange(keys.LEAVING, 0, -1)}
        for player in leaving.intersection(players):
            await self.connected(player, gateway, True, 0)

    async def due(self, now: int, limit: int) -> list[str]:
        """Players whose seeks end now."""
        found = await self._redis.zrange(keys.LEAVING, "-inf", now, byscore=True, offset=0, num=limit)
        return [player.decode() for player in found]

    async def end_player(self, player: str, now: int) -> list[str]:
        """Ends the seeks of a player who is due, unless he has come back in this very moment."""
        where = [keys.SEEKS, keys.OPEN, keys.MINE, keys.CHANGES, keys.LEAVING]
        ended = await self._lane.run("end_player-5", where, [player, now])
        return [seek.decode() for seek in ended]

    async def lapsed_gateways(self, now: int) -> list[str]:
        """Gateways whose lease is over."""
        return [name.decode() for name in await self._redis.zrange(keys.GATEWAYS, "-inf", now, byscore=True)]

    async def strand(self, now: int, ends_at: int) -> int:
        """Seeks that hang on a gateway without a lease end at `ends_at` unless another one claims their players.
        Gives how many players that are."""
        alive = {name.decode() for name in await self._redis.zrange(keys.GATEWAYS, f"({now}", "+inf", byscore=True)}
        await self._redis.zremrangebyscore(keys.GATEWAYS, "-inf", now)
        stranded = 0
        async for player, text in self._scan(keys.MINE):
            if decode_mine(text).g not in alive:
                stranded += int(await self._redis.zadd(keys.LEAVING, {player: ends_at}, nx=True))
        return stranded

    async def _scan(self, key: str) -> AsyncIterator[tuple[bytes, bytes]]:
        cursor = 0
        while True:
            cursor, page = await self._redis.hscan(key, cursor, count=_SCAN)
            for item in page.items():
                yield item
            if not int(cursor):
                return

    async def ask_rematch(self, game: str, player: str, other: str, now: int, window_ms: int) -> bool:
        """Whether both have asked now."""
        done = await self._lane.run("ask_rematch-1", [keys.REMATCH], [game, player, other, now, window_ms])
        return bool(done)

    async def forget_old(self, rematch_before: int, last_before: int) -> None:
        """Lets go of questions for a rematch, and of latest opponents, that are older than this."""
        old = [game async for game, text in self._scan(keys.REMATCH) if max(_asked(text).values()) < rematch_before]
        if old:
            await self._redis.hdel(keys.REMATCH, *old)
        old = [who async for who, text in self._scan(keys.LAST) if int(text.partition(b"|")[0]) < last_before]
        if old:
            await self._redis.hdel(keys.LAST, *old)


_asked = msgspec.json.Decoder(dict[str, int]).decode
