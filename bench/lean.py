"""Players at the least cost: what a benchmark's own side takes from the cores must not hide what the cluster takes.

Each player is one picows socket that decodes the few fields it needs. Pairs meet in one room, join, and from then on
whoever is to move exchanges his hand as soon as he knows of it: a closed loop with one move a table under way.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import aiohttp
import msgspec
import picows

SEATING_S = 120.0
QUIET = {"NUMBRIDGE_STOCK_GAMES": "16"}  # else the dealers of a fresh cluster work through what is measured
SEATED_AT_ONCE = 100  # pairs
COMING = 16  # guests that connect at the same time


class Event(msgspec.Struct):
    ev: str
    game: str = ""
    color: str = ""
    version: int = 0
    to_move: str | None = None
    ref: str = ""
    code: str = ""
    message: str = ""
    seek: str | msgspec.Raw = ""


_decode = msgspec.json.Decoder(Event).decode


@dataclass(slots=True)
class Seen:
    """What the players have measured, in seconds."""

    answered: list[float] = field(default_factory=list)
    both: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


class Pair:
    """Two players at one table."""

    __slots__ = ("_asked_at", "_got", "_sent_at", "game", "mover", "players", "seen", "turns", "until", "version")

    def __init__(self, game: str) -> None:
        self.game = game
        self.turns: deque[Pair] | None = None
        """Tables that wait for their turn, this one at the end once it has moved; None: each moves on by itself."""
        self.players: dict[str, Player] = {}
        self.seen = Seen()
        self.until = 0.0
        self.mover: str | None = "blue"
        self.version = 0
        self._sent_at = 0.0
        self._asked_at: dict[str, float] = {}
        self._got = 0

    def move(self) -> None:
        """Sends the mover's exchange; does nothing once the game is over."""
        if self.mover is None:
            return
        self._sent_at = time.perf_counter()
        self._asked_at[str(self.version)] = self._sent_at
        self._got = 0
        self.players[self.mover].send(
            b'{"op":"play","ref":"%d","game":"%b","version":%d,"action":{"kind":"exchange"}}'
            % (self.version, self.game.encode(), self.version)
        )

    def moved(self, event: Event) -> None:
        """One of the two has got a move; the second of them makes the next."""
        self._got += 1
        if self._got == 2:
            now = time.perf_counter()
            self.seen.both.append(now - self._sent_at)
            self.mover, self.version = event.to_move, event.version
            if now >= self.until:
                return
            if self.turns is None:
                self.move()
            else:
                self.turns.append(self)
                self.turns.popleft().move()

    async def answers_again(self, started: float, most_s: float) -> float:
        """Seconds from `started` until the table answers a join; asks again when it is refused. Raises TimeoutError."""
        loop = asyncio.get_running_loop()
        blue = self.players["blue"]
        async with asyncio.timeout(most_s):
            while True:
                answer: asyncio.Future[str] = loop.create_future()

                def heard(_: Player, event: Event, answer: "asyncio.Future[str]" = answer) -> None:
                    if event.ev in ("state", "ok", "error") and not answer.done():
                        answer.set_result(event.ev)

                blue.pair, blue.on_event = None, heard
                blue.send(json.dumps({"op": "join", "ref": "again", "game": self.game}).encode())
                said = await answer
                if said != "error":
                    blue.pair = self
                    return time.perf_counter() - started
                await asyncio.sleep(0.05)

    def answered(self, ref: str) -> None:
        """The mover has his answer; the next move may be under way already."""
        sent_at = self._asked_at.pop(ref, None)
        if sent_at is not None:
            self.seen.answered.append(time.perf_counter() - sent_at)


class Player(picows.WSListener):
    """One socket."""

    def __init__(self, token: str, player: str) -> None:
        self.player = player
        self.pair: Pair | None = None
        self.on_event: Callable[[Player, Event], None] | None = None
        self._token = token
        self._transport: picows.WSTransport | None = None

    def send(self, text: bytes) -> None:
        """Sends one message."""
        if self._transport is None:
            raise ConnectionError("not connected")
        self._transport.send(picows.WSMsgType.TEXT, text)

    def close(self) -> None:
        """Ends the connection."""
        if self._transport is not None:
            self._transport.disconnect()

    def on_ws_connected(self, transport: picows.WSTransport) -> None:
        """Says hello."""
        self._transport = transport
        self.send(json.dumps({"op": "hello", "token": self._token}).encode())

    def on_ws_frame(self, transport: picows.WSTransport, frame: picows.WSFrame) -> None:
        """Takes one event in."""
        if frame.msg_type != picows.WSMsgType.TEXT:
            if frame.msg_type == picows.WSMsgType.PING:
                transport.send_pong(frame.get_payload_as_bytes())
            return
        event = _decode(frame.get_payload_as_memoryview())
        if self.pair is not None and event.game == self.pair.game and event.ev == "move":
            self.pair.moved(event)
        elif self.pair is not None and event.ev == "ok":
            self.pair.answered(event.ref)
        elif event.ev == "error" and self.pair is not None:
            self.pair.seen.refused.append(f"{event.code}: {event.message}")
        elif self.on_event is not None:
            self.on_event(self, event)


