"""One shard that this worker owns: from winning its lease to giving it up.

    OPENING   the lease is won: mark the shard, read its log in one pass, then table by table append a takeover
              record; a table is served as soon as its record is in. Commands for the others are held.
    SERVING   every table is served
    CLOSING   nothing new is taken in; what is under way finishes
    GONE      given up or lost: nothing may be logged or said for it any more

How a shard opens is in opening.py.
"""

import asyncio
from collections.abc import Callable, Iterable
from enum import Enum, auto

import structlog

from numbridge.clock import monotonic
from numbridge.errors import Reason, Rejected, moved, unavailable
from tablesvc.table import Table
from tablesvc.works import KIND, Work
from tablesvc.world import World

log = structlog.get_logger("numbridge.tablesvc.shard")

OUT_OF_ORDER = Rejected(Reason.INTERNAL, "this table is out of order; the operator has been told")


def no_game() -> Rejected:
    """The refusal where there is no such game; a fresh one, for a raised one keeps every place that it went through."""
    return Rejected(Reason.NOT_FOUND, "there is no such game at this worker")


class Phase(Enum):
    """See the module."""

    OPENING = auto()
    SERVING = auto()
    CLOSING = auto()
    GONE = auto()


class Shard:
    """See the module. `alive()` tells whether the worker's lease runs; `on_gone(shard)` is called once."""

    def __init__(
        self, number: int, epoch: int, world: World, alive: Callable[[], bool], on_gone: "Callable[[Shard], None]"
    ) -> None:
        self.number = number
        self.epoch = epoch
        self.mark = 0
        """Sequence of this owner's mark."""
        self.outdone_by = 0
        """A later epoch that the log holds, if that is why the shard was lost."""
        self.phase = Phase.OPENING
        self.under_way = False
        """Whether somebody has begun to open it."""
        self.tables: dict[str, Table] = {}
        self.damaged: set[str] = set()
        self.making = asyncio.Semaphore(1)
        """Games are made one after another: all name the same mark, and a replicated stream lets only one append
        with the same expectation be in flight."""
        self._world = world
        self._alive = alive
        self._on_gone = on_gone
        self._held: dict[str, list[Work]] = {}
        self._held_count = 0

    # --- what tables ask

    @property
    def gone(self) -> bool:
        """See table.Holder."""
        return self.phase is Phase.GONE

    @property
    def writable(self) -> bool:
        """See table.Holder."""
        return self.phase is not Phase.GONE and self._alive()

    def lost(self) -> None:
        """Another worker owns the shard: everything of it is dropped, whoever waits is told `moved`."""
        if not self.gone:
            log.warning("shard_lost", shard=self.number, epoch=self.epoch)
            self._world.metrics.shard("lost")
            self.end()

    # --- commands

    @property
    def waiting(self) -> int:
        """Commands held while the shard opens."""
        return self._held_count

    def submit(self, game: str, work: Work) -> None:
        """Passes work on to its table, or holds it until the table is there."""
        table = self.tables.get(game)
        if table is not None:
            table.submit(work)
        elif game in self.damaged:
            self._refuse(work, OUT_OF_ORDER)
        elif self.phase is not Phase.OPENING:
            self._refuse(work, moved() if self.gone or self.phase is Phase.CLOSING else no_game())
        elif self._held_count >= self._world.settings.opening_limit:
            self._world.metrics.dropped("opening")
            self._refuse(work, unavailable("the table"))
        else:
            self._held_count += 1
            self._held.setdefault(game, []).append(work)

    def _refuse(self, work: Work, why: Rejected) -> None:
        if not work.answered:
            work.answered = True
            self._world.metrics.answered(KIND[type(work.ask)], str(why.reason), monotonic() - work.at)
            work.reply(why)

    def waits(self, game: str) -> bool:
        """Whether somebody waits for this game's table."""
        return game in self._held

    def expire(self) -> None:
        """Refuses what has been held for too long."""
        oldest = monotonic() - self._world.settings.answer_ms / 1000
        for game, works in list(self._held.items()):
            late = [work for work in works if work.at <= oldest]
            if late:
                self._held[game] = [work for work in works if work.at > oldest]
                self._held_count -= len(late)
                for work in late:
                    self._refuse(work, unavailable("the table"))

    def _release_held(self, game: str) -> None:
        works = self._held.pop(game, [])
        self._held_count -= len(works)
        for work in works:
            self.submit(game, work)

    # --- phases

    def add(self, table: Table) -> None:
        """Serves a table from now on, and first those who have waited for it."""
        self.tables[table.game] = table
        table.start()
        self._release_held(table.game)

    def set_aside(self, game: str) -> None:
        """Serves this game no more: its log is damaged, or a fault broke it."""
        self.tables.pop(game, None)
        self.damaged.add(game)
        self._world.metrics.damaged.inc()
        self._release_held(game)

    def forget(self, game: str) -> None:
        """Drops a game that is done with."""
        table = self.tables.pop(game, None)
        if table is not None:
            table.close(no_game())

    def opened(self) -> None:
        """Every table is there: who still waits asks for a game that does not exist."""
        self.phase = Phase.SERVING
        for game in list(self._held):
            self._release_held(game)

    async def close(self, within_s: float) -> None:
        """Takes nothing in any more and waits until what is under way has finished, at most `within_s`."""
        self.phase = Phase.CLOSING
        for table in self.tables.values():
            table.close(moved())
        end = monotonic() + within_s
        while monotonic() < end and any(table.busy for table in self.tables.values()):  # noqa: ASYNC110 - short, and rare
            await asyncio.sleep(0.005)

    def end(self) -> None:
        """Nothing may be logged or said any more; whoever waits is told `moved`."""
        if self.gone:
            return
        self.phase = Phase.GONE
        for table in self.tables.values():
            table.close(moved())
        self.tables.clear()
        for game in list(self._held):
            self._release_held(game)
        self._on_gone(self)
        self._world.changed.fire()


def count_phases(shards: Iterable[Shard]) -> dict[str, int]:
    """Shards by phase."""
    counts = {phase.name.lower(): 0 for phase in Phase}
    for shard in shards:
        counts[shard.phase.name.lower()] += 1
    return counts
