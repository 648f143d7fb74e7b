"""Carries out what a session asks for, by the services behind the gateway."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NoReturn, Protocol

from gateway.hub import Hub
from gateway.limits.gate import Gate
from gateway.limits.gates import Gates
from gateway.limits.houses import Houses
from gateway.players import Players, as_player
from gateway.ports import Listener, Lobby, Tokens, Viewer, Watcher
from gateway.reader import Reader
from gateway.seekboard import SeekBoard
from gateway.session import effects as fx
from gateway.tables import Tables, Unfinished
from numbridge import clock, ids, wire
from numbridge.errors import Reason, Rejected, from_proto
from numbridge.tokens import Claims
from numbridge.v1 import lobby_pb2
from numbridge.v1 import table_pb2 as pb

EMPTY_REF = "~"  # an empty ref of a client's, which workers would take for none; our own are longer
MOST = 1_000_000  # of a seek's numbers, either way


Rest = Callable[[], Awaitable[fx.Result]]
"""The rest of a request's way, which has to wait for something. Raises Rejected."""


class Caller(Viewer, Watcher, Listener, Protocol):
    """The connection on whose behalf a request is carried out."""

    claims: Claims | None
    address: str

    @property
    def lag_ms(self) -> int:
        """Estimate of the one-way lag of its socket."""


