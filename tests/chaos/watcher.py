"""A spectator: picks a running game, watches it to its end, picks another."""

import asyncio
import itertools
from collections.abc import Callable
from random import Random
from typing import Any

import aiohttp

from tests.chaos.ledger import VERSIONED, Event, Ledger
from tests.chaos.line import Gone, Line
from tests.helpers.picture import Picture

_LOOK_S = 2.0  # between looks for a game, or at one that is quiet
_MOST = 40  # looks at one game; then another one


class Watcher:
    """See the module. Runs until it is cancelled."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        urls: list[str],
        token: str,
        name: str,
        ledger: Ledger,
        rng: Random,
        clock: Callable[[], float],
    ) -> None:
        self.line = Line(session, token, self._hear)
        self._session = session
        self._name = name
        self._ledger = ledger
        self._rng = rng
        self._clock = clock
        self._gates = itertools.cycle(rng.sample(urls, len(urls)))
        self._game = ""
        self._picture: Picture | None = None

    async def run(self) -> None:
        """Watches, whatever happens to the connection."""
        while True:
            try:
                await self.line.open(next(self._gates))
                while True:
                    if self._done():
                        await self._pick()
                    elif await self._join():
                        await self._watch()
            except Gone:
                await asyncio.sleep(self._rng.uniform(0.1, 0.5))

    def _done(self) -> bool:
        return not self._game or (self._picture is not None and self._picture.view["status"] == "over")

    async def _pick(self) -> None:
        self._game, self._picture = "", None
        try:
            async with asyncio.timeout(5), self._session.get(f"{self.line.url}/api/games?limit=50") as response:
                games = (await response.json())["games"] if response.status == 200 else []
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Gone(str(error)) from error
        if games:
            self._game = self._rng.choice(games)["game"]
        else:
            await asyncio.sleep(_LOOK_S)

    async def _join(self) -> bool:
        since: dict[str, Any] = {} if self._picture is None else {"since": self._picture.version}
        answer = await self.line.ask("join", game=self._game, **since)
        if answer["ev"] == "error":
            if answer["code"] not in ("unavailable", "limit"):
                self._ledger.odd("refusal", self._clock(), self._game, f"{self._name}: join: {answer}")
                self._game = ""
            await asyncio.sleep(0.5)
            return False
        return True

    async def _watch(self) -> None:
        quiet = 0
        while not self._done() and quiet < _MOST:
            quiet = 0 if await self.line.news(_LOOK_S) else quiet + 1
        if quiet:
            self._game, self._picture = "", None

    def _hear(self, event: Event, text: str) -> None:
        if event.get("game") != self._game or event["ev"] in ("ok", "error"):
            return
        self._ledger.heard(self._name, event, text, self._clock())
        if event["ev"] == "state":
            self._picture = Picture(event)
        elif event["ev"] in VERSIONED:
            if self._picture is None or event["version"] != self._picture.version + 1:
                known = self._picture.version if self._picture is not None else None
                text = f"{self._name}: version {event['version']} after {known}"
                self._ledger.odd("gap", self._clock(), self._game, text)
            else:
                self._picture.take(event)
