"""The processes of a cluster together: started in stages, restarted when they die, stopped in order."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from numbridge.cli.child import Child
from numbridge.cli.errors import USAGE, CheckFailed, UsageError
from numbridge.cli.plan import STAGES, STOPS

START_S = 60.0  # a process that is not ready by then has failed
STEADY_S = 10.0  # ready for so long: its next death is a new story
FAILED_STARTS = 5  # in a row; then the cluster ends, for it can't be what was asked for
_BACKOFF_S = (0.1, 0.5, 1.0, 2.0, 5.0)

Say = Callable[[str], None]


class Supervisor:
    """Keeps children running until `stop`."""

    def __init__(self, children: list[Child], say: Say, warn: Say, changed: Callable[[], None]) -> None:
        """`say` takes progress, `warn` what went wrong; `changed` is called whenever a process id has changed."""
        self._children = children
        self._say = say
        self._warn = warn
        self._changed = changed
        self._began = time.monotonic()
        self._keepers: set[asyncio.Task[None]] = set()
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._stopping = asyncio.Event()

    async def start(self) -> None:
        """Starts everything and returns when all is ready. Raises CliError if something can't be kept running."""
        for kinds in STAGES:
            stage = [child for child in self._children if child.spec.kind in kinds]
            ready = [asyncio.Event() for _ in stage]
            for child, event in zip(stage, ready, strict=True):
                task = asyncio.create_task(self._keep(child, event))
                self._keepers.add(task)
                task.add_done_callback(self._kept)
            await self._unless_failed(_all_set(ready))

    async def _unless_failed(self, what: Coroutine[Any, Any, None]) -> None:
        waiting = asyncio.create_task(what)
        try:
            await _first(waiting, self._failure)
        finally:
            waiting.cancel()
        if self._failure.done():
            self._failure.result()

    async def failed(self) -> None:
        """Returns never; raises CliError once a process can't be kept running."""
        await asyncio.shield(self._failure)

    def _kept(self, task: "asyncio.Task[None]") -> None:
        """A keeper ended: its error becomes the cluster's."""
        self._keepers.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self._failure.done():
            self._failure.set_exception(error)

    async def _keep(self, child: Child, ready: asyncio.Event) -> None:
        """Runs one child again and again, until it fails too often. One that was drained begins anew, too."""
        name = child.spec.name
        failed = deaths = 0
        while True:
            await child.start()
            if await child.until_ready(START_S):
                since = time.monotonic()
                again = " again" if ready.is_set() else ""
                self._say(f"{since - self._began:5.1f} s  {name} ready{again}")
                ready.set()
                self._changed()
                code = await child.wait()
                steady = time.monotonic() - since > STEADY_S
                failed, deaths = 0, 1 if steady else deaths + 1
            else:
                code = await self._not_ready(child)
                failed, deaths = failed + 1, deaths + 1
            if self._stopping.is_set():
                return
            self._changed()
            if failed and code == USAGE and not ready.is_set():
                raise UsageError(f"{name} can't start: {child.last_words()}")
            if failed >= FAILED_STARTS:
                raise CheckFailed(
                    f"{name} failed to start {failed} times in a row; see {child.log}: {child.last_words()}"
                )
            drained = code == 0 and child.spec.kind == "table" and failed == 0  # as it was asked to
            if drained:
                deaths = 1
            pause = _BACKOFF_S[min(deaths, len(_BACKOFF_S)) - 1]
            if drained:
                self._say(f"{time.monotonic() - self._began:5.1f} s  {name} has drained; starting it again")
            else:
                self._warn(f"{name} {_ending(code)}; starting it again in {pause} s (see {child.log})")
            await asyncio.sleep(pause)
            if self._stopping.is_set():
                return

    async def _not_ready(self, child: Child) -> int:
        """The exit code of a child that did not become ready; one that still runs is ended."""
        if child.pid is not None:
            waits = f" (waits for: {child.failing})" if child.failing else ""
            self._warn(f"{child.spec.name} is not ready after {START_S:.0f} s{waits}; see {child.log}")
            await child.kill()
        return await child.wait()

    async def stop(self, grace_s: float, force: asyncio.Event) -> bool:
        """Drains in order; kills everything once `force` is set. Whether each ended by itself."""
        self._stopping.set()
        orderly = True
        forced = asyncio.create_task(force.wait())
        try:
            for kinds in STOPS:
                group = [child for child in self._children if child.spec.kind in kinds and child.pid is not None]
                if not group:
                    continue
                stops = asyncio.gather(*(self._stop(child, grace_s) for child in group))
                await _first(stops, forced)
                if force.is_set():
                    stops.cancel()
                    await asyncio.gather(stops, return_exceptions=True)
                    return False
                orderly = all(stops.result()) and orderly
        finally:
            forced.cancel()
            await self._end()
        return orderly

    async def _stop(self, child: Child, grace_s: float) -> bool:
        orderly = await child.stop(grace_s)
        if orderly:
            self._say(f"         {child.spec.name} stopped")
        else:
            self._warn(f"{child.spec.name} did not stop within {grace_s:.0f} s and was killed; see {child.log}")
        return orderly

    async def _end(self) -> None:
        """No keeper starts anything any more, and nothing runs."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        await asyncio.gather(*(child.kill() for child in self._children))
        if not self._failure.cancel() and not self._failure.cancelled():
            self._failure.exception()  # has been raised by then, or another was


async def _all_set(events: list[asyncio.Event]) -> None:
    for event in events:
        await event.wait()


async def _first(*futures: asyncio.Future[Any]) -> None:
    """Waits until one of them is done."""
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


def _ending(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
