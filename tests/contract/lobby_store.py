"""The lobby's Redis on a real server, as the tests of its scripts see it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest_asyncio
from redis.asyncio import Redis

from lobby.adapters.redis_presence import RedisPresence
from lobby.adapters.redis_seating import Entry, RedisSeating, Side
from lobby.adapters.redis_seats import RedisSeats
from lobby.adapters.redis_seeks import Posted, RedisSeeks
from lobby.stored import StoredSeek
from numbridge import redis_io
from tests.unit.lobby.builders import match_of, stored_seek

GAME = "07-abcdefgh12345678"
OTHER = "07-zyxwvuts87654321"


@dataclass
class Store:
    """The four faces of the lobby's Redis, and a second replica."""

    redis: Redis
    seeks: RedisSeeks
    seats: RedisSeats
    seating: RedisSeating
    rival: RedisSeating
    presence: RedisPresence

    async def open(self) -> None:
        """Matching may go on."""
        await self.presence.marker(1)
        await self.presence.marker(1, open_for=1)

    async def post(self, *seeks: StoredSeek) -> None:
        for seek in seeks:
            assert await self.seeks.post(seek, 3, True) == (Posted.POSTED, "")

    async def keys(self) -> set[str]:
        found = await self.redis.keys("*")
        return {key.decode() for key in found if isinstance(key, bytes)}


@pytest_asyncio.fixture
async def store(clean_redis: str) -> AsyncIterator[Store]:
    redis = redis_io.connect(clean_redis)
    made = Store(
        redis,
        RedisSeeks(redis),
        RedisSeats(redis),
        RedisSeating(redis, "lobby-1", True),
        RedisSeating(redis, "lobby-2", True),
        RedisPresence(redis),
    )
    await made.open()
    await made.seating.ensure_group()
    yield made
    await redis.aclose()


async def entries(store: Store) -> list[Entry]:
    return await store.seating.next_entries(10, 1)


async def taken_pair(store: Store) -> tuple[StoredSeek, StoredSeek, Entry]:
    a, b = stored_seek("s-a", "ada", since=3), stored_seek("s-b", "bob", since=4)
    await store.post(a, b)
    await store.seating.take([(match_of(GAME, a, b), Side("ada", "s-a"), Side("bob", "s-b"))])
    [entry] = await entries(store)
    return a, b, entry
