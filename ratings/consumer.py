"""Results off the stream, one transaction each.

    read ─► decode  ─► record (commit) ─► acknowledge ─► announce ─► leaderboard
                │           └─ SQL away: back to the stream with a pause, and nothing is read until it answers
                └─ no result: set aside in SQL, off the stream, counted, logged

A crash between commit and acknowledgement brings the result again: it is found in SQL, and the rest is done.
"""

import asyncio

import structlog

from numbridge.clock import monotonic, now_ms
from numbridge.tasks import Tasks, forever
from ratings.decode import Poison, decode_result
from ratings.domain import GameHead, Recorded, Score
from ratings.health import StoreHealth
from ratings.leaderboards import Leaderboards
from ratings.metrics import Metrics, Outcome
from ratings.ports import Announcer, Delivery, Ledger, ResultSource, StoreAway, StoreRefused, StreamAway

log = structlog.get_logger("numbridge.ratings")

RETRY_FIRST_S, RETRY_CAP_S = 0.5, 30.0
WAITING_EVERY_S = 5.0
FAULT_PAUSE_S = 0.5  # before a reader that could not read tries again


def retry_delay(deliveries: int) -> float:
    """Seconds until a result is tried again after `deliveries` failed tries."""
    return min(RETRY_CAP_S, RETRY_FIRST_S * 2.0 ** min(deliveries - 1, 16))


class Consumer:
    """`in_flight` readers, each with one result in hand at most; the rest waits in the stream."""

    def __init__(
        self,
        source: ResultSource,
        ledger: Ledger,
        announcer: Announcer,
        leaderboards: Leaderboards,
        health: StoreHealth,
        metrics: Metrics,
        *,
        in_flight: int,
    ) -> None:
        self._source = source
        self._ledger = ledger
        self._announcer = announcer
        self._leaderboards = leaderboards
        self._health = health
        self._metrics = metrics
        self._in_flight = in_flight
        self._tasks = Tasks()
        self._readers = 0  # alive now; those that have failed are in their pause
        self._idle = asyncio.Event()
        self._idle.set()
        self._draining = asyncio.Event()
        self.reading = False  # whether the stream could be read the last time

    async def start(self) -> None:
        """Begins to read the stream."""
        for _ in range(self._in_flight):
            self._tasks.spawn(forever(self._read, FAULT_PAUSE_S, "read_results"), "read_results")
        self._tasks.spawn(forever(self._count_waiting, WAITING_EVERY_S, "count_results"), "count_results")

    async def drain(self) -> None:
        """Takes nothing more and finishes what is under way."""
        self._draining.set()
        await self._idle.wait()

    async def stop(self) -> None:
        """Stops at once; what is under way comes again."""
        self._draining.set()
        await self._tasks.close()

    async def _read(self) -> None:
        """One reader's life: ends when the stream cannot be read, or in a drain."""
        self._readers += 1
        self._idle.clear()
        try:
            if await self._may_read():
                await self._read_on()
        except StreamAway as error:
            self.reading = False
            log.warning("results_away", error=str(error))
        finally:
            self._readers -= 1
            if self._readers == 0:
                self._idle.set()

    async def _read_on(self) -> None:
        reader = await self._source.reader()
        try:
            self.reading = True
            while await self._may_read():
                delivery = await reader.next()
                if delivery is not None:
                    with self._metrics.working():
                        await self._handle(delivery)
        finally:
            await reader.close()

    async def _may_read(self) -> bool:
        """Waits until SQL answers; False once a drain has begun."""
        if not self._health.ok:
            waits = [asyncio.ensure_future(self._health.wait_ok()), asyncio.ensure_future(self._draining.wait())]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
        return not self._draining.is_set()

    async def _handle(self, delivery: Delivery) -> None:
        began = monotonic()
        try:
            game = decode_result(delivery.subject, delivery.payload)
            recorded = await self._ledger.record(game)
        except (Poison, StoreRefused) as error:
            await self._set_aside(delivery, str(error))
            return
        except StoreAway as error:
            await self._postpone(delivery, error)
            return
        await delivery.ack()
        self._metrics.result(_outcome(recorded))
        self._metrics.took(monotonic() - began)
        if recorded.fresh:
            self._metrics.lagged((now_ms() - game.head.ended_at) / 1000)
        await self._announcer.archived(delivery.subject, game.head, recorded)
        await self._leaderboards.changed(game.head.variant, _scores(game.head, recorded))
        log.debug("result_recorded", game=game.head.game, outcome=_outcome(recorded))

    async def _postpone(self, delivery: Delivery, error: StoreAway) -> None:
        self._health.lost()
        pause = retry_delay(delivery.deliveries)
        await delivery.retry(pause)
        self._metrics.result(Outcome.RETRIED)
        log.warning("result_postponed", subject=delivery.subject, retry_s=pause, error=str(error))

    async def _set_aside(self, delivery: Delivery, why: str) -> None:
        """Kept in SQL before it leaves the stream, so that an operator can still save it."""
        try:
            await self._ledger.set_aside(delivery.subject, delivery.payload, why, now_ms())
        except StoreAway as error:
            await self._postpone(delivery, error)
            return
        await delivery.term()
        self._metrics.result(Outcome.SET_ASIDE)
        log.error("result_set_aside", subject=delivery.subject, bytes=len(delivery.payload), why=why)

    async def _count_waiting(self) -> None:
        try:
            self._metrics.waiting(await self._source.waiting())
            self._metrics.oldest(await self._source.oldest_s())
        except StreamAway:
            pass  # the readers say so


def _outcome(recorded: Recorded) -> Outcome:
    if not recorded.fresh:
        return Outcome.DUPLICATE
    return Outcome.ARCHIVED if recorded.blue is None else Outcome.RATED


def _scores(head: GameHead, recorded: Recorded) -> list[Score]:
    sides = ((head.blue, recorded.blue), (head.red, recorded.red))
    return [
        Score(seated.id, change.after.strength.rating, change.after.games)
        for seated, change in sides
        if change is not None
    ]
