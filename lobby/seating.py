"""From match to table: reads the seating stream, has the table made, tells the two.

    match ─► create ─┬─► made ─────────────► seated, both told
      ▲              ├─► certainly not made ─► again, until the deadline ─► undone, seeks open again
      │              ├─► unknown ───────────► again with the same id; undone only when the owner knows of no table
      └── another replica, if this one falls silent

CreateTable is idempotent by game id and never repeated under another id.
"""

import asyncio
from collections.abc import Callable

import structlog
from redis.exceptions import ResponseError

from lobby import notices
from lobby.adapters.redis_seating import Entry, RedisSeating, Sat
from lobby.metrics import Metrics
from lobby.ports import Announcer, Made, Making, Tables
from lobby.stored import Match
from numbridge.clock import monotonic, now_ms
from numbridge.redis_io import AWAY
from numbridge.tasks import Tasks, delays

log = structlog.get_logger("lobby.seating")

TOLD_MS = 60_000  # how long a `seated` can be told again by a gateway's heartbeat
_MOST_AT_ONCE = 128  # matches in hand; more stay in the stream
_BLOCK_MS = 1_000
_ABANDONED_MS = 8_000  # an entry that nobody has touched for so long is taken over; longer than one attempt
_LOOK_EVERY_S = 2.0
_FINISH_S = 4.0  # in a drain, for what is in hand
_CERTAIN_S = 2.0  # a request whose answer is lost has taken effect by then, or never will
_UNKNOWN_S = 45.0  # beyond the deadline: longest wait for certainty


