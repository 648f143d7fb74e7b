"""One bot: a connection that comes back, and a table for every game it has.

run ─► token ─► line ─► hello: its unfinished games ─► a task for each table
 ▲                │
 └── pause ◄── lost: tables keep their pictures, and are joined again with `since`
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from numbridge.bots.club import Club, Identity, NoClub, Unreachable
from numbridge.bots.line import Event, Line, LineLost, Refused
from numbridge.bots.table import Pace, Table, TableGone
from numbridge.tasks import Tasks, delays
from numbridge.wire import CLOSE_RESTART

MOST_ADJOURNED = 20  # games put away that a bot agrees to keep
SEATED_S = 20.0  # a seat that was promised is announced within this
_STEADY_S = 10.0  # a connection that held for so long was a good one
_GONE = frozenset({"gone", "not_found", "forbidden"})


@dataclass(slots=True)
class Finished:
    """A game that has ended, for whoever wants to tell of it."""

    game: str
    view: dict[str, Any]


@dataclass(slots=True)
class Ears:
    """Who else wants to hear: of lobby events, and of games that have ended."""

    lobby: Callable[["Player", Event], None] = lambda _player, _event: None
    finished: Callable[["Player", Finished], None] = lambda _player, _finished: None
    lost: Callable[["Player"], None] = field(default=lambda _player: None)


class Player:
    """One bot at one club. Its methods raise LineLost while it is not connected."""

    def __init__(self, club: Club, identity: Identity, rng: Random, pace: Pace, ears: Ears | None = None) -> None:
        self.name = identity.name
        self.id = ""  # known from the first hello on
        self.seeks: set[str] = set()
        self.changed = asyncio.Event()  # set by whatever may have made the player free or busy
        self._club = club
        self._identity = identity
        self._rng = rng
        self._pace = pace
        self._ears = ears or Ears()
        self._line: Line | None = None
        self._tables: dict[str, Table] = {}
        self._tasks = Tasks()
        self._promised_until = 0.0

    @property
    def connected(self) -> bool:
        """Whether it can be asked to do anything."""
        return self._line is not None

    @property
    def idle(self) -> bool:
        """Whether it is connected, at no running game, and none has been promised to it."""
        promised = asyncio.get_running_loop().time() < self._promised_until
        return self.connected and not promised and not any(table.active for table in self._tables.values())

    # --- what it may be asked to do --------------------------------------------------------------------------

    async def seek(self, room: str, **wish: Any) -> str:
        """Posts a seek; its id. Raises Refused, LineLost."""
        seek = str((await self._on_line().ask("seek", room=room, **wish))["seek"])
        if not any(table.active for table in self._tables.values()):  # else it has been matched already
            self.seeks.add(seek)
        return seek

    async def accept(self, seek: str) -> None:
        """Accepts somebody's seek; a game is promised then. Raises Refused, LineLost."""
        await self._promising("accept_seek", seek=seek)

    async def rematch(self, game: str) -> None:
        """Agrees to another game after a finished one. Raises Refused, LineLost."""
        await self._promising("rematch", game=game)

    async def cancel_seeks(self) -> None:
        """Takes its open seeks back. Raises Refused, LineLost."""
        while self.seeks:
            try:
                await self._on_line().ask("cancel_seek", seek=self.seeks.pop())
            except Refused as refused:
                if refused.code not in _GONE:
                    raise

    async def watch_lobby(self) -> None:
        """Hears of all open seeks from now on. Raises Refused, LineLost."""
        await self._on_line().ask("watch_lobby")

    async def reconnect(self) -> None:
        """Drops the line; the next hello tells which games there are."""
        if self._line is not None:
            await self._line.close()

    def _on_line(self) -> Line:
        if self._line is None:
            raise LineLost("not connected")
        return self._line

    async def _promising(self, op: str, **fields: Any) -> None:
        loop = asyncio.get_running_loop()
        self._promised_until = loop.time() + SEATED_S
        try:
            await self._on_line().ask(op, **fields)
        except BaseException:
            self._promised_until = 0.0
            self.changed.set()
            raise
        loop.call_later(SEATED_S + 0.1, self.changed.set)  # a promise that was not kept ends

    # --- the connection --------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Connects again and again, until cancelled. Raises NoClub if that is of no use."""
        loop = asyncio.get_running_loop()
        pauses = delays(0.3, 8.0)
        unauthorized = 0
        try:
            while True:
                began = loop.time()
                least_s = 0.0
                try:
                    await self._connection()
                except LineLost as lost:
                    if lost.close_code == CLOSE_RESTART or loop.time() - began > _STEADY_S:
                        pauses = delays(0.3, 8.0)
                        unauthorized = 0
                except Unreachable:
                    pass
                except Refused as refused:
                    least_s = min((refused.retry_ms or 0) / 1000, 60.0)
                    if refused.code in ("unauthorized", "forbidden"):
                        unauthorized += 1
                        if unauthorized > 3 or not self._identity.refused():
                            raise NoClub(f"{self.name} is not let in: {refused.message}") from None
                await asyncio.sleep(least_s + next(pauses))
        finally:
            await self._tasks.close()

    async def _connection(self) -> None:
        """One connection, from hello to its end. Always raises LineLost, or Refused if it does not come about."""
        token = await self._identity.token()
        line, hello = await Line.open(self._club.session, self._club.url, token, self._hear)
        try:
            self.id = str(hello["player"]["id"])
            self.seeks = set(hello.get("seeks", ()))
            self._promised_until = 0.0
            unfinished = hello.get("games", ())
            self._line = line
            for game in {*unfinished, *self._tables}:
                self._sit_down(game)
            self.changed.set()
            await line.listen()
        finally:
            self._line = None
            self._ears.lost(self)
            self.changed.set()
            await line.close()

    # --- what it hears ---------------------------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
        match event["ev"]:
            case "seated":
                self.seeks.clear()
                self._promised_until = 0.0
                self._sit_down(event["game"])
            case "seating_failed":
                self._promised_until = 0.0
            case "seek_ended":
                self.seeks.discard(event["seek"])
            case "rematch_asked":
                if self.idle:
                    self._tasks.spawn(self._agree(event["game"]), "bot_rematch")
            case "seeks" | "seek_added" | "seek_removed":
                self._ears.lobby(self, event)
                return
            case _:
                table = self._tables.get(event.get("game", ""))
                if table is None:
                    return
                active = table.active
                table.take(event)
                if table.active == active:
                    return
        self.changed.set()

    async def _agree(self, game: str) -> None:
        try:
            await self.cancel_seeks()
            await self.rematch(game)
        except (Refused, LineLost):
            pass  # the opponent has gone on, or asks again

    def _sit_down(self, game: str) -> None:
        if self._line is None:
            return
        table = self._tables.get(game)
        if table is None:
            rng = Random(self._rng.getrandbits(64))
            table = self._tables[game] = Table(game, rng, self._pace, self._may_adjourn)
        elif table.line is self._line:
            return
        table.line = self._line
        self._tasks.spawn(self._play(table, self._line), "bot_table")

    def _may_adjourn(self) -> bool:
        return sum(table.adjourned for table in self._tables.values()) < MOST_ADJOURNED

    async def _play(self, table: Table, line: Line) -> None:
        """A table until its game is over, or the line is lost."""
        try:
            await table.play(line)
            if table.picture is not None:
                self._ears.finished(self, Finished(table.game, table.picture.view))
            self._leave(table)
            await line.ask("leave", game=table.game)
        except TableGone:
            self._leave(table)
        except (LineLost, Refused):
            pass  # joined again on the next line; or left already

    def _leave(self, table: Table) -> None:
        if self._tables.get(table.game) is table:
            del self._tables[table.game]
        self.changed.set()
