"""Open seeks in Redis: posting, ending, listing, and the stream of what happened to them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import msgspec
from redis.asyncio import Redis

from lobby import keys
from lobby.adapters.script_lane import Arg, ScriptLane
from lobby.stored import StoredSeek, decode_mine, decode_seek, encode

_PAGE = 1_000
BATCH = 500  # changes read at once


class Posted(IntEnum):
    """What post_seek says."""

    POSTED = 1
    OPEN_ALREADY = 2
    TOO_MANY = -1
    HAS_GAME = -2


class Ended(IntEnum):
    """What end_seek says."""

    ENDED = 1
    GONE = 0
    ANOTHERS = -1


@dataclass(frozen=True, slots=True)
class Change:
    """Something that happened to a seek (`add`, `drop`, `amend`), or to two players.

    `block`: `room` is the player, `seek` the other, and `on` whether it stands now. `over`: the two have ended a game.
    """

    what: str
    room: str
    seek: str
    stored: StoredSeek | None = None
    on: bool = False


_WHAT = {b"a": "add", b"d": "drop", b"u": "amend", b"b": "block", b"o": "over"}


class RedisSeeks:
    """Every call raises one of redis_io.AWAY while Redis is away, and may then have taken effect or not."""

    def __init__(self, redis: Redis) -> None:
        self._redis: Any = redis  # redis-py's types know neither bytes nor RESP2 replies apart
        self._lane = ScriptLane(redis)

    async def post(self, seek: StoredSeek, most: int, one_table: bool) -> tuple[Posted, str]:
        """Posts a seek; `most` open seeks a player, 0 for no limit. The text is the seek that made way, or the
        game that is in the way. Repeating it does nothing more."""
        code, detail = await self._lane.run(
            "post_seek-7",
            [keys.SEEKS, keys.OPEN, keys.MINE, keys.SEATS, keys.CHANGES, keys.LEAVING, keys.LAST],
            [
                seek.seek,
                encode(seek),
                seek.player,
                seek.room,
                keys.in_order(seek.room, seek.since, seek.seek),
                seek.gateway,
                most,
                int(one_table),
            ],
        )
        return Posted(code), detail.decode()

    async def end(self, seek: str, player: str) -> Ended:
        """Ends a seek of the player's."""
        where = [keys.SEEKS, keys.OPEN, keys.MINE, keys.CHANGES]
        return Ended(await self._lane.run("end_seek-4", where, [seek, player]))

    async def get(self, seeks: Sequence[str]) -> list[StoredSeek | None]:
        """Open seeks by id."""
        if not seeks:
            return []
        found = await self._redis.hmget(keys.SEEKS, list(seeks))
        return [None if text is None else decode_seek(text) for text in found]

    async def listed(self, room: str, limit: int) -> list[StoredSeek]:
        """Open seeks of a room, oldest first, at most `limit`."""
        low, high = keys.room_range(room)
        members = await self._redis.zrange(keys.OPEN, low, high, bylex=True, offset=0, num=limit)
        found = await self.get([keys.name_in(member) for member in members])
        return [seek for seek in found if seek is not None]

    async def all_of(self, room: str) -> AsyncIterator[list[StoredSeek]]:
        """Every open seek of a room, in pages, oldest first, with the players' latest opponents."""
        low, high = keys.room_range(room)
        while True:
            members = await self._redis.zrange(keys.OPEN, low, high, bylex=True, offset=0, num=_PAGE)
            if not members:
                return
            found = await self.get([keys.name_in(member) for member in members])
            yield await with_last(self._redis, [seek for seek in found if seek is not None])
            low = "(" + members[-1].decode()

    async def waiting(self, rooms: Sequence[str]) -> list[int]:
        """Number of open seeks in each room."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for room in rooms:
                pipe.zlexcount(keys.OPEN, *keys.room_range(room))
            return [int(count) for count in await pipe.execute()]

    async def rooms(self) -> list[str]:
        """Rooms with open seeks, whether there are such rooms or not."""
        found: list[str] = []
        low = "-"
        while members := await self._redis.zrange(keys.OPEN, low, "+", bylex=True, offset=0, num=1):
            found.append(keys.room_in(members[0]))
            low = keys.room_range(found[-1])[1].replace("(", "[", 1)
        return found

    async def of_player(self, player: str) -> dict[str, str]:
        """The player's open seeks: room -> seek."""
        text = await self._redis.hget(keys.MINE, player)
        return {} if text is None else decode_mine(text).s

    async def last_opponent(self, player: str) -> str | None:
        """Opponent of the player's latest pairing."""
        text = await self._redis.hget(keys.LAST, player)
        return None if text is None else _opponent(text)

    async def amend(self, seek: StoredSeek, was: StoredSeek) -> bool:
        """Replaces the stored form of a seek, if it still is what was read."""
        now, before = (encode(msgspec.structs.replace(form, last=None)) for form in (seek, was))
        args: list[Arg] = [seek.seek, now, seek.room, before]
        return bool(await self._lane.run("amend_seek-2", [keys.SEEKS, keys.CHANGES], args))

    async def say_block(self, player: str, other: str, blocked: bool) -> None:
        """Tells every replica that a block was made or lifted."""
        fields: dict[str, str] = {"o": "b", "r": player, "s": other, "j": "1" if blocked else "0"}
        await self._redis.xadd(keys.CHANGES, fields, maxlen=20_000, approximate=True)

    async def mark(self, room: str, run: str, seq: int) -> None:
        """Where the room's deltas stand: snapshots from now on hold at least what they say up to here."""
        await self._redis.hset(keys.MARKS, room, f"{run} {seq}")

    async def marks(self, rooms: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Where each room's deltas stand; rooms without any are left out. Ask before you read the list."""
        found = await self._redis.hmget(keys.MARKS, list(rooms))
        marks = {}
        for room, text in zip(rooms, found, strict=True):
            if text is not None:
                run, _, seq = text.decode().partition(" ")
                marks[room] = (run, int(seq))
        return marks

    async def newest_change(self) -> str:
        """Where the stream of changes ends now."""
        newest = await self._redis.xrevrange(keys.CHANGES, count=1)
        return newest[0][0].decode() if newest else "0-0"

    async def changes(self, after: str, block_ms: int) -> tuple[str, list[Change], bool]:
        """What happened after a place: the new place, the changes, and whether some in between are lost (the
        stream is bounded, and Redis may come back empty). Waits up to `block_ms` for the first one."""
        reply = await self._redis.xread({keys.CHANGES: after}, count=BATCH, block=block_ms)
        if not reply:
            # Nothing new, or a stream that begins anew at lower ids.
            return after, [], _id(await self.newest_change()) < _id(after)
        entries = next(iter(reply.values()))[0] if isinstance(reply, dict) else reply[0][1]
        lost = False
        if len(entries) == BATCH:  # behind: the bound may have cut off what was not read yet
            oldest = await self._redis.xrange(keys.CHANGES, count=1)
            lost = after != "0-0" and bool(oldest) and _id(oldest[0][0].decode()) > _id(after)
        return entries[-1][0].decode(), [_change(fields) for _, fields in entries], lost


async def with_last(redis: Any, seeks: Sequence[StoredSeek]) -> list[StoredSeek]:
    """The seeks with the latest opponents of their players filled in."""
    if not seeks:
        return []
    met = await redis.hmget(keys.LAST, [seek.player for seek in seeks])
    return [
        seek if text is None else msgspec.structs.replace(seek, last=_opponent(text))
        for seek, text in zip(seeks, met, strict=True)
    ]


def _opponent(text: bytes) -> str:
    return text.decode().partition("|")[2]


def _id(entry: str) -> tuple[int, int]:
    at, _, number = entry.partition("-")
    return int(at), int(number or 0)


def _change(fields: dict[bytes, bytes]) -> Change:
    what = _WHAT[fields[b"o"]]
    text = fields.get(b"j")
    if what == "block":
        return Change(what, fields[b"r"].decode(), fields[b"s"].decode(), on=text == b"1")
    stored = None if text is None else decode_seek(text)
    if stored is not None and (met := fields.get(b"l")):
        stored = msgspec.structs.replace(stored, last=_opponent(met))
    return Change(what, fields[b"r"].decode(), fields[b"s"].decode(), stored)
