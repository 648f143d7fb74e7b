"""What operators may do over HTTP, each call with an operator's token.

Each deed is written down by the ratings service before it takes effect: what
can't be written down doesn't happen. A call that failed half-way may be made
again, and is written down again.
"""

import unicodedata
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from aiohttp import web

from gateway import shapes
from gateway.http import errors
from gateway.ports import Lobby, Notices, Ratings
from numbridge import wire
from numbridge.clock import now_ms
from numbridge.errors import Reason, Rejected
from numbridge.tokens import Claims
from numbridge.v1 import ratings_pb2

MAX_WHY, MAX_TEXT = 200, 500
DEEDS, MOST_DEEDS = 50, 200

Caller = Callable[[web.Request], Awaitable[Claims | None]]
Body = Callable[[web.Request], Awaitable[bytes]]
B = TypeVar("B", bound=msgspec.Struct)


class Why(msgspec.Struct):
    """Body of most calls: what the operator says about it."""

    why: str = ""


class Mute(Why):
    """Body of a mute."""

    until: int = 0


class Announcement(msgspec.Struct):
    """Body of an announcement."""

    text: str


class Admin:
    """Handlers, one a call."""

    def __init__(self, caller: Caller, body: Body, lobby: Lobby, ratings: Ratings, notices: Notices) -> None:
        """`caller`: who makes a call, None without a token. `body`: a call's body, read in time."""
        self._caller = caller
        self._body = body
        self._lobby = lobby
        self._ratings = ratings
        self._notices = notices

    def routes(self) -> list[web.RouteDef]:
        """All calls."""
        return [
            web.post("/api/admin/rooms/{room}/close", self.close_room),
            web.post("/api/admin/rooms/{room}/open", self.open_room),
            web.post("/api/admin/games/{game}/end", self.end_game),
            web.post("/api/admin/players/{player}/mute", self.mute),
            web.post("/api/admin/players/{player}/unmute", self.unmute),
            web.post("/api/admin/announcements", self.announce),
            web.get("/api/admin/restrictions", self.restrictions),
            web.get("/api/admin/audit", self.audit),
        ]

    async def close_room(self, request: web.Request) -> web.Response:
        """Takes no new seeks in a room."""
        return await self._room(request, "close_room")

    async def open_room(self, request: web.Request) -> web.Response:
        """Takes seeks again."""
        return await self._room(request, "open_room")

    async def _room(self, request: web.Request, action: str) -> web.Response:
        operator = await self._operator(request)
        why = _why((await self._decoded(request, Why)).why)
        room = _path(request, "room")
        if action == "close_room" and room not in {entry.id for entry in (await self._lobby.rooms()).rooms}:
            raise Rejected(Reason.NOT_FOUND, f"there is no room {room!r}; GET /api/rooms lists them")
        return _done(await self._deed(operator, action, room, why))

    async def end_game(self, request: web.Request) -> web.Response:
        """Ends a running game with result `none`."""
        operator = await self._operator(request)
        why = _why((await self._decoded(request, Why)).why)
        game = _path(request, "game")
        number = await self._deed(operator, "end_game", game, why)
        return _done(number, was_over=await self._lobby.end_game(game))

    async def mute(self, request: web.Request) -> web.Response:
        """Bars a player from seeking until a time."""
        operator = await self._operator(request)
        body = await self._decoded(request, Mute)
        why = _why(body.why)
        if body.until <= now_ms():
            raise errors.bad("`until` must be a time to come, in milliseconds since the epoch")
        player = _path(request, "player")
        await self._ratings.player(player)  # not_found
        return _done(await self._deed(operator, "mute", player, why, body.until))

    async def unmute(self, request: web.Request) -> web.Response:
        """Lets the player seek again."""
        operator = await self._operator(request)
        why = _why((await self._decoded(request, Why)).why)
        return _done(await self._deed(operator, "unmute", _path(request, "player"), why))

    async def announce(self, request: web.Request) -> web.Response:
        """Says something to everybody who is connected."""
        operator = await self._operator(request)
        text = _text("text", (await self._decoded(request, Announcement)).text, 1, MAX_TEXT)
        number = await self._deed(operator, "announce", "", text)
        await self._notices.announce(wire.event("announcement", id=str(number), text=text, at=now_ms()))
        return _done(number)

    async def restrictions(self, request: web.Request) -> web.Response:
        """What stands now."""
        await self._operator(request)
        standing = (await self._ratings.restrictions()).restrictions
        rooms = [one.subject for one in standing if one.kind == "room"]
        players = [{"player": one.subject, "until": one.until} for one in standing if one.kind == "player"]
        return _json({"closed_rooms": rooms, "muted": players})

    async def audit(self, request: web.Request) -> web.Response:
        """What operators did, newest first."""
        await self._operator(request)
        before = _number(request, "before", 0, (1 << 53) - 1)
        limit = min(_number(request, "limit", DEEDS, 10**9), MOST_DEEDS)
        deeds = (await self._ratings.deeds(before, limit)).deeds
        body: shapes.Body = {"deeds": [shapes.deed(deed) for deed in deeds]}
        if len(deeds) == limit:
            body["next"] = str(deeds[-1].id)
        return _json(body)

    async def _operator(self, request: web.Request) -> Claims:
        """Who calls. Raises Rejected: UNAUTHORIZED without a token, FORBIDDEN for anybody else's."""
        claims = await self._caller(request)
        if claims is None:
            raise Rejected(
                Reason.UNAUTHORIZED, "this call needs `Authorization: Bearer TOKEN` with an operator's token"
            )
        if not claims.admin or claims.guest:
            raise Rejected(Reason.FORBIDDEN, "only operators may do that")
        return claims

    async def _decoded(self, request: web.Request, kind: type[B]) -> B:
        body = await self._body(request)
        try:
            return msgspec.json.decode(body.strip() or b"{}", type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise errors.bad(f"the body does not fit: {error}") from None

    async def _deed(self, operator: Claims, action: str, subject: str, detail: str, until: int = 0) -> int:
        return await self._ratings.deed(
            ratings_pb2.PutDeedRequest(
                actor=operator.player, action=action, subject=subject, detail=detail, until=until
            )
        )


def _why(text: str) -> str:
    return _text("why", text, 0, MAX_WHY)


def _text(field: str, text: str, least: int, most: int) -> str:
    """One line of visible text."""
    clean = unicodedata.normalize("NFC", text).strip()
    if not least <= len(clean) <= most:
        raise errors.bad(f"`{field}` must have {least} to {most} characters")
    if any(unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn", "Zl", "Zp") for char in clean):
        raise errors.bad(f"`{field}` has a control or unassigned character")
    return clean


def _path(request: web.Request, field: str) -> str:
    text = request.match_info[field]
    if len(text) > wire.MAX_ID_CHARS or "\0" in text or any(0xD800 <= ord(char) < 0xE000 for char in text):
        raise Rejected(Reason.NOT_FOUND, f"there is no such {field}")
    return text


def _number(request: web.Request, field: str, default: int, most: int) -> int:
    text = request.query.get(field)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and 1 <= int(text) <= most):
        raise errors.bad(f"`{field}` must be a whole number from 1 to {most}")
    return int(text)


def _done(number: int, **more: Any) -> web.Response:
    return _json({"audit": str(number), **more})


def _json(body: Any) -> web.Response:
    return web.Response(body=wire.encode(body), headers={"Content-Type": errors.JSON})
