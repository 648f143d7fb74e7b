"""Who sits where, and the games being played: a cache in Redis of what the table workers say."""

import asyncio
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from redis.asyncio import Redis

from lobby import keys
from lobby.adapters.script_lane import ScriptLane
from lobby.stored import Summary, decode_seats, decode_summary, encode

Seats = dict[str, tuple[str, int]]
"""game -> status (seating, playing or adjourned) and since when, milliseconds."""


class Forgot(IntEnum):
    """What unseat_game says."""

    FORGOTTEN = 1
    STAYS = 0
    UNKNOWN = 2


class RedisSeats:
    """Every call raises one of redis_io.AWAY while Redis is away, and may be repeated."""

    def __init__(self, redis: Redis) -> None:
        self._redis: Any = redis  # redis-py's types know neither bytes nor RESP2 replies apart
        self._lane = ScriptLane(redis)

    async def note(self, games: Sequence[Summary], now: int) -> int:
        """Writes down what a worker says about these games. Gives how many were news."""
        return sum(await asyncio.gather(*(self._note(game, now) for game in games)))

    async def _note(self, game: Summary, now: int) -> int:
        return int(
            await self._lane.run(
                "seat_game-7",
                [keys.GAMES, keys.SEATS, keys.LIVE, keys.HEARD, keys.TABLES, keys.OVER, keys.CHANGES],
                [
                    game.game,
                    game.version,
                    game.status,
                    game.blue.id,
                    game.red.id,
                    game.started_at,
                    keys.in_order(game.room, game.started_at, game.game),
                    encode(game),
                    now,
                ],
            )
        )

    async def forget(self, game: str, heard_before: int, player: str = "") -> Forgot:
        """Forgets a game that no worker holds, unless one spoke of it after `heard_before` or it is being seated."""
        where = [keys.GAMES, keys.SEATS, keys.LIVE, keys.HEARD, keys.TABLES, keys.MATCHES]
        done = await self._lane.run("unseat_game-6", where, [game, heard_before, player])
        return Forgot(done)

    async def of_shard(self, shard: int) -> set[str]:
        """Games that are known in a shard."""
        found = await self._redis.zrange(keys.TABLES, f"[{shard:02x}-", f"({shard:02x}.", bylex=True)
        return {game.decode() for game in found}

    async def of(self, players: Sequence[str]) -> list[Seats]:
        """The seats of each player."""
        if not players:
            return []
        found = await self._redis.hmget(keys.SEATS, list(players))
        return [{} if text is None else decode_seats(text) for text in found]

    async def told(self, games: Sequence[str]) -> list[bytes | None]:
        """What the two players of each game were told when they were seated, as long as it is kept."""
        if not games:
            return []
        found: list[bytes | None] = await self._redis.mget([keys.told(game) for game in games])
        return found

    async def playing(self, rooms: Sequence[str]) -> list[int]:
        """Number of games being played in each room."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for room in rooms:
                pipe.zlexcount(keys.LIVE, *keys.room_range(room))
            return [int(count) for count in await pipe.execute()]

    async def listed(self, rooms: Sequence[str], limit: int) -> list[Summary]:
        """Games being played in these rooms, newest first."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for room in rooms:
                low, high = keys.room_range(room)
                pipe.zrange(keys.LIVE, high, low, desc=True, bylex=True, offset=0, num=limit)
            pages = await pipe.execute()
        names = [keys.name_in(member) for page in pages for member in page]
        if not names:
            return []
        found = await self._redis.hmget(keys.GAMES, names)
        games = [decode_summary(text) for text in found if text is not None]
        return sorted(games, key=lambda game: (-game.started_at, game.game))[:limit]

    async def get(self, game: str) -> Summary | None:
        """What is known of an unfinished game."""
        text = await self._redis.hget(keys.GAMES, game)
        return None if text is None else decode_summary(text)

    async def silent(self, before: int, limit: int) -> list[str]:
        """Games that no worker has spoken of since `before`; for the sweeper."""
        found = await self._redis.zrange(keys.HEARD, "-inf", before, byscore=True, offset=0, num=limit)
        return [game.decode() for game in found]

    async def forget_ended(self, before: int) -> None:
        """Lets go of the memory of games that ended before this."""
        await self._redis.zremrangebyscore(keys.OVER, "-inf", before)
