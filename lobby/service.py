"""The gRPC edge: decode, ask, encode. No decisions."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import structlog
from grpc import aio

from lobby.adapters.redis_seating import RedisSeating
from lobby.adapters.redis_seats import RedisSeats
from lobby.adapters.redis_seeks import RedisSeeks
from lobby.company import Company
from lobby.desk import Desk
from lobby.greeting import Greeting, notices_of
from lobby.metrics import Metrics
from lobby.pools import Pools
from lobby.ports import Tables
from lobby.restrictions import Restrictions
from lobby.rooms import LobbyRooms
from numbridge import RELEASE, rpc
from numbridge.errors import Reason, Rejected, to_proto, unavailable
from numbridge.redis_io import AWAY
from numbridge.v1 import lobby_pb2, lobby_pb2_grpc

log = structlog.get_logger("lobby.service")

LISTED = 2_000  # oldest seeks of a room that a snapshot holds; the deltas bring the others as they come and go
_MOST_GAMES, _GAMES = 200, 50
_MOST_POSTED = 200  # seeks in one call

T = TypeVar("T")
Context = aio.ServicerContext[Any, Any]


class LobbyService(lobby_pb2_grpc.LobbyServicer):
    """One a replica."""

    def __init__(
        self,
        name: str,
        rooms: LobbyRooms,
        desk: Desk,
        company: Company,
        greeting: Greeting,
        seeks: RedisSeeks,
        seats: RedisSeats,
        seating: RedisSeating,
        pools: Pools,
        tables: Tables,
        restrictions: Restrictions,
        metrics: Metrics,
    ) -> None:
        self._name = name
        self._rooms = rooms
        self._desk = desk
        self._company = company
        self._greeting = greeting
        self._seeks = seeks
        self._seats = seats
        self._seating = seating
        self._pools = pools
        self._tables = tables
        self._restrictions = restrictions
        self._metrics = metrics

    async def GetRooms(self, request: lobby_pb2.GetRoomsRequest, context: Context) -> lobby_pb2.GetRoomsReply:
        """Rooms with what goes on in them."""
        rooms = self._rooms.all
        ids = [room.id for room in rooms]
        waiting = await _or_abort(context, self._seeks.waiting(ids))
        playing = await _or_abort(context, self._seats.playing(ids))
        return lobby_pb2.GetRoomsReply(
            rooms=[
                lobby_pb2.RoomNow(
                    id=room.id,
                    room=room.public,
                    waiting=seekers,
                    playing=games,
                    closed=self._restrictions.closed(room.id),
                )
                for room, seekers, games in zip(rooms, waiting, playing, strict=True)
            ]
        )

    async def ListSeeks(self, request: lobby_pb2.ListSeeksRequest, context: Context) -> lobby_pb2.ListSeeksReply:
        """Open seeks, oldest first."""
        rooms = [request.room] if request.room else self._rooms.ids
        if request.room and self._rooms.get(request.room) is None:
            return lobby_pb2.ListSeeksReply(reject=to_proto(_no_room(request.room)))
        marks = await _or_abort(context, self._seeks.marks(rooms))  # before the lists: see seek_list
        found = [seek for room in rooms for seek in await _or_abort(context, self._seeks.listed(room, LISTED))]
        found.sort(key=lambda seek: (seek.since, seek.seek))
        return lobby_pb2.ListSeeksReply(
            seeks=[seek.to_proto() for seek in found],
            marks={room: lobby_pb2.SeekListMark(run=run, seq=seq) for room, (run, seq) in marks.items()},
        )

    async def PostSeek(self, request: lobby_pb2.PostSeekRequest, context: Context) -> lobby_pb2.PostSeekReply:
        """Posts a seek."""
        return await self._post(request)

    async def PostSeeks(self, request: lobby_pb2.PostSeeksRequest, context: Context) -> lobby_pb2.PostSeeksReply:
        """Posts several; what Redis and ratings are asked for all of them goes out together."""
        if len(request.seeks) > _MOST_POSTED:
            await rpc.abort(context, Rejected(Reason.BAD_MESSAGE, f"at most {_MOST_POSTED} seeks in a call"))
        if len(request.seeks) == 1:
            return lobby_pb2.PostSeeksReply(replies=[await self._post(request.seeks[0])])
        return lobby_pb2.PostSeeksReply(replies=await asyncio.gather(*(self._post(seek) for seek in request.seeks)))

    async def _post(self, request: lobby_pb2.PostSeekRequest) -> lobby_pb2.PostSeekReply:
        room = request.wish.room if self._rooms.get(request.wish.room) is not None else "unknown"
        try:
            await _away(self._greeting.heard(request.gateway))
            seek = await _away(self._desk.post(request))
        except Rejected as refused:
            self._metrics.posted(room, refused.reason)
            return lobby_pb2.PostSeekReply(reject=to_proto(refused))
        self._metrics.posted(room, "open")
        return lobby_pb2.PostSeekReply(seek=seek.to_proto())

    async def CancelSeek(self, request: lobby_pb2.CancelSeekRequest, context: Context) -> lobby_pb2.CancelSeekReply:
        """Takes a seek back."""
        try:
            await _away(self._desk.cancel(request.seek, request.player))
        except Rejected as refused:
            return lobby_pb2.CancelSeekReply(reject=to_proto(refused))
        return lobby_pb2.CancelSeekReply()

    async def AcceptSeek(self, request: lobby_pb2.AcceptSeekRequest, context: Context) -> lobby_pb2.AcceptSeekReply:
        """Accepts an open seek of another's."""
        try:
            game = await _away(self._desk.accept(request))
        except Rejected as refused:
            self._metrics.accepted(refused.reason)
            return lobby_pb2.AcceptSeekReply(reject=to_proto(refused))
        self._metrics.accepted("taken")
        return lobby_pb2.AcceptSeekReply(game=game)

    async def Greet(self, request: lobby_pb2.GreetRequest, context: Context) -> lobby_pb2.GreetReply:
        """What a player who has just connected must know."""
        games, seeks = await _or_abort(context, self._greeting.greet(request.player.id, request.gateway))
        return lobby_pb2.GreetReply(games=games, seeks=seeks)

    async def SetPresence(self, request: lobby_pb2.SetPresenceRequest, context: Context) -> lobby_pb2.SetPresenceReply:
        """A player's first connection to a gateway has come, or the last has gone."""
        await _or_abort(context, self._greeting.connected(request.player, request.gateway, request.connected))
        return lobby_pb2.SetPresenceReply()

    async def KeepGateway(self, request: lobby_pb2.KeepGatewayRequest, context: Context) -> lobby_pb2.KeepGatewayReply:
        """A gateway's heartbeat."""
        ended, seated = await _or_abort(context, self._greeting.keep(request))
        return lobby_pb2.KeepGatewayReply(ended=ended, seated=notices_of(seated), lease_ms=self._greeting.lease_ms)

    async def ListGames(self, request: lobby_pb2.ListGamesRequest, context: Context) -> lobby_pb2.ListGamesReply:
        """Games being played, newest first."""
        if request.room and self._rooms.get(request.room) is None:
            return lobby_pb2.ListGamesReply(reject=to_proto(_no_room(request.room)))
        rooms = [request.room] if request.room else self._rooms.ids
        limit = min(max(request.limit, 0) or _GAMES, _MOST_GAMES)
        games = await _or_abort(context, self._seats.listed(rooms, limit))
        return lobby_pb2.ListGamesReply(games=[game.to_proto() for game in games])

    async def AskRematch(self, request: lobby_pb2.AskRematchRequest, context: Context) -> lobby_pb2.AskRematchReply:
        """Asks for a rematch."""
        try:
            agreed = await _away(self._company.rematch(request))
        except Rejected as refused:
            return lobby_pb2.AskRematchReply(reject=to_proto(refused))
        return lobby_pb2.AskRematchReply(agreed=agreed)

    async def SetBlock(self, request: lobby_pb2.SetBlockRequest, context: Context) -> lobby_pb2.SetBlockReply:
        """Blocks or unblocks a player."""
        try:
            await _away(self._company.set_block(request))
        except Rejected as refused:
            return lobby_pb2.SetBlockReply(reject=to_proto(refused))
        return lobby_pb2.SetBlockReply()

    async def EndGame(self, request: lobby_pb2.EndGameRequest, context: Context) -> lobby_pb2.EndGameReply:
        """Ends a running game."""
        try:
            was_over = await self._tables.end(request.game)
        except Rejected as refused:
            return lobby_pb2.EndGameReply(reject=to_proto(refused))
        return lobby_pb2.EndGameReply(was_over=was_over)

    async def GetLobby(self, request: lobby_pb2.GetLobbyRequest, context: Context) -> lobby_pb2.GetLobbyReply:
        """For the status screen."""
        ids = self._rooms.ids
        return lobby_pb2.GetLobbyReply(
            lobby=self._name,
            pools=sorted(self._pools.owned),
            seeks=sum(await _or_abort(context, self._seeks.waiting(ids))),
            seating=await _or_abort(context, self._seating.pending()),
            playing=sum(await _or_abort(context, self._seats.playing(ids))),
            release=RELEASE,
        )


def _no_room(room: str) -> Rejected:
    return Rejected(Reason.NOT_FOUND, f"there is no room {room!r}; GET /api/rooms lists them")


async def _away(call: Awaitable[T]) -> T:
    """The call's answer; Redis being away reads as UNAVAILABLE."""
    try:
        return await call
    except AWAY as error:
        log.warning("redis_away", error=type(error).__name__)
        raise unavailable("the lobby's memory") from None


async def _or_abort(context: Context, call: Awaitable[T]) -> T:
    """The call's answer; a refusal ends the RPC with its status."""
    try:
        return await _away(call)
    except Rejected as refused:
        await rpc.abort(context, refused)
        raise