class Seating:
    """Works on the stream until cancelled. Deadlines are counted from the match."""

    def __init__(
        self,
        store: RedisSeating,
        tables: Tables,
        announcer: Announcer,
        metrics: Metrics,
        deadline_ms: int,
        claim_ms: int,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self._store = store
        self._tables = tables
        self._announcer = announcer
        self._metrics = metrics
        self._deadline = deadline_ms / 1000
        self._claim_ms = claim_ms
        self._clock = clock
        self._tasks = Tasks()
        self._busy: set[str] = set()
        self._leaving = False
        self._reading = False
        self._free = asyncio.Semaphore(_MOST_AT_ONCE)

    @property
    def in_hand(self) -> int:
        """Matches being worked on."""
        return len(self._busy)

    async def start(self) -> None:
        """Makes the stream's group. Raises one of redis_io.AWAY."""
        await self._store.ensure_group()

    async def run(self) -> None:
        """Reads entries until cancelled, or told to finish."""
        pauses = delays(0.05, 1.0)
        looked = float("-inf")
        self._reading = True
        while not self._leaving:
            try:
                if monotonic() - looked >= _LOOK_EVERY_S:
                    looked = monotonic()
                    await self._begin(await self._store.abandoned(_ABANDONED_MS, _MOST_AT_ONCE))
                if self._free.locked():
                    self._metrics.overflowed("seating")
                async with self._free:
                    pass
                room = max(1, _MOST_AT_ONCE - len(self._busy))
                await self._begin(await self._store.next_entries(room, _BLOCK_MS))
            except AWAY as error:
                log.warning("redis_away", error=type(error).__name__)
                await asyncio.sleep(next(pauses))
            except ResponseError:  # Redis has come back empty: no group
                await asyncio.sleep(next(pauses))
                await self._again()
            else:
                pauses = delays(0.05, 1.0)
        self._reading = False

    async def _again(self) -> None:
        try:
            await self._store.ensure_group()
        except AWAY:
            pass  # the next round finds out

    async def _begin(self, entries: list[Entry]) -> None:
        fresh = [entry for entry in entries if entry.game not in self._busy]
        if not fresh:
            return
        for entry, match in zip(fresh, await self._store.hold([entry.game for entry in fresh]), strict=True):
            if match is None:
                await self._store.drop_entry(entry)
                continue
            await self._free.acquire()
            self._busy.add(entry.game)
            self._tasks.spawn(self._work(entry, match), "seat")

    async def _work(self, entry: Entry, match: Match) -> None:
        try:
            await self._seat(entry, match)
        except AWAY as error:
            # The entry stays in the stream; whoever finds it abandoned goes on with the same game id.
            log.warning("redis_away", game=entry.game, error=type(error).__name__)
        finally:
            self._busy.discard(entry.game)
            self._free.release()

    async def _seat(self, entry: Entry, match: Match) -> None:
        made = await self._make(entry, match)
        if made.outcome is Making.MADE:
            told = notices.seated(match)
            sat = await self._store.seat(match, entry, self._clock(), notices.keep(self._clock(), told), TOLD_MS)
            if sat is Sat.UNDONE:  # this process stood still for so long that another has undone the match meanwhile
                log.warning("table_without_match", game=match.game)
                self._metrics.swept("table_without_match")
                await self._tables.withdraw(match.game)
                return
            await self._announcer.tell(told)
            self._metrics.seated("seated", (self._clock() - match.at) / 1000)
            return
        await self._undo(entry, match, reopen=made.outcome is Making.NOT_MADE)
        log.warning("match_undone", game=match.game, room=match.room, why=made.why)

    async def _make(self, entry: Entry, match: Match) -> Made:
        """Tries until the table is there or the deadline is over. NOT_MADE: certainly no table."""
        age = max(0.0, (self._clock() - match.at) / 1000)
        started = monotonic()
        deadline = started + max(0.0, self._deadline - age)
        unsure_at: float | None = None
        pauses = delays(0.02, 1.0)
        while True:
            made = await self._tables.create(match)
            self._metrics.making(made.outcome.value)
            if made.outcome in (Making.MADE, Making.REFUSED):
                return made
            if made.outcome is Making.UNKNOWN:
                unsure_at = monotonic()
            pause = next(pauses)
            if monotonic() + pause >= deadline:
                break
            await self._store.still_at_it(entry)
            await asyncio.sleep(pause)
            if not await self._store.known(match.game):
                # Seated or undone by another, or Redis came back empty and the players' seeks are posted again: a table
                # that is made now might be their second.
                return made if unsure_at is None else Made(Making.UNKNOWN, why="the match is gone")
        if unsure_at is None and age < self._deadline:
            return made
        return await self._find_out(entry, match, unsure_at or monotonic(), deadline + _UNKNOWN_S)

    async def _find_out(self, entry: Entry, match: Match, unsure_at: float, end: float) -> Made:
        """Some attempt (perhaps another replica's) may have made the table: asks until somebody knows."""
        pauses = delays(0.1, 1.0)
        while monotonic() < end:
            found = await self._tables.look(match.game)
            if found.outcome is Making.MADE:
                return found
            if found.outcome is Making.NOT_MADE and monotonic() - unsure_at >= _CERTAIN_S:
                return found
            await self._store.still_at_it(entry)
            await asyncio.sleep(next(pauses))
        return Made(Making.UNKNOWN, why="nobody could say whether the table was made")

    async def _undo(self, entry: Entry, match: Match, reopen: bool) -> None:
        """The seeks wait on with their ages kept. Where it is not known whether there is a table they do not: should
        it come to be, its players find it on their next hello, and nobody sits at two."""
        opened = await self._store.undo(match, entry, self._clock() + self._claim_ms, reopen)
        if opened is None:
            return  # another replica has it in hand
        said = []
        for seek in match.seeks:
            if seek.seek in opened:
                said.append(notices.seek_reopened(seek.player, seek.seek))
            else:
                said.append(notices.seek_ended(seek.player, seek.seek, notices.ENDED_UNAVAILABLE))
        with_seek = {seek.player for seek in match.seeks}
        said += [
            notices.seating_failed(player, match.game)
            for player in (match.blue.id, match.red.id)
            if player not in with_seek
        ]
        await self._announcer.tell(said)
        self._metrics.seated("undone" if reopen else "given_up", (self._clock() - match.at) / 1000)

    async def finish(self) -> None:
        """Takes no more matches in hand and waits a while for those that are: nobody waits until others find them."""
        self._leaving = True
        end = monotonic() + _FINISH_S
        while (self._reading or self._busy) and monotonic() < end:  # noqa: ASYNC110 - short, and rare
            await asyncio.sleep(0.02)

    async def stop(self) -> None:
        """Lets go of what is in hand; others take it over."""
        await self._tasks.close()