async def guests(urls: list[str], count: int) -> list[Player]:
    """`count` guests, spread over the gateways, connected and greeted, some at a time."""
    numbers = iter(range(count))
    players: list[Player] = []
    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:

        async def come() -> None:
            players.extend([await _guest(session, urls[number % len(urls)]) for number in numbers])

        for _ in range(min(count, COMING)):
            group.create_task(come())
    return players


async def _guest(session: aiohttp.ClientSession, url: str) -> Player:
    async with session.post(f"{url}/api/guests", json={}) as response:
        guest = await response.json()
    greeted = asyncio.get_running_loop().create_future()

    def heard(_: Player, event: Event) -> None:
        if event.ev == "hello" and not greeted.done():
            greeted.set_result(None)

    player = Player(guest["token"], guest["player"]["id"])
    player.on_event = heard
    await picows.ws_connect(lambda: player, f"ws://{urlsplit(url).netloc}/ws")
    async with asyncio.timeout(SEATING_S):
        await greeted
    return player


async def pairs(urls: list[str], tables: int, room: str) -> list[Pair]:
    """`tables` pairs, seated in `room`, at their tables, nobody having moved. Raises TimeoutError, RuntimeError."""
    found: list[Pair] = []
    while len(found) < tables:  # not all at once: seating is not what is measured here
        found += await _seat(urls, min(SEATED_AT_ONCE, tables - len(found)), room)
    return found


async def _seat(urls: list[str], tables: int, room: str) -> list[Pair]:
    players = await guests(urls, 2 * tables)
    found: dict[str, Pair] = {}
    at_table = 0
    all_there = asyncio.get_running_loop().create_future()

    def heard(player: Player, event: Event) -> None:
        nonlocal at_table
        if event.ev == "seated":
            pair = found.setdefault(event.game, Pair(event.game))
            pair.players[event.color] = player
            player.send(json.dumps({"op": "join", "game": event.game}).encode())
        elif event.ev == "state":
            player.pair = found[event.game]
            at_table += 1
            if at_table == len(players) and not all_there.done():
                all_there.set_result(None)
        elif event.ev == "error" and not all_there.done():
            all_there.set_exception(RuntimeError(f"{event.code}: {event.message}"))

    for player in players:
        player.on_event = heard
        player.send(json.dumps({"op": "seek", "room": room}).encode())
    async with asyncio.timeout(SEATING_S):
        await all_there
    return list(found.values())


async def floor_pairs(url: str, tables: int) -> list[Pair]:
    """`tables` pairs at the bare gateway of bench/floor.py. Raises TimeoutError."""
    found = []
    address = urlsplit(url).netloc
    for number in range(tables):
        pair = Pair(f"00-{number:016d}")
        for color in ("blue", "red"):
            player = Player("", color)
            there = asyncio.get_running_loop().create_future()

            def heard(_: Player, event: Event, there: "asyncio.Future[None]" = there) -> None:
                if event.ev == "state" and not there.done():
                    there.set_result(None)

            player.on_event = heard
            path = f"ws://{address}/ws?game={pair.game}&seat={color}"
            await picows.ws_connect(lambda player=player: player, path)
            async with asyncio.timeout(SEATING_S):
                await there
            player.pair, pair.players[color] = pair, player
        found.append(pair)
    return found


async def play(tables: list[Pair], seconds: float, at_once: int | None = None) -> Seen:
    """All tables play for so long; what they saw together.

    `at_once`: so many moves are under way, and the tables take turns; None: one at each table.
    """
    until = time.perf_counter() + seconds
    waiting = deque(tables[at_once:]) if at_once else None
    for pair in tables:
        pair.seen, pair.until, pair.turns = Seen(), until, waiting
    for pair in tables[:at_once]:
        pair.move()
    await asyncio.sleep(seconds + 0.3)  # the last moves end
    together = Seen()
    for pair in tables:
        together.answered += pair.seen.answered
        together.both += pair.seen.both
        together.refused += pair.seen.refused
    return together
