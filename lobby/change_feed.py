"""Reads what happens to seeks, once a replica, and hands it to those whom it concerns."""

import asyncio
from collections.abc import Callable

import structlog

from lobby.adapters.redis_seeks import Change, RedisSeeks
from numbridge.redis_io import AWAY
from numbridge.tasks import delays

log = structlog.get_logger("lobby.changes")

_BLOCK_MS = 1_000  # under the connection's own time-out


class ChangeFeed:
    """`run` for as long as the service lives. Listeners are called in the loop and must not block."""

    def __init__(self, seeks: RedisSeeks) -> None:
        self._seeks = seeks
        self._at: str | None = None
        self._rooms: dict[str, Callable[[Change], None]] = {}
        self._lost: dict[str, Callable[[], None]] = {}
        self._on_people: list[Callable[[Change], None]] = []
        self._people_lost: list[Callable[[], None]] = []

    def listen(self, room: str, feed: Callable[[Change], None], lost: Callable[[], None]) -> None:
        """`feed` gets the room's changes from now on; `lost` is called when some may be missing."""
        self._rooms[room] = feed
        self._lost[room] = lost

    def ignore(self, room: str) -> None:
        """Ends `listen`."""
        self._rooms.pop(room, None)
        self._lost.pop(room, None)

    def on_people(self, call: Callable[[Change], None], lost: Callable[[], None]) -> None:
        """`call` gets every block that is made or lifted, and who has ended a game."""
        self._on_people.append(call)
        self._people_lost.append(lost)

    async def start(self) -> None:
        """Finds the place to read from. Raises one of redis_io.AWAY."""
        self._at = await self._seeks.newest_change()

    async def run(self) -> None:
        """Reads and hands out until cancelled."""
        pauses = delays(0.05, 1.0)
        while True:
            try:
                await self._read()
            except AWAY as error:
                log.warning("redis_away", error=type(error).__name__)
                self._tell_lost()
                await asyncio.sleep(next(pauses))
            else:
                pauses = delays(0.05, 1.0)

    async def _read(self) -> None:
        if self._at is None:
            self._at = await self._seeks.newest_change()
            self._tell_lost()
        at, changes, lost = await self._seeks.changes(self._at, _BLOCK_MS)
        if lost:
            self._at = None
            return
        self._at = at
        for change in changes:
            if change.what in ("block", "over"):
                for call in self._on_people:
                    call(change)
                if change.what == "block":
                    for feed in self._rooms.values():
                        feed(change)
            elif (of_room := self._rooms.get(change.room)) is not None:
                of_room(change)

    def _tell_lost(self) -> None:
        for lost in (*self._lost.values(), *self._people_lost):
            lost()