class Backend:
    """One method for each request."""

    def __init__(
        self,
        gateway: str,
        tokens: Tokens,
        lobby: Lobby,
        tables: Tables,
        reader: Reader,
        hub: Hub,
        board: SeekBoard,
        players: Players,
        gates: Gates,
        houses: Houses,
    ) -> None:
        self._gateway = gateway
        self._tokens = tokens
        self._lobby = lobby
        self._tables = tables
        self._reader = reader
        self._hub = hub
        self._board = board
        self._players = players
        self._gates = gates
        self._houses = houses
        self._run = ids.random_token()  # one life of this process: its own refs are nobody else's
        self._refs = 0
        self._reading: dict[tuple[str, int | None], asyncio.Task[fx.Result]] = {}

    async def perform(self, caller: Caller, request: fx.Request) -> fx.Result:
        """The result of a request. Raises Rejected. Nothing is awaited between a subscription and the return."""
        if isinstance(request, fx.Act):
            return await self._play(self._command(caller, request.message))
        if isinstance(request, fx.LogIn):
            return await self._log_in(caller, request.token)
        who = _claims(caller)
        await self._allow(who, request)
        match request:
            case fx.Look(game):
                return await self._look(who, game)
            case fx.Tune(game, seat):
                self._houses.sat(game, seat, caller.address)
                await self._hub.tune(caller, game, seat)
            case fx.Catch():
                return await self._catch(who, request)
            case fx.PostSeek(wish):
                return await self._post(who, wish)
            case fx.CancelSeek(seek):
                await self._lobby.cancel(lobby_pb2.CancelSeekRequest(seek=seek, player=who.player))
                self._players.seek_ended(who.player, seek)
            case fx.AcceptSeek(seek):
                await self._lobby.accept(
                    lobby_pb2.AcceptSeekRequest(seek=seek, player=as_player(who), gateway=self._gateway)
                )
            case fx.WatchLobby(room):
                return fx.Listed(await self._board.watch(caller, room))
            case fx.UnwatchLobby(room):
                self._board.unwatch(caller, room)
            case fx.AskRematch(game):
                self._tables.shard(game)
                await self._lobby.rematch(
                    lobby_pb2.AskRematchRequest(game=game, player=as_player(who), gateway=self._gateway)
                )
            case fx.SetBlock(player, blocked):
                await self._block(who, player, blocked)
        return fx.Done()

    async def _allow(self, who: Claims, request: fx.Request) -> None:
        """Raises Rejected (limit). What a player does at a table is never asked of anybody."""
        gate: Gate | None = None
        if isinstance(request, fx.PostSeek | fx.AcceptSeek | fx.CancelSeek | fx.AskRematch):
            gate = self._gates.seeks
        elif isinstance(request, fx.Look):
            gate = self._gates.joins
        if gate is not None:
            await gate.take(who.player)

    def leave(self, caller: Caller) -> None:
        """The connection has gone."""
        self._board.unwatch(caller, None)
        if caller.claims is not None:
            self._players.leave(caller, caller.claims.player)

    async def _log_in(self, caller: Caller, token: str) -> fx.Result:
        claims = caller.claims if caller.claims is not None else await self._tokens.verify(token)
        caller.claims = claims
        try:
            arrival = await self._players.arrive(caller, claims)
        except Rejected:
            caller.claims = None
            raise
        return fx.Greeting(
            claims.player, claims.name, arrival.games, arrival.seeks, clock.now_ms(), partial=arrival.partial
        )

    def act(self, caller: Caller, message: wire.Play, done: Callable[["fx.Result | Rest"], None]) -> bool:
        """The usual way of an action, without a task. False if it can't be gone now: then `perform`.

        `done` gets the result, or the rest of the way where it was not the usual one. Raises Rejected.
        """
        command = self._command(caller, message)

        def answered(answer: pb.Answer | Unfinished) -> None:
            if isinstance(answer, Unfinished):
                done(lambda: self._play(command, answer))
            elif answer.WhichOneof("kind") == "accepted":
                done(self._played(command.game, answer))
            else:
                done(lambda: self._refuse(command, from_proto(answer.reject)))

        return self._tables.start(command, answered)

    def _command(self, caller: Caller, message: wire.Play) -> pb.Command:
        who = _claims(caller)
        action = message.action
        play = pb.Play(
            player=who.player,
            # Without a ref of the client's, one of our own: a retry after a lost link must not apply twice.
            ref=self._own_ref() if message.ref is None else message.ref or EMPTY_REF,
            version=message.version,
            action=str(action.__struct_config__.tag),
            cell=getattr(action, "cell", None),
            tile=getattr(action, "tile", None),
            lag_ms=caller.lag_ms,
        )
        return pb.Command(game=message.game, play=play)

    async def _play(self, command: pb.Command, after: Unfinished | None = None) -> fx.Result:
        try:
            answer = await self._tables.ask(command, after=after)
        except Rejected as rejected:
            return await self._refuse(command, rejected)
        return self._played(command.game, answer)

    def _played(self, game: str, answer: pb.Answer) -> fx.Result:
        self._hub.expect(game, answer.accepted.version)
        return fx.Played(answer.accepted.version)

    async def _refuse(self, command: pb.Command, rejected: Rejected) -> NoReturn:
        """Raises the refusal, or `over` for a game that its worker has forgotten."""
        if rejected.reason is Reason.NOT_FOUND:
            await self._reader.refuse_finished(command.game, command.play.player)
        raise rejected

    def _own_ref(self) -> str:
        self._refs += 1
        return f"~{self._run}.{self._refs}"

    async def _look(self, who: Claims, game: str) -> fx.Result:
        try:
            answer = await self._tables.ask(pb.Command(game=game, look=pb.Look(player=who.player)))
        except Rejected as rejected:
            if rejected.reason is not Reason.NOT_FOUND:
                raise
            return await self._reader.archived_state(game, who.player)
        return fx.Seated(answer.seat.seat)

    async def _catch(self, who: Claims, request: fx.Catch) -> fx.Result:
        if request.seat != "watch" or request.arrive:
            return await self._read(request, who.player)
        # Spectators who missed the same share one answer: after a loss, a full hall asks once.
        key = (request.game, request.since)
        reading = self._reading.get(key)
        if reading is None:
            reading = self._reading[key] = asyncio.ensure_future(self._read(request, ""))
            reading.add_done_callback(lambda _: self._reading.pop(key, None))
        return await asyncio.shield(reading)

    async def _read(self, request: fx.Catch, player: str) -> fx.Result:
        join = pb.Join(player=player, since=request.since, arrive=request.arrive)
        try:
            answer = await self._tables.ask(pb.Command(game=request.game, join=join))
        except Rejected as rejected:
            if rejected.reason is not Reason.NOT_FOUND:
                raise
            return await self._reader.archived_state(request.game, player)
        joined = answer.joined
        return fx.Joined(
            joined.version,
            joined.state,
            tuple((frame.version, frame.text) for frame in joined.frames),
            joined.presence,
        )

    async def _post(self, who: Claims, wish: wire.Seek) -> fx.Result:
        request = lobby_pb2.PostSeekRequest(
            seek=ids.new_seek_id(), player=as_player(who), gateway=self._gateway, wish=as_wish(wish)
        )
        seek = await self._lobby.post(request)
        self._players.seek_posted(who.player, seek)
        return fx.Posted(seek.seek)

    async def _block(self, who: Claims, player: str, blocked: bool) -> None:
        if player == who.player:
            raise Rejected(Reason.FORBIDDEN, "you can't block yourself")
        await self._lobby.block(lobby_pb2.SetBlockRequest(player=who.player, other=player, blocked=blocked))


def as_wish(wish: wire.Seek) -> lobby_pb2.SeekWish:
    """A seek as the lobby takes it. Numbers beyond anything a room allows are cut; the lobby names its limits."""
    asked = lobby_pb2.SeekWish(room=wish.room, blocks=wish.blocks)
    if wish.givens is not None:
        low, high = (wish.givens, wish.givens) if isinstance(wish.givens, int) else wish.givens
        asked.givens_min, asked.givens_max = _small(low), _small(high)
    if wish.rating is not None:
        asked.rating_min, asked.rating_max = map(_small, wish.rating)
    if isinstance(wish.highlight, bool):
        asked.highlight = wish.highlight
    if isinstance(wish.rated, bool):
        asked.rated = wish.rated
    return asked


def _small(number: int) -> int:
    return max(-MOST, min(number, MOST))


def _claims(caller: Caller) -> Claims:
    if caller.claims is None:
        raise Rejected(Reason.UNAUTHORIZED, "say hello with a token first")
    return caller.claims
