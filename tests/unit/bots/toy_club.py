"""A club in one process that speaks the public protocol: real sockets, the real engine, and faults on request."""

import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import WSMsgType, web

from tablesvc.engine.commands import Accept, Command, Decline, Offer, Resign, Resume
from tablesvc.engine.decide import decide
from tablesvc.engine.errors import GameOver, Illegal, NotYourTurn
from tablesvc.engine.evolve import evolve
from tablesvc.engine.frames import frames
from tablesvc.engine.seats import SEAT
from tablesvc.engine.state import State
from tests.unit.bots.playing import SeededDice, command, opened, seen_by

Json = dict[str, Any]
Fault = Callable[[str, Json], str | None]
"""Asked for every message with the player's name: an error code to answer with, "drop" to cut the connection before
the message takes effect, "drop after" to cut it before the answer, None to let it pass."""

ROOMS = {"bridge": ("bridge", 28, 1), "blitz": ("blitz", 10, 2), "domains": ("domains", 28, 1)}
_OFFERS: dict[str, Callable[[int, str], Command]] = {"offer": Offer, "accept": Accept, "decline": Decline}


class Hall:
    """One game."""

    def __init__(self, game: str, room: str, blue: str, red: str, seed: int) -> None:
        variant, givens, price = ROOMS[room]
        self.game = game
        self.room = room
        self.names = {"blue": blue, "red": red}
        self.state: State = opened(variant, "regular", givens, price, seed)
        self.dice = SeededDice(seed)
        self.sent: list[dict[str, Json]] = []
        self.answers: dict[tuple[str, str], int] = {}
        self.asked_again = 0

    def color(self, player: str) -> str:
        return next(color for color, name in self.names.items() if name == player)

    def view(self, player: str) -> Json:
        view = seen_by(self.state, SEAT[self.color(player)], 0)
        return view | {
            "room": self.room,
            "players": {color: {"id": name, "name": name} for color, name in self.names.items()},
        }

    def act(self, player: str, message: Json) -> int:
        """Plays as a table worker would; the version afterwards."""
        if (player, message["ref"]) in self.answers:
            self.asked_again += 1
            return self.answers[player, message["ref"]]
        action, by = message["action"], SEAT[self.color(player)]
        kind = action["kind"]
        verb, _, what = kind.partition("_")
        made: Command
        if verb in _OFFERS:
            made = _OFFERS[verb](by, what)
        elif kind in ("resign", "resume"):
            made = Resign(by) if kind == "resign" else Resume(by)
        else:
            made = command(self.state, action, by)
            if message["version"] != self.state.version:
                raise Stale
        for event in decide(self.state, made, self.state.last_at + 10, self.dice):
            self.state = evolve(self.state, event)
            seen = frames(self.game, event, self.state)
            assert seen is not None
            self.sent.append({"blue": seen.blue, "red": seen.red})
        self.answers[player, message["ref"]] = self.state.version
        return self.state.version


class Stale(Exception):
    """The version is an old one."""


