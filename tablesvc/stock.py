"""Deals made ahead, in a process of their own, so that seating never waits for one and the event loop never
deals.

A setting is (side, blocks, givens). The settings of the club's rooms are kept in stock from the start, enough for
hundreds of games at once; any other that is asked for joins them with a few, and with one more each time that it is
asked for, in place of the one not asked for longest when there are too many. One task keeps the stock full, one deal
at a time: the first few of a setting as fast as it can, the more the slower, so that filling takes little from those
who play. A demand that finds its setting sold out is dealt next.

Bounds: `games` deals a setting, 16 settings, 512 demands waiting at once (one more is refused at once), 15 s a
demand. A dealing process that dies is replaced, and its deal asked for again.
"""

import asyncio
import multiprocessing
import secrets
from collections import OrderedDict, deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from time import perf_counter
from typing import Protocol

import structlog

from numbridge.tasks import Tasks, delays
from tablesvc import stock_process
from tablesvc.dealing.errors import CannotDeal, DealingError
from tablesvc.engine.settings import Deal

log = structlog.get_logger("tablesvc.stock")

Setting = tuple[int, str, int]  # side, blocks, givens

CLUB: tuple[Setting, ...] = (
    (9, "regular", 30),
    (9, "irregular", 30),
    (6, "regular", 10),
    (6, "irregular", 10),
)
MAX_SETTINGS = 16
MAX_WAITING = 512
WAIT_S = 15.0
TRIES = 3  # of one deal, when the process dies over it
SEED_BITS = 128
FEW = 4  # deals of a setting that are made without a pause, and of which one that is not the club's begins
REST = 9.0  # with a full shelf the process rests so many times as long as a deal has taken


class StockWatch(Protocol):
    """What the stock tells whoever measures."""

    def stock_level(self, deals: int) -> None:
        """So many deals lie ready, all settings together."""
        ...

    def dealt(self, took_s: float) -> None:
        """A deal took so long, waiting for the process included."""
        ...

    def sold_out(self) -> None:
        """A demand found nothing ready."""
        ...


class Unwatched:
    """See StockWatch: nobody measures."""

    def stock_level(self, deals: int) -> None:
        pass

    def dealt(self, took_s: float) -> None:
        pass

    def sold_out(self) -> None:
        pass


class Stock:
    """See the module. `start` returns at once; a demand before the process is up waits for it."""

    def __init__(self, games: int = 4, watch: StockWatch | None = None, settings: tuple[Setting, ...] = CLUB) -> None:
        self._games = games
        self._watch = watch or Unwatched()
        self._shelves: OrderedDict[Setting, deque[Deal]] = OrderedDict((setting, deque()) for setting in settings)
        self._wanted = dict.fromkeys(settings, games)
        self._tasks = Tasks()
        self._taken = asyncio.Event()
        self._waiting = 0
        self._executor: ProcessPoolExecutor | None = None

    async def start(self) -> None:
        """Starts the process and the filling."""
        self._executor = _new_executor()
        self._tasks.spawn(self._fill(), "stock")

    async def stop(self) -> None:
        """Ends both; the deal being made is waited for, which is seconds at the very worst."""
        await self._tasks.close()
        executor, self._executor = self._executor, None
        if executor is not None:
            await asyncio.to_thread(executor.shutdown, wait=True, cancel_futures=True)

    async def take(self, side: int, blocks: str, givens: int) -> Deal:
        """A fresh deal, never given out before.

        Raises NoSuchDeal for what cannot exist, CannotDeal for what was not found, DealingError when too many
        wait already or the wait took too long.
        """
        setting = (side, blocks, givens)
        shelf = self._shelves.get(setting)
        if setting in self._wanted:
            self._wanted[setting] = min(self._games, self._wanted[setting] + 1)
        if shelf:
            self._shelves.move_to_end(setting)
            made = shelf.popleft()
            self._counted()
            return made
        self._watch.sold_out()
        if self._waiting >= MAX_WAITING:
            raise DealingError("too many games wait for their deals")
        self._waiting += 1
        try:
            async with asyncio.timeout(WAIT_S):
                made = await self._make(setting)
        except TimeoutError:
            raise DealingError("the deal took too long") from None
        finally:
            self._waiting -= 1
        self._stock_up(setting)
        return made

    def levels(self) -> dict[Setting, int]:
        """How many deals of each setting lie ready."""
        return {setting: len(shelf) for setting, shelf in self._shelves.items()}

    def _stock_up(self, setting: Setting) -> None:
        """Has the setting kept in stock from now on, most recently asked for."""
        self._shelves.setdefault(setting, deque())
        self._wanted.setdefault(setting, min(FEW, self._games))
        self._shelves.move_to_end(setting)
        if len(self._shelves) > MAX_SETTINGS:
            del self._wanted[self._shelves.popitem(last=False)[0]]
        self._counted()

    def _counted(self) -> None:
        self._watch.stock_level(sum(map(len, self._shelves.values())))
        self._taken.set()

    async def _fill(self) -> None:
        pauses = delays()
        while True:
            short = [one for one, shelf in self._shelves.items() if len(shelf) < self._wanted[one]]
            if not short:
                self._taken.clear()
                await self._taken.wait()
                continue
            setting = min(short, key=lambda one: len(self._shelves[one]))
            began = perf_counter()
            try:
                made = await self._make(setting)
            except CannotDeal:
                self._shelves.pop(setting, None)  # not worth having in stock
                self._wanted.pop(setting, None)
            except DealingError as error:
                log.warning("stock_waits", error=str(error))
                await asyncio.sleep(next(pauses))
            else:
                pauses = delays()
                if setting in self._shelves:
                    self._shelves[setting].append(made)
                    self._counted()
                    full = max(0, len(self._shelves[setting]) - FEW) / self._wanted[setting]
                    await asyncio.sleep((perf_counter() - began) * REST * full)

    async def _make(self, setting: Setting) -> Deal:
        start = perf_counter()
        for _ in range(TRIES):
            executor = self._executor
            if executor is None:
                break
            seed = secrets.randbits(SEED_BITS)
            try:
                future = executor.submit(stock_process.make, *setting, seed)
                made = await asyncio.wrap_future(future)
            except BrokenProcessPool:
                self._replace(executor)
                continue
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if self._executor is not None or (task is not None and task.cancelling()):
                    raise
                break  # not this task was cancelled: `stop` took the deal off the queue
            self._watch.dealt(perf_counter() - start)
            return Deal(*made)
        raise DealingError("the dealing process does not stay up")

    def _replace(self, broken: ProcessPoolExecutor) -> None:
        """Puts a new process in the place of a dead one, unless somebody else has done so by now."""
        if self._executor is broken:
            log.warning("dealing_process_died")
            broken.shutdown(wait=False)
            self._executor = _new_executor()


def _new_executor() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # a fork would copy the loop's threads' locks
    return ProcessPoolExecutor(max_workers=1, mp_context=context, initializer=stock_process.begin)
