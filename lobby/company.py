"""What players ask about each other: rematches and blocks."""

import msgspec

from lobby import notices
from lobby.adapters.redis_presence import RedisPresence
from lobby.adapters.redis_seeks import RedisSeeks
from lobby.matching.rules import may_meet
from lobby.ports import Announcer, Making, Ratings, Tables
from lobby.restrictions import Restrictions
from lobby.rooms import LobbyRooms
from lobby.seat_check import SeatCheck
from lobby.stored import Person, Summary
from lobby.taking import Taker, blocked
from numbridge.clock import now_ms
from numbridge.errors import Reason, Rejected, unavailable
from numbridge.v1 import lobby_pb2

REMATCH_MS = 60_000  # both must ask within this
_TRIES = 5  # an open seek that is replaced while its block list is written is read again


class Company:
    """One a replica; any replica answers any call."""

    def __init__(
        self,
        rooms: LobbyRooms,
        seeks: RedisSeeks,
        presence: RedisPresence,
        taker: Taker,
        check: SeatCheck,
        restrictions: Restrictions,
        ratings: Ratings,
        tables: Tables,
        announcer: Announcer,
    ) -> None:
        self._rooms = rooms
        self._seeks = seeks
        self._presence = presence
        self._taker = taker
        self._check = check
        self._restrictions = restrictions
        self._ratings = ratings
        self._tables = tables
        self._announcer = announcer

    async def rematch(self, request: lobby_pb2.AskRematchRequest) -> bool:
        """Asks for another game after a finished one. True once both have: the same settings, colours swapped."""
        who = request.player.id
        old = await self._finished(request.game)
        if who not in (old.blue.id, old.red.id):
            raise Rejected(Reason.FORBIDDEN, "you did not play in that game")
        other = old.red if who == old.blue.id else old.blue
        if self._rooms.get(old.room) is None:
            raise Rejected(Reason.NOT_FOUND, "the room of that game has been closed")
        await self._restrictions.check(who)
        await self._check.free(who)
        if not may_meet(who, await self._ratings.avoids(who), other.id, await self._ratings.avoids(other.id)):
            raise blocked()
        if not await self._presence.ask_rematch(old.game, who, other.id, now_ms(), REMATCH_MS):
            await self._announcer.tell([notices.rematch_asked(other.id, old.game, who)])
            return False
        blue, red = await self._rated(old, old.red), await self._rated(old, old.blue)
        await self._taker.take(old.room, old.settings, blue, red, "rematch", other.id, who)
        return True

    async def _rated(self, old: Summary, person: Person) -> Person:
        return Person(person.id, person.name, await self._ratings.rating(old.settings.variant, person.id))

    async def _finished(self, game: str) -> Summary:
        found = await self._tables.look(game)
        if found.outcome is Making.MADE and found.summary is not None:
            if found.summary.status != "over":
                raise Rejected(Reason.FORBIDDEN, "that game is not over yet; a rematch comes after it")
            return found.summary
        archived = None if found.outcome is Making.REFUSED else await self._ratings.finished(game)
        if archived is not None:
            return archived
        if found.outcome is Making.UNKNOWN:
            raise unavailable("that game")
        raise Rejected(Reason.NOT_FOUND, "there is no such game")

    async def set_block(self, request: lobby_pb2.SetBlockRequest) -> None:
        """Blocks or unblocks, for good, and at once in every pool."""
        player, other = request.player, request.other
        if player == other:
            raise Rejected(Reason.FORBIDDEN, "you can't block yourself")
        await self._ratings.block(player, other, request.blocked)
        await self._seeks.say_block(player, other, request.blocked)
        for one in (player, other):
            await self._amend(one)

    async def _amend(self, player: str) -> None:
        """Open seeks carry their player's block list, so that whoever matches them asks nobody."""
        mine = await self._seeks.of_player(player)
        if not mine:
            return
        self._ratings.forget_blocks(player)
        avoid = tuple(sorted(await self._ratings.avoids(player)))
        left = list(mine.values())
        for _ in range(_TRIES):
            stale = [seek for seek in await self._seeks.get(left) if seek is not None and seek.avoid != avoid]
            if not stale:
                return
            for seek in stale:
                await self._seeks.amend(msgspec.structs.replace(seek, avoid=avoid), seek)
            left = [seek.seek for seek in stale]
