"""As many players as a level asks for: guests of the deployment, connected, seeking and playing in one room."""

import asyncio
from random import Random
from urllib.parse import urlsplit

import aiohttp
import picows

from numbridge.load.player import RETRY_S, Meeting, Player
from numbridge.load.tally import Tally
from numbridge.tasks import Tasks

AT_ONCE = 32  # connections being opened at the same time
OPEN_S = 30.0  # for one player to be connected
TRIES = 5


class NoDeployment(Exception):
    """There is nothing to play at, or it does not let the crowd in; the text says which."""


class Crowd:
    """See the module. `tally` is the caller's to replace between levels."""

    def __init__(self, urls: list[str], room: str, think_s: float, seed: int) -> None:
        self.room = room
        self.think_s = think_s
        self.tally = Tally()
        self.meetings: dict[str, Meeting] = {}
        self.rng = Random(seed)
        self._urls = urls
        self._players: list[Player] = []
        self._url_of: dict[Player, str] = {}
        self._tasks = Tasks()
        self._session: aiohttp.ClientSession | None = None
        self._closing = False
        self._wanted = 0.0
        self._full = asyncio.Event()

    async def __aenter__(self) -> "Crowd":
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=OPEN_S))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        for player in self._players:
            player.close()
        await self._tasks.close()
        if self._session is not None:
            await self._session.close()

    # --- size

    async def resize(self, games: int) -> None:
        """Has players for so many games at once, everyone connected. Raises NoDeployment."""
        wanted = 2 * games
        for player in self._players[:wanted]:
            player.active = True
            player.wake()
        for player in self._players[wanted:]:
            if player.active:
                player.park()
        missing = wanted - len(self._players)
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with gate:
                await self._enter(self._urls[number % len(self._urls)])

        arrivals = [asyncio.ensure_future(one(number)) for number in range(max(0, missing))]
        try:
            await asyncio.gather(*arrivals)
        except (aiohttp.ClientError, OSError, TimeoutError, picows.WSError) as error:
            raise NoDeployment(f"a player can't connect: {type(error).__name__}: {error}") from None
        finally:
            for arrival in arrivals:
                arrival.cancel()
            await asyncio.gather(*arrivals, return_exceptions=True)

    @property
    def playing(self) -> int:
        """Games under way."""
        return len(self.meetings)

    def overdue(self, since: float) -> int:
        """Plays sent before `since` (the loop's time) that have no answer."""
        return sum(player.overdue(since) for player in self._players)

    async def _enter(self, url: str) -> None:
        if self._session is None:
            raise NoDeployment("the crowd is closed")
        async with self._session.post(f"{url}/api/guests", json={}) as response:
            if response.status == 429:
                raise NoDeployment("the deployment limits guests from one address: lift its limits for the test")
            if response.status != 201:
                raise NoDeployment(f"POST {url}/api/guests was answered with status {response.status}")
            token = str((await response.json())["token"])
        player = Player(self, token)
        self._players.append(player)
        self._url_of[player] = url
        await self._connect(player)

    async def _connect(self, player: Player) -> None:
        parts = urlsplit(self._url_of[player])
        scheme = "wss" if parts.scheme == "https" else "ws"
        await picows.ws_connect(
            lambda: player, f"{scheme}://{parts.netloc}/ws", extra_headers={"Sec-WebSocket-Protocol": "numbridge.v1"}
        )

    async def filled(self, games: float, timeout_s: float) -> None:
        """Returns once so many games are under way, or when the time is up: what is measured then tells."""
        self._wanted = games
        self._full.clear()
        self.entered()
        try:
            async with asyncio.timeout(timeout_s):
                await self._full.wait()
        except TimeoutError:
            pass

    # --- what players say

    def entered(self) -> None:
        """Somebody has come to a table."""
        if self.playing >= self._wanted:
            self._full.set()

    def lost(self, player: Player) -> None:
        """A connection has ended: whoever is still to play comes back."""
        if self._closing:
            return
        if player.active:
            self.tally.errors["dropped"] += 1
        player.busy = False
        self._tasks.spawn(self._again(player), "reconnect")

    async def _again(self, player: Player) -> None:
        for _ in range(TRIES):
            await asyncio.sleep(RETRY_S * (0.5 + self.rng.random()))
            try:
                await self._connect(player)
            except (OSError, TimeoutError, picows.WSError):
                self.tally.errors["no connection"] += 1
            else:
                return

    def asleep(self, player: Player) -> None:
        """Nothing to do: it stays connected and idle, as many people in a club are."""
