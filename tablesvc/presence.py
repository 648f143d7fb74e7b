"""Who is at the tables: said at most every so many milliseconds, the whole truth each time."""

import asyncio

from numbridge.frames import pack
from numbridge.names import SEATS
from tablesvc.reads import presence_text
from tablesvc.registry import Registry
from tablesvc.table import Table
from tablesvc.works import Present, Work
from tablesvc.world import World


class Presence:
    """Coalesces: however often a table's presence changes, it is said once in a while."""

    def __init__(self, world: World, registry: Registry) -> None:
        self._world = world
        self._registry = registry
        self._stale: dict[str, Table] = {}
        self._timer: asyncio.TimerHandle | None = None

    def changed(self, table: Table) -> None:
        """The table's presence, or its clock outside of a move, has changed. Bounded by the number of tables."""
        self._stale[table.game] = table
        if self._timer is None:
            delay = self._world.settings.presence_ms / 1000
            self._timer = asyncio.get_running_loop().call_later(delay, self._due)

    def drop_link(self, link: int, games: set[str]) -> None:
        """A gateway's link has ended: nobody is connected through it any more."""
        for game in games:
            self._registry.submit(game, Work(Present(link, 0, 0, 0)))

    def stop(self) -> None:
        """Says nothing any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _due(self) -> None:
        self._timer = None
        stale, self._stale = self._stale, {}
        self._world.tasks.spawn(self._say(list(stale.values())), "presence")

    async def _say(self, tables: list[Table]) -> None:
        for table in tables:
            if table.shard.writable:
                payload = pack([(0, presence_text(table))])
                for seat in SEATS:
                    await self._world.views.frames(table.game, seat, payload)
