"""Several bots in one process, on one event loop, until a signal."""

import asyncio
import signal
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from random import Random, SystemRandom
from typing import Any

import aiohttp

from numbridge.bots.club import Club, Given, Guest, Identity, NoClub, Signed
from numbridge.bots.house import NAME as HOUSE_NAME
from numbridge.bots.house import House
from numbridge.bots.line import LineLost, Refused
from numbridge.bots.player import Ears, Finished, Player
from numbridge.bots.seeking import keep_playing
from numbridge.bots.table import Pace
from numbridge.ids import HOUSE_PREFIX
from numbridge.tokens import KeyRing

HOUSE_PACE = Pace(400, 2_500)
PLAIN_PACE = Pace(100, 500)
_GOODBYE_S = 2.0
_STAGGER_S = 0.02  # between two bots' first connections
_TOLD = 256  # games remembered, so that one between two bots of ours is told of once


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `numbridge bot` was asked for."""

    url: str
    count: int = 1
    room: str | None = None
    house: bool = False
    pace: Pace | None = None
    tokens: tuple[str, ...] = ()
    ring: KeyRing | None = None  # signs the house bots' tokens; without it they are guests
    audience: str = ""
    seed: int | None = None


class Crew:
    """The bots of one process."""

    def __init__(self, options: Options, say: Callable[[str], None]) -> None:
        """`say`: takes a line for each finished game."""
        self._options = options
        self._say = say
        self._told: deque[str] = deque(maxlen=_TOLD)
        self._players: list[Player] = []

    async def run(self, stop: asyncio.Event) -> None:
        """Plays until `stop` is set. Raises NoClub if that is not possible (any more)."""
        connector = aiohttp.TCPConnector(limit=0)  # a socket for each bot
        async with aiohttp.ClientSession(connector=connector) as session:
            club = Club(session, self._options.url)
            asked = asyncio.create_task(stop.wait())
            work = asyncio.create_task(self._work(club))
            try:
                await asyncio.wait([asked, work], return_when=asyncio.FIRST_COMPLETED)
                if work.done():
                    work.result()
                await self._say_goodbye()
            finally:
                asked.cancel()
                work.cancel()
                await asyncio.gather(asked, work, return_exceptions=True)

    async def _work(self, club: Club) -> None:
        every = [str(room["id"]) for room in await club.rooms()]
        rooms = every if self._options.room is None else [self._options.room]
        if not set(rooms) <= set(every):
            raise NoClub(f"there is no room {self._options.room!r}; there are {', '.join(every)}")
        rng = SystemRandom() if self._options.seed is None else Random(self._options.seed)
        pace = self._options.pace or (HOUSE_PACE if self._options.house else PLAIN_PACE)
        ears = Ears(finished=self._finished)
        for identity in self._identities(club):
            self._players.append(Player(club, identity, Random(rng.getrandbits(64)), pace, ears))
        tasks: list[Coroutine[Any, Any, None]] = [
            _later(number * _STAGGER_S, player.run) for number, player in enumerate(self._players)
        ]
        if self._options.house:
            house = House(self._players, rooms, rooms == every, Random(rng.getrandbits(64)))
            ears.lobby, ears.lost = house.heard, house.lost
            tasks.append(house.run())
        else:
            tasks += [keep_playing(player, rooms, Random(rng.getrandbits(64))) for player in self._players]
        await _together(tasks)

    def _identities(self, club: Club) -> list[Identity]:
        options = self._options
        found: list[Identity] = []
        for number in range(1, options.count + 1):
            name = f"{HOUSE_NAME if options.house else 'Bot'} {number}"
            if number <= len(options.tokens):
                found.append(Given(options.tokens[number - 1], name))
            elif options.house and options.ring is not None:
                found.append(Signed(options.ring, f"{HOUSE_PREFIX}bot-{number}", name, options.audience))
            else:
                found.append(Guest(club, name))
        return found

    def _finished(self, _player: Player, finished: Finished) -> None:
        if finished.game in self._told:
            return
        self._told.append(finished.game)
        view = finished.view
        blue, red = (view["players"][color]["name"] for color in ("blue", "red"))
        result = view.get("result")
        winner = {"blue": f"{blue} won", "red": f"{red} won", "draw": "a draw"}.get(result or "", "no result")
        misses = sum(view["mistakes"].values())
        self._say(
            f"{finished.game} {view['room']}: {blue} and {red}, {winner} ({view.get('reason')}), misses: {misses}"
        )

    async def _say_goodbye(self) -> None:
        """Open seeks are taken back, so that nobody is matched with a bot that has gone."""

        async def one(player: Player) -> None:
            try:
                await player.cancel_seeks()
            except (Refused, LineLost):
                pass  # they end with the connection

        try:
            async with asyncio.timeout(_GOODBYE_S):
                await asyncio.gather(*(one(player) for player in self._players))
        except TimeoutError:
            pass  # as above


async def _later(pause_s: float, call: Callable[[], Awaitable[None]]) -> None:
    await asyncio.sleep(pause_s)
    await call()


async def _together(coros: list[Coroutine[Any, Any, None]]) -> None:
    """Runs all; the first that fails ends the others, and its error is raised."""
    tasks = [asyncio.create_task(coro) for coro in coros]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def run_crew(options: Options, quiet: bool) -> None:
    """Plays until SIGINT or SIGTERM. Raises NoClub."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)

    def say(line: str) -> None:
        if not quiet:
            print(line, file=sys.stderr, flush=True)

    await Crew(options, say).run(stop)
