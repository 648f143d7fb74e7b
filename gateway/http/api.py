"""The JSON API. A handler decodes, asks, encodes; what may go wrong is raised as Rejected."""

import asyncio
from typing import Any

import msgspec
from aiohttp import web

from gateway import shapes
from gateway.http import description, errors
from gateway.http.guard import Guard
from gateway.limits.digest import bucket_key
from gateway.limits.gates import ALL, Gates
from gateway.ports import Lobby, Ratings, Tokens
from gateway.reader import InProgress, Reader
from numbridge import ids, wire
from numbridge.errors import Reason, Rejected
from numbridge.tokens import Claims, TokenError, clean_name

MAX_BODY = 4096
GAMES_LIMIT, BOARD_LIMIT, PLAYED_LIMIT = (50, 200), (50, 200), (20, 100)  # default and most


class GuestBody(msgspec.Struct):
    """Body of POST /api/guests."""

    name: str | None = None


_guest = msgspec.json.Decoder(GuestBody)


class Api:
    """Handlers, one a call."""

    def __init__(
        self,
        lobby: Lobby,
        ratings: Ratings,
        tokens: Tokens,
        reader: Reader,
        guard: Guard,
        gates: Gates,
        request_ms: int,
    ) -> None:
        self._lobby = lobby
        self._ratings = ratings
        self._tokens = tokens
        self._reader = reader
        self._guard = guard
        self._gates = gates
        self._body_s = request_ms / 1000

    def routes(self) -> list[web.RouteDef]:
        """All calls."""
        return [
            web.post("/api/guests", self.guests),
            web.get("/api/rooms", self.rooms),
            web.get("/api/seeks", self.seeks),
            web.get("/api/players/{player}", self.player),
            web.get("/api/players/{player}/games", self.player_games),
            web.get("/api/leaderboard/{variant}", self.leaderboard),
            web.get("/api/games", self.games),
            web.get("/api/games/{game}", self.game),
            web.get("/api/games/{game}/record", self.record),
            web.get(description.PATH, self.describe),
        ]

    async def guests(self, request: web.Request) -> web.Response:
        """A new guest and his token."""
        if self._gates.guests is not None:
            await self._gates.guests.take(bucket_key(self._guard.address(request)))
        if self._gates.guests_in_all is not None:
            await self._gates.guests_in_all.take(ALL)
        name = _name(await self.body(request))
        player = ids.new_guest_id()
        shown = name if name is not None else f"Guest {player[-4:]}"
        token = self._tokens.guest(player, shown)
        try:
            await self._ratings.ensure_player(Claims(player, shown, guest=True))
        except Rejected as rejected:
            if rejected.reason is not Reason.UNAVAILABLE:  # else the guest's first hello makes him known
                raise
        return _json({"token": token, "player": {"id": player, "name": shown}}, status=201)

    async def body(self, request: web.Request) -> bytes:
        """The whole body, in time; else 408, and the connection is closed: it has not been read to its end."""
        try:
            async with asyncio.timeout(self._body_s):
                return await request.read()
        except ConnectionResetError:  # gone before he had said all: nobody reads this
            raise errors.bad("the body broke off") from None
        except web.RequestPayloadError as problem:  # a chunk that is none, or a body that broke off
            raise errors.bad(f"the body can't be read: {type(problem).__name__}") from None
        except TimeoutError:
            raise web.HTTPRequestTimeout(headers={"Connection": "close"}) from None

    async def rooms(self, _request: web.Request) -> web.Response:
        """Rooms with what goes on in them."""
        return _json({"rooms": [shapes.room(room) for room in (await self._lobby.rooms()).rooms]})

    async def seeks(self, request: web.Request) -> web.Response:
        """Open seeks."""
        reply = await self._lobby.seeks(_id(request.query.get("room", ""), "room"))
        return _json({"seeks": [shapes.seek(seek) for seek in reply.seeks]})

    async def player(self, request: web.Request) -> web.Response:
        """A player's profile."""
        return _json(shapes.profile(await self._ratings.player(_path_id(request, "player"))))

    async def player_games(self, request: web.Request) -> web.Response:
        """A player's finished games, newest first."""
        before = request.query.get("before", "")
        if len(before) > 256:
            raise errors.bad("`before` is no cursor of an earlier answer")
        reply = await self._ratings.player_games(_path_id(request, "player"), before, _limit(request, PLAYED_LIMIT))
        body: shapes.Body = {"games": [shapes.played(game) for game in reply.games]}
        if reply.next:
            body["next"] = reply.next
        return _json(body)

    async def leaderboard(self, request: web.Request) -> web.Response:
        """A variant's best players."""
        limit = _limit(request, BOARD_LIMIT)
        try:
            reply = await self._ratings.leaderboard(_path_id(request, "variant"), limit)
        except Rejected as rejected:
            if rejected.reason is Reason.BAD_MESSAGE:  # the service knows no such variant; here it is a place
                raise Rejected(Reason.NOT_FOUND, "there is no such variant") from None
            raise
        return _json({"players": [shapes.board_row(row) for row in reply.players]})

    async def games(self, request: web.Request) -> web.Response:
        """Games being played now."""
        room = _id(request.query.get("room", ""), "room")
        reply = await self._lobby.games(room, _limit(request, GAMES_LIMIT))
        return _json({"games": [shapes.game(game) for game in reply.games]})

    async def game(self, request: web.Request) -> web.Response:
        """A game as a spectator sees it."""
        return _raw(await self._reader.public_view(_path_id(request, "game")))

    async def describe(self, _request: web.Request) -> web.Response:
        """What calls there are."""
        return _raw(description.DESCRIPTION)

    async def record(self, request: web.Request) -> web.Response:
        """A finished game's record."""
        try:
            return _raw(await self._reader.record(_path_id(request, "game")))
        except InProgress:
            return errors.error(409, "in_progress", "the game is not over yet; its record is shown afterwards")


def _name(body: bytes) -> str | None:
    if not body.strip():
        return None
    try:
        name = _guest.decode(body).name
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise errors.bad(f'the body must be JSON like {{"name": "Ada"}}: {error}') from None
    if name is None:
        return None
    try:
        return clean_name(name)
    except TokenError as error:
        raise errors.bad(str(error)) from None


def _limit(request: web.Request, bounds: tuple[int, int]) -> int:
    default, most = bounds
    text = request.query.get("limit")
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) >= 1):
        raise errors.bad(f"`limit` must be a whole number from 1 to {most}")
    return min(int(text), most)


def _id(text: str, field: str) -> str:
    if len(text) > wire.MAX_ID_CHARS or "\0" in text:
        raise errors.bad(f"`{field}` must have at most {wire.MAX_ID_CHARS} characters")
    return text


def _path_id(request: web.Request, field: str) -> str:
    text = request.match_info[field]
    if len(text) > wire.MAX_ID_CHARS or "\0" in text or any(0xD800 <= ord(char) < 0xE000 for char in text):
        raise Rejected(Reason.NOT_FOUND, f"there is no such {field}")
    return text


def _json(body: Any, status: int = 200) -> web.Response:
    return _raw(wire.encode(body), status)


def _raw(text: bytes, status: int = 200) -> web.Response:
    return web.Response(status=status, body=text, headers={"Content-Type": errors.JSON})