class ToyClub:
    """The server. `players` are names; a token is a name."""

    def __init__(self) -> None:
        self.url = ""
        self.fault: Fault = lambda _player, _message: None
        self.halls: dict[str, Hall] = {}
        self.seeks: dict[str, Json] = {}
        self.sockets: dict[str, web.WebSocketResponse] = {}
        self.watching: set[str] = set()
        self.heard: list[tuple[str, Json]] = []
        self.guests = 0
        self.guests_barred = 0  # so many times more the answer is 429
        self.connections = 0
        self._numbers = itertools.count(1)
        self.lose_frames: Callable[[Json], bool] = lambda _frame: False

    def count(self, op: str, kind: str | None = None) -> int:
        """Messages heard."""
        return sum(m["op"] == op and (kind is None or m["action"]["kind"] == kind) for _, m in self.heard)

    async def make_guest(self, request: web.Request) -> web.Response:
        if self.guests_barred:
            self.guests_barred -= 1
            return web.json_response({"error": {"code": "limit"}}, status=429, headers={"Retry-After": "0"})
        self.guests += 1
        name = (await request.json())["name"]
        return web.json_response({"token": name, "player": {"id": name, "name": name}}, status=201)

    async def rooms(self, _request: web.Request) -> web.Response:
        return web.json_response({"rooms": [{"id": room} for room in ROOMS]})

    async def enter(self, request: web.Request) -> web.WebSocketResponse:
        self.connections += 1
        socket = web.WebSocketResponse(protocols=("numbridge.v1",))
        await socket.prepare(request)
        player = ""
        async for frame in socket:
            if frame.type is not WSMsgType.TEXT:
                break
            message = json.loads(frame.data)
            if message["op"] == "hello":
                player = message["token"]
            self.heard.append((player, message))
            fault = self.fault(player, message)
            if fault == "drop":
                break
            if fault is None or fault == "drop after":
                answer = await self._do(player, message, socket)
            else:
                answer = {"ev": "error", "code": fault, "message": fault, "retry_ms": 5}
            if fault == "drop after":
                break
            if answer is not None:
                await self._send(socket, answer | {"ref": message.get("ref")})
                await self._after(player, message, answer, socket)
        if self.sockets.get(player) is socket:
            del self.sockets[player]
            self.watching.discard(player)
        if request.transport is not None:
            request.transport.abort()
        return socket

    async def _do(self, player: str, message: Json, socket: web.WebSocketResponse) -> Json | None:
        match message["op"]:
            case "hello":
                self.sockets[player] = socket
                games = [
                    game for game, hall in self.halls.items()
                    if player in hall.names.values() and not hall.state.over
                ]  # fmt: skip
                hello = {"ev": "hello", "player": {"id": player, "name": player}, "games": games, "seeks": []}
                await self._send(socket, hello)
                return None
            case "seek":
                return await self._seek(player, message)
            case "accept_seek" | "cancel_seek":
                seek = self.seeks.pop(message["seek"], None)
                if seek is None:
                    return {"ev": "error", "code": "gone", "message": "gone"}
                await self._tell({"ev": "seek_removed", "seek": seek["seek"]})
                if message["op"] == "accept_seek":
                    await self.seat(seek["room"], seek["player"]["id"], player)
                return {"ev": "ok"}
            case "play":
                return await self._play(player, message)
            case "watch_lobby":
                self.watching.add(player)
        return {"ev": "ok"}

    async def _after(self, player: str, message: Json, answer: Json, socket: web.WebSocketResponse) -> None:
        if answer["ev"] != "ok":
            return
        if message["op"] == "watch_lobby":
            await self._send(socket, {"ev": "seeks", "seeks": list(self.seeks.values())})
        elif message["op"] == "join":
            hall = self.halls[message["game"]]
            if "since" in message:
                for seen in hall.sent[message["since"] :]:
                    await self._send(socket, seen[hall.color(player)])
            else:
                state = {"ev": "state", "game": hall.game, "version": hall.state.version, "view": hall.view(player)}
                await self._send(socket, state)

    async def _seek(self, player: str, message: Json) -> Json:
        if message["room"] not in ROOMS:
            return {"ev": "error", "code": "not_found", "message": "no such room"}
        seek = {"seek": f"s{next(self._numbers)}", "room": message["room"], "player": {"id": player, "name": player}}
        for other in self.seeks.values():
            if other["room"] == seek["room"] and other["player"]["id"] != player and "rated" not in message:
                await self.seat(message["room"], other["player"]["id"], player)
                return {"ev": "ok", "seek": seek["seek"]}
        self.seeks[seek["seek"]] = seek
        await self._tell({"ev": "seek_added", "seek": seek})
        return {"ev": "ok", "seek": seek["seek"]}

    async def seat(self, room: str, blue: str, red: str) -> Hall:
        """Two players get a table; their seeks end."""
        game = f"g{len(self.halls)}"
        hall = self.halls[game] = Hall(game, room, blue, red, len(self.halls))
        for seek, body in list(self.seeks.items()):
            if body["player"]["id"] in (blue, red):
                del self.seeks[seek]
                await self._tell({"ev": "seek_removed", "seek": seek})
        for name in (blue, red):
            await self.tell(name, {"ev": "seated", "game": game, "room": room, "color": hall.color(name)})
        return hall

    async def _play(self, player: str, message: Json) -> Json:
        hall = self.halls[message["game"]]
        before = hall.state.version
        try:
            version = hall.act(player, message)
        except Stale:
            return {"ev": "error", "code": "stale", "message": "moved on", "version": hall.state.version}
        except NotYourTurn:
            return {"ev": "error", "code": "not_your_turn", "message": "not yours"}
        except GameOver:
            return {"ev": "error", "code": "over", "message": "over"}
        except Illegal as error:
            return {"ev": "error", "code": "illegal", "message": str(error)}
        await self.show(hall, before)
        return {"ev": "ok", "version": version}

    async def show(self, hall: Hall, since: int) -> None:
        """Sends what happened at a table to its players."""
        for seen in hall.sent[since:]:
            for color, name in hall.names.items():
                if not self.lose_frames(seen[color]):
                    await self.tell(name, seen[color])

    async def act(self, hall: Hall, player: str, **action: Any) -> None:
        """A player who is no bot acts."""
        before = hall.state.version
        hall.act(player, {"ref": f"x{before}", "version": before, "action": action})
        await self.show(hall, before)

    async def tell(self, player: str, event: Json) -> None:
        if player in self.sockets:
            await self._send(self.sockets[player], event)

    async def _tell(self, event: Json) -> None:
        for player in tuple(self.watching):
            await self.tell(player, event)

    async def _send(self, socket: web.WebSocketResponse, event: Json) -> None:
        try:
            await socket.send_str(json.dumps({key: value for key, value in event.items() if value is not None}))
        except ConnectionError:
            pass  # it has just gone


@asynccontextmanager
async def toy_club() -> AsyncIterator[ToyClub]:
    """A running one."""
    club = ToyClub()
    app = web.Application()
    app.add_routes(
        [web.post("/api/guests", club.make_guest), web.get("/api/rooms", club.rooms), web.get("/ws", club.enter)]
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    club.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield club
    finally:
        await runner.cleanup()
