"""Finished games on their way to SQL.

    over ─► published until RESULTS has it ─► archived.<shard>.<game> heard ─► kept for late comers ─► log purged
                        ▲                                  │
                        └── not heard for a while: again ──┘

The log of a game stays until the keeping is over: whatever dies before, the next owner finds the game finished and
begins again here. Whoever reads RESULTS drops repeats.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

import structlog

from numbridge.clock import monotonic
from numbridge.v1 import log_pb2 as pb
from tablesvc import codec, reads
from tablesvc.ports import Away, LogError, Results
from tablesvc.shard import Shard
from tablesvc.table import Table
from tablesvc.world import World

log = structlog.get_logger("numbridge.tablesvc.results")

_AGAIN_S = 0.5  # after a publish that did not come through
_AT_ONCE = 16
_LOOK_S = 0.25


@dataclass(slots=True)
class _Waiting:
    """A game not known to be in SQL."""

    table: Table
    next_at: float
    sent: int = 0


class Outbox:
    """Publishes results. One of these a worker; its size is that of the finished games in this worker's shards."""

    def __init__(self, world: World, results: Results) -> None:
        self._world = world
        self._results = results
        self._waiting: dict[str, _Waiting] = {}
        self._kept: OrderedDict[str, tuple[Table, float]] = OrderedDict()
        self._wake = asyncio.Event()

    @property
    def unconfirmed(self) -> int:
        """Finished games not known to be in SQL."""
        return len(self._waiting)

    def oldest_ms(self, now_ms: int) -> int:
        """How long ago the oldest of them ended; 0 if there is none."""
        ended = min((waiting.table.state.last_at for waiting in self._waiting.values()), default=now_ms)
        return max(0, now_ms - ended)

    def over(self, table: Table) -> None:
        """A game has ended, or was found ended at a takeover."""
        self._waiting.setdefault(table.game, _Waiting(table, monotonic()))
        self._wake.set()

    def archived(self, game: str) -> None:
        """The game's record is in SQL."""
        waiting = self._waiting.pop(game, None)
        if waiting is None:
            return
        self._world.metrics.result("archived")
        self._kept[game] = (waiting.table, monotonic() + self._world.settings.keep_over_ms / 1000)
        self._wake.set()

    def forget_shard(self, shard: Shard) -> None:
        """The shard is another's: so are its finished games."""
        for game in [game for game, waiting in self._waiting.items() if waiting.table.shard is shard]:
            del self._waiting[game]
        for game in [game for game, (table, _) in self._kept.items() if table.shard is shard]:
            del self._kept[game]

    async def run(self) -> None:
        """Publishes, publishes again, and tidies up, for ever."""
        while True:
            try:
                async with asyncio.timeout(_LOOK_S):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            now = monotonic()
            due = [waiting for waiting in self._waiting.values() if waiting.next_at <= now]
            for start in range(0, len(due), _AT_ONCE):
                await asyncio.gather(*(self._publish(waiting) for waiting in due[start : start + _AT_ONCE]))
            await self._tidy(now)

    async def _publish(self, waiting: _Waiting) -> None:
        table = waiting.table
        if not table.shard.writable:
            waiting.next_at = monotonic() + _AGAIN_S
            return
        try:
            await self._results.publish(table.shard.number, table.game, result_of(table), once=waiting.sent == 0)
        except LogError as failure:
            log.info("result_waits", game=table.game, error=f"{type(failure).__name__}: {failure}")
            waiting.next_at = monotonic() + _AGAIN_S
            return
        self._world.metrics.result("resent" if waiting.sent else "sent")
        waiting.sent += 1
        waiting.next_at = monotonic() + self._world.settings.result_retry_ms / 1000

    async def _tidy(self, now: float) -> None:
        while self._kept:
            game, (table, until) = next(iter(self._kept.items()))
            crowded = len(self._kept) > self._world.settings.keep_over_limit
            if until > now and not crowded:
                return
            if crowded:
                self._world.metrics.dropped("over_kept")
            try:
                await self._world.log.purge(table.shard.number, game)
            except Away:
                return
            if self._kept.pop(game, None) is not None:
                table.shard.forget(game)


def result_of(table: Table) -> bytes:
    """The finished game as RESULTS carries it."""
    state = table.state
    return pb.GameResult(
        game=table.game,
        record=reads.record_text(table),
        final_view=reads.final_view_text(table),
        version=state.version,
        summary=codec.summary(table.game, state),
        result=state.result or "",
        reason=state.reason or "",
        ended_at=state.last_at,
    ).SerializeToString()
