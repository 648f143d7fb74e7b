"""What players ask about seeks: post, cancel, accept. Refusals are raised as Rejected.

Judged in this order: limit, not_found or gone, forbidden, bad_seek.
"""

from lobby import notices
from lobby.adapters.redis_seeks import Ended, Posted, RedisSeeks
from lobby.matching.rules import compatible, in_range, may_meet
from lobby.matching.seek import BadSeek, Wish, normalise
from lobby.matching.settle import Coin, colors, settle
from lobby.metrics import Metrics
from lobby.ports import Announcer, Ratings
from lobby.restrictions import Restrictions
from lobby.rooms import LobbyRoom, LobbyRooms
from lobby.seat_check import SeatCheck
from lobby.stored import Person, StoredSeek, wish_of
from lobby.taking import Taker, blocked, gone
from numbridge.clock import now_ms
from numbridge.errors import Reason, Rejected, unavailable
from numbridge.ids import HOUSE_PREFIX
from numbridge.v1 import lobby_pb2

MOST_SEEKS = 3  # open seeks a player
_LIMIT_RETRY_MS = 1_000
_TRIES = 3  # a stale seat found by the script is forgotten, then the script is asked again
_OTHERS = 64  # oldest seeks looked at for somebody whom the host of a house bot could meet instead


