"""From two seeks to two seats, in Redis: taking, the seating stream, and the way back."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from lobby import keys
from lobby.adapters.redis_seeks import with_last
from lobby.adapters.script_lane import Arg, ScriptLane
from lobby.notices import kept
from lobby.stored import Match, decode_match, encode

MOST_MATCHES = 5_000  # that wait to be seated; beyond it matching pauses, seeks stay open


class Took(IntEnum):
    """What take says."""

    TAKEN = 1
    TAKEN_BEFORE = 2
    FIRST_GONE = -1
    SECOND_GONE = -2
    FIRST_HAS_GAME = -3
    SECOND_HAS_GAME = -4
    HELD = -5


class Sat(IntEnum):
    """What seat says."""

    SEATED = 1
    BEFORE = 0
    """Another has seated them, or Redis has lost the match: telling them again does no harm."""
    UNDONE = -1
    """Another has undone the match: nobody may hear of the table."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: the player, and the seek that must still be open (empty: none is needed)."""

    player: str
    seek: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """The answer; `fell` are the open seeks (player, seek) that ended with it, `game` the game in the way."""

    code: Took
    fell: tuple[tuple[str, str], ...] = ()
    game: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A place in the seating stream."""

    id: str
    game: str


class RedisSeating:
    """Every call raises one of redis_io.AWAY while Redis is away, and may then have taken effect or not."""

    def __init__(self, redis: Redis, replica: str, one_table: bool) -> None:
        self._redis: Any = redis  # redis-py's types know neither bytes nor RESP2 replies apart
        self._replica = replica
        self._one_table = int(one_table)
        self._lane = ScriptLane(redis)

    async def take(self, matches: Sequence[tuple[Match, Side, Side]]) -> list[Taken]:
        """Takes both players of each match, or neither; one round trip for all. Safe to repeat."""
        return await asyncio.gather(*(self._take(*request) for request in matches))

    async def _take(self, match: Match, first: Side, second: Side) -> Taken:
        reply = await self._lane.run(
            "take-8",
            [
                keys.MARKER,
                keys.SEEKS,
                keys.OPEN,
                keys.MINE,
                keys.SEATS,
                keys.MATCHES,
                keys.SEATING,
                keys.CHANGES,
            ],
            [
                match.game,
                encode(match),
                match.at,
                self._one_table,
                MOST_MATCHES,
                first.player,
                first.seek,
                second.player,
                second.seek,
            ],
        )
        return _taken(reply)

    async def ensure_group(self) -> None:
        """Makes the stream and its consumer group if they are not there."""
        try:
            await self._redis.xgroup_create(keys.SEATING, keys.GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    async def next_entries(self, count: int, block_ms: int) -> list[Entry]:
        """New entries for this replica, waiting up to `block_ms` for the first.

        Raises ResponseError (NOGROUP) when Redis has come back empty.
        """
        reply = await self._redis.xreadgroup(
            keys.GROUP, self._replica, {keys.SEATING: ">"}, count=count, block=block_ms
        )
        if not reply:
            return []
        entries = next(iter(reply.values()))[0] if isinstance(reply, dict) else reply[0][1]
        return [Entry(entry.decode(), fields[b"g"].decode()) for entry, fields in entries]

    async def abandoned(self, idle_ms: int, count: int) -> list[Entry]:
        """Entries that another replica (or an earlier life of this one) has left lying; they are ours now."""
        reply = await self._redis.xautoclaim(
            keys.SEATING, keys.GROUP, self._replica, min_idle_time=idle_ms, start_id="0-0", count=count
        )
        return [Entry(entry.decode(), fields[b"g"].decode()) for entry, fields in reply[1] if fields]

    async def still_at_it(self, entry: Entry) -> None:
        """Says that this replica still works on the entry, so that nobody claims it."""
        await self._redis.xclaim(keys.SEATING, keys.GROUP, self._replica, 0, [entry.id], justid=True)

    async def hold(self, games: Sequence[str]) -> list[Match | None]:
        """Takes these matches in hand; None for one that has been seated or undone."""
        where = [keys.MATCHES, keys.HOLDERS]
        texts = await asyncio.gather(*(self._lane.run("hold_match-2", where, [game, self._replica]) for game in games))
        return [None if text is None else decode_match(text) for text in texts]

    async def seat(self, match: Match, entry: Entry, now: int, told: bytes, keep_ms: int) -> Sat:
        """The table is there: seats the two and keeps what they are told."""
        done = await self._lane.run(
            "seat_match-7",
            [
                keys.MATCHES,
                keys.HOLDERS,
                keys.SEATS,
                keys.LAST,
                keys.told(match.game),
                keys.SEATING,
                keys.undone(match.game),
            ],
            [match.game, match.blue.id, match.red.id, now, told, keep_ms, entry.id, keys.GROUP],
        )
        return Sat(done)

    async def undo(self, match: Match, entry: Entry, claim_by: int, reopen: bool) -> list[str] | None:
        """No table: the seats are free and, with `reopen`, the seeks are open again, ages kept. Gives the seeks that
        are open again; None if another replica has the match in hand."""
        args: list[Arg] = [
            match.game,
            self._replica,
            match.blue.id,
            match.red.id,
            claim_by,
            entry.id,
            keys.GROUP,
        ]
        seeks = await with_last(self._redis, match.seeks) if reopen else []
        args.append(len(seeks))
        for seek in seeks:
            member = keys.in_order(seek.room, seek.since, seek.seek)
            args += [seek.seek, encode(seek), seek.player, seek.room, member, seek.gateway]
        code, *opened = await self._lane.run(
            "undo_match-10",
            [
                keys.MATCHES,
                keys.HOLDERS,
                keys.SEATS,
                keys.SEEKS,
                keys.OPEN,
                keys.MINE,
                keys.CHANGES,
                keys.LEAVING,
                keys.SEATING,
                keys.undone(match.game),
            ],
            args,
        )
        return [seek.decode() for seek in opened] if code == 1 else None

    async def came_of(self, seek: str, game: str) -> bool:
        """Whether the seek led to this game, a minute ago at most."""
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.hget(keys.MATCHES, game)
            pipe.get(keys.told(game))
            match, told = await pipe.execute()
        if match is not None:
            return any(stored.seek == seek for stored in decode_match(match).seeks)
        return told is not None and any(seek in notice.seeks for notice in kept(game, told))

    async def known(self, game: str) -> bool:
        """Whether the match still waits for its table. False: seated, undone, or lost with Redis."""
        return bool(await self._redis.hexists(keys.MATCHES, game))

    async def drop_entry(self, entry: Entry) -> None:
        """The entry needs nothing more."""
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.xack(keys.SEATING, keys.GROUP, entry.id)
            pipe.xdel(keys.SEATING, entry.id)
            await pipe.execute()

    async def pending(self) -> int:
        """Matches not yet seated."""
        return int(await self._redis.hlen(keys.MATCHES))

    async def matches(self) -> list[Match]:
        """All matches not yet seated; for the sweeper."""
        return [decode_match(text) for text in await self._redis.hvals(keys.MATCHES)]

    async def entry_games(self) -> set[str]:
        """Games that have an entry in the stream; for the sweeper."""
        found = await self._redis.xrange(keys.SEATING, count=MOST_MATCHES + 1)
        return {fields[b"g"].decode() for _, fields in found}

    async def enter_again(self, game: str) -> None:
        """Puts a match that has lost its entry back into the stream."""
        await self._redis.xadd(keys.SEATING, {"g": game})

    async def forget_idle_consumers(self, idle_ms: int) -> int:
        """Removes replicas that have long gone from the group, if nothing is left with them."""
        gone = 0
        for consumer in await self._redis.xinfo_consumers(keys.SEATING, keys.GROUP):
            name = consumer["name"].decode()
            if name != self._replica and consumer["pending"] == 0 and consumer["idle"] >= idle_ms:
                await self._redis.xgroup_delconsumer(keys.SEATING, keys.GROUP, name)
                gone += 1
        return gone


def _taken(reply: list[Any]) -> Taken:
    code = Took(reply[0])
    rest = [part.decode() for part in reply[1:]]
    if code is Took.TAKEN:
        return Taken(code, tuple(zip(rest[0::2], rest[1::2], strict=True)))
    return Taken(code, game=rest[0] if rest else "")
