"""How a shard is taken over once its lease is won.

    mark ─► read the shard up to the mark, in one pass ─► a takeover record for each game, pipelined ─► serve it

Why nothing is overlooked and nothing can fork:

* Marks are appended by compare-and-set, so their epochs only grow; an owner that finds a later one steps down.
* The pass ends at this owner's own mark: whatever a former owner has logged before it has been read.
* A game made by a former owner after the mark is refused by the log, for making a game names the mark.
* A move logged by a former owner after the pass makes this owner's takeover record fail: that game is read on.
* The takeover record makes every later append of a former owner fail.
"""

import asyncio
from collections.abc import Iterator

import structlog

from numbridge.clock import monotonic
from tablesvc import judge
from tablesvc.codec import Damaged, read_record, write_record
from tablesvc.ports import Away, LogError, Logged
from tablesvc.recovery import Found, NewerOwner, Replay
from tablesvc.shard import Shard
from tablesvc.story import Story
from tablesvc.table import Lost, Table
from tablesvc.world import World

log = structlog.get_logger("numbridge.tablesvc.opening")

MARK = "owner"
"""The game name that owners' marks bear in the log; no game id looks like it."""

_PIPELINE = 64  # takeover records in flight
_BREATH = 128  # records replayed before others get a turn
_PAUSE_S = 0.25


async def open_shard(shard: Shard, world: World) -> None:
    """Takes the shard over. Returns when it is served, or gone; keeps trying while the log is away."""
    began = monotonic()
    opening = _Opening(shard, world)
    try:
        await opening.put_mark()
        await opening.replay_all()
        await opening.take_all()
    except* NewerOwner as later:
        shard.outdone_by = max(error.epoch for error in _flat(later) if isinstance(error, NewerOwner))
        shard.lost()
    except* Lost:
        shard.lost()
    if shard.gone:
        return
    shard.opened()
    world.metrics.takeover.observe(monotonic() - began)
    log.info("shard_serving", shard=shard.number, epoch=shard.epoch, tables=len(shard.tables))
    world.tasks.spawn(_forget_marks(shard, world), "forget_marks")


def _flat(group: BaseExceptionGroup[NewerOwner]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _flat(error)
        else:
            yield error


async def _forget_marks(shard: Shard, world: World) -> None:
    try:
        await world.log.forget_marks(shard.number)
    except Away:
        pass  # the next owner tidies up


class _Opening:
    """One takeover."""

    def __init__(self, shard: Shard, world: World) -> None:
        self._shard = shard
        self._world = world
        self._replay = Replay(shard.epoch)

    async def _patiently(self, failure: LogError) -> None:
        """Before a next try. Raises Lost once there is no point."""
        log.info("takeover_waits", shard=self._shard.number, error=f"{type(failure).__name__}: {failure}")
        await self._world.changed.wait(_PAUSE_S)
        if self._shard.gone:
            raise Lost

    async def put_mark(self) -> None:
        """Marks the shard as this owner's. Raises Lost if a later owner has."""
        shard, world = self._shard, self._world
        append = world.append_id()
        data = write_record(MARK, 0, shard.epoch, append, world.clock(), [])
        while True:
            try:
                last = await world.log.last_mark(shard.number)
                if last is not None:
                    record = read_record(last.data)
                    if record.append == append:  # an earlier try whose ack was lost
                        shard.mark = last.seq
                        return
                    if record.epoch >= shard.epoch:
                        shard.outdone_by = record.epoch
                        raise Lost
                expected = last.seq if last is not None else 0
                shard.mark = await world.log.mark(shard.number, data, expected, append)
            except Damaged as damage:
                log.warning("mark_damaged", shard=shard.number, error=str(damage))
                raise Lost from damage
            except LogError as failure:
                await self._patiently(failure)
            else:
                return

    async def replay_all(self) -> None:
        """Reads the shard. Raises Lost, NewerOwner."""
        while True:
            try:
                messages = await self._world.log.read_shard(self._shard.number, self._shard.mark)
            except Away as failure:
                await self._patiently(failure)
            else:
                break
        for number, logged in enumerate(messages):
            if logged.game != MARK:
                self._replay.take(logged)
            if number % _BREATH == _BREATH - 1:
                await asyncio.sleep(0)
        for game in self._replay.damaged:
            self._shard.set_aside(game)

    async def take_all(self) -> None:
        """Takes every table: those somebody waits for first, those put away last. Raises groups of Lost, NewerOwner."""
        room = asyncio.Semaphore(_PIPELINE)
        games = list(self._replay.games.values())
        games.sort(key=lambda found: (not self._shard.waits(found.game), found.state.status != "playing"))
        async with asyncio.TaskGroup() as group:
            for found in games:
                await room.acquire()
                task = group.create_task(self._take(found))
                task.add_done_callback(lambda _: room.release())

    async def _take(self, found: Found) -> None:
        world, shard = self._world, self._shard
        while not found.state.over:  # to a finished game nobody appends any more
            verdict = judge.take_over(found.state, world.clock(), world.dice)
            append = world.append_id()
            events = [event for event, _ in verdict.steps]
            data = write_record(found.game, verdict.state.version, shard.epoch, append, world.clock(), events)
            try:
                seq = await (await world.log.append(shard.number, found.game, data, found.seq, append))
            except LogError as failure:
                if not await self._read_on(found):
                    await self._patiently(failure)
            else:
                self._replay.take(Logged(found.game, seq, data))
            if found.game in self._replay.damaged:
                shard.set_aside(found.game)
                return
            if found.epoch == shard.epoch:  # this owner's record is the last: the fence stands
                break
        if shard.gone:
            raise Lost
        self._serve(found)

    async def _read_on(self, found: Found) -> bool:
        """Reads what was logged meanwhile; whether there was anything. Raises NewerOwner."""
        try:
            later = await self._world.log.read_game(self._shard.number, found.game, found.seq)
        except Away:
            return False
        self._replay.take_all(later)
        return bool(later)

    def _serve(self, found: Found) -> None:
        story = Story(found.game, found.records)
        table = Table(found.game, self._shard, self._world, found.state, found.seq, story)
        table.refs = found.refs
        self._shard.add(table)
        if found.state.over:
            self._world.on_over(table)
        else:
            self._world.on_presence(table)