class Desk:
    """One a replica; any replica answers any call."""

    def __init__(
        self,
        rooms: LobbyRooms,
        seeks: RedisSeeks,
        taker: Taker,
        check: SeatCheck,
        restrictions: Restrictions,
        ratings: Ratings,
        announcer: Announcer,
        metrics: Metrics,
        coin: Coin,
        limits: bool,
        one_table: bool,
    ) -> None:
        self._rooms = rooms
        self._seeks = seeks
        self._taker = taker
        self._check = check
        self._restrictions = restrictions
        self._ratings = ratings
        self._announcer = announcer
        self._metrics = metrics
        self._coin = coin
        self._most = MOST_SEEKS if limits else 0
        self._one_table = one_table

    def _room(self, room: str, player: str) -> LobbyRoom:
        found = self._rooms.get(room)
        if found is None:
            raise Rejected(Reason.NOT_FOUND, f"there is no room {room!r}; GET /api/rooms lists them")
        if not found.admits(player):
            raise Rejected(Reason.FORBIDDEN, "this room is for players with an account")
        return found

    async def post(self, request: lobby_pb2.PostSeekRequest) -> StoredSeek:
        """Posts a seek, or posts one again that Redis has lost."""
        player = request.player.id
        try:
            room, wish = await self._checked(request)
        except Rejected:
            # What is wrong with the seek comes last: a full hand and a game under way are judged before it.
            if self._most and await self._others(player, request.wish.room) >= self._most:
                raise self._too_many() from None
            await self._check.free(player)
            raise
        now = now_ms()
        seek = StoredSeek(
            seek=request.seek,
            room=room.id,
            player=player,
            name=request.player.name,
            rating=await self._ratings.rating(room.variant, player),
            since=min(request.since, now) if request.since > 0 else now,
            gateway=request.gateway,
            givens=wish.givens or room.limits.givens,
            blocks=wish.blocks,
            highlight=wish.highlight,
            rated=wish.rated,
            want=wish.rating,
            avoid=tuple(sorted(await self._ratings.avoids(player))),
        )
        posted = await self._put(seek)
        if self._restrictions.muted(player):  # meanwhile
            await self._restrictions.end_seeks(player)
        return posted

    async def _checked(self, request: lobby_pb2.PostSeekRequest) -> tuple[LobbyRoom, Wish]:
        room = self._room(request.wish.room, request.player.id)
        again = request.since > 0  # open before the room was closed, and lost by Redis
        await self._restrictions.check(request.player.id, None if again else room.id)
        try:
            return room, normalise(wish_of(request.wish, room.limits), room.limits)
        except BadSeek as error:
            raise Rejected(Reason.BAD_SEEK, str(error)) from None

    async def _others(self, player: str, room: str) -> int:
        return sum(other != room for other in await self._seeks.of_player(player))

    async def _put(self, seek: StoredSeek) -> StoredSeek:
        for _ in range(_TRIES):
            code, detail = await self._seeks.post(seek, self._most, self._one_table)
            match code:
                case Posted.TOO_MANY:
                    raise self._too_many()
                case Posted.HAS_GAME:
                    if await self._taker.came_of(seek.seek, detail):
                        return seek  # a repeated call: it was matched as soon as it was posted
                    await self._check.refuse_if_true(seek.player, detail)
                case Posted.OPEN_ALREADY:
                    [there] = await self._seeks.get([seek.seek])
                    if there is not None and there.player != seek.player:
                        raise Rejected(Reason.FORBIDDEN, "a seek of another player's has this id")
                    return there or seek
                case Posted.POSTED:
                    if detail:
                        await self._tell_ended(seek.player, detail, notices.ENDED_REPLACED)
                    return seek
        raise unavailable("your seat")

    def _too_many(self) -> Rejected:
        return Rejected(
            Reason.LIMIT,
            f"you have {self._most} open seeks, the most a player may have; cancel one or wait",
            retry_ms=_LIMIT_RETRY_MS,
        )

    async def cancel(self, seek: str, player: str) -> None:
        """Takes a seek back."""
        match await self._seeks.end(seek, player):
            case Ended.GONE:
                raise gone()
            case Ended.ANOTHERS:
                raise Rejected(Reason.FORBIDDEN, "that seek is another player's")
            case Ended.ENDED:
                await self._tell_ended(player, seek, notices.ENDED_CANCELLED)

    async def _tell_ended(self, player: str, seek: str, reason: str) -> None:
        self._metrics.ended(reason)
        await self._announcer.tell([notices.seek_ended(player, seek, reason)])

    async def accept(self, request: lobby_pb2.AcceptSeekRequest) -> str:
        """Accepts another's open seek; takes on whatever it leaves open. Gives the game to be seated at."""
        guest = request.player.id
        [seek] = await self._seeks.get([request.seek])
        if seek is None:
            raise gone()
        if seek.player == guest:
            raise Rejected(Reason.FORBIDDEN, "that seek is your own; somebody else has to accept it")
        room = self._room(seek.room, guest)
        await self._restrictions.check(guest)
        await self._check.free(guest)
        rating = await self._ratings.rating(room.variant, guest)
        core = seek.to_core(room.limits)
        if not in_range(core.want, rating):
            raise Rejected(Reason.FORBIDDEN, f"that seek is for ratings {core.want}; yours is {rating}")
        if not may_meet(guest, await self._ratings.avoids(guest), seek.player, core.avoid):
            raise blocked()
        if guest.startswith(HOUSE_PREFIX) and await self._could_meet_another(seek, guest, room):
            raise Rejected(Reason.FORBIDDEN, "you two have just met, and somebody else waits for this player")
        blue, red = colors(seek.player, guest, self._coin)
        people = {seek.player: seek.person, guest: Person(guest, request.player.name, rating)}
        settings = room.settings(settle(core.profile, core.profile, room.limits.default, self._coin))
        match = await self._taker.take(room.id, settings, people[blue], people[red], "accept", seek.player, guest, seek)
        self._metrics.matched(room.id, [match.at - seek.since], abs(seek.rating - rating))
        return match.game

    async def _could_meet_another(self, seek: StoredSeek, guest: str, room: LobbyRoom) -> bool:
        """A house bot accepts by itself, so the rule against the same pair twice in a row holds for it. Between
        people an acceptance is a choice, and the rule does not apply."""
        host_met, guest_met = await self._seeks.last_opponent(seek.player), await self._seeks.last_opponent(guest)
        if host_met != guest and guest_met != seek.player:
            return False
        core = seek.to_core(room.limits)
        others = await self._seeks.listed(room.id, _OTHERS)
        return any(compatible(core, other.to_core(room.limits)) for other in others if other.seek != seek.seek)
