"""Background tasks that cannot fail unseen, and the pauses between tries.

This is the one place that may catch every exception: a task's fault is
logged and counted, and never takes its neighbours down.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import structlog
from prometheus_client import Counter

log = structlog.get_logger("numbridge.tasks")

FAULTS = Counter("numbridge_task_faults_total", "Background tasks that ended with an exception.", ["task"])
_known: set[str] = set()


def _begun(kind: str) -> None:
    """Shows the kind at zero, so that its first fault is an increase."""
    if kind not in _known:
        _known.add(kind)
        FAULTS.labels(kind)


class Tasks:
    """A set of named background tasks that end together.

    `kind` names in the metric come from the code, never from ids.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def spawn(self, coro: Coroutine[Any, Any, Any], kind: str) -> asyncio.Task[Any]:
        """Runs `coro` until it ends or the set is closed; an exception is logged and counted."""
        if self._closed:
            coro.close()
            raise RuntimeError(f"task {kind} was started after the close")
        _begun(kind)
        task = asyncio.create_task(self._guard(coro, kind), name=kind)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: coro.close())  # a task cancelled before its first step never awaited it
        return task

    async def _guard(self, coro: Coroutine[Any, Any, Any], kind: str) -> None:
        try:
            await coro
        except asyncio.CancelledError:
            raise
        except Exception:
            FAULTS.labels(kind).inc()
            log.exception("task_failed", task=kind)

    def __len__(self) -> int:
        return len(self._tasks)

    async def close(self) -> None:
        """Cancels what still runs and waits for it."""
        self._closed = True
        current = asyncio.current_task()
        tasks = [task for task in self._tasks if task is not current]
        while tasks:
            for task in tasks:
                task.cancel()
            # Once is not always enough: wait_for (3.11) drops a cancellation that meets its result.
            _, pending = await asyncio.wait(tasks, timeout=0.5)
            tasks = list(pending)


async def forever(step: Callable[[], Coroutine[Any, Any, None]], pause_s: float, kind: str) -> None:
    """Runs `step` again and again, `pause_s` apart; a failing step is logged, counted, and tried again later."""
    while True:
        try:
            await step()
        except asyncio.CancelledError:
            raise
        except Exception:
            FAULTS.labels(kind).inc()
            log.exception("round_failed", task=kind)
        await asyncio.sleep(pause_s)


def delays(first_s: float = 0.05, cap_s: float = 2.0) -> "Delays":
    """Growing pauses with full jitter, capped."""
    return Delays(first_s, cap_s)


class Delays:
    """Iterator of pauses in seconds: doubling from `first_s` up to `cap_s`, each between half and whole."""

    def __init__(self, first_s: float, cap_s: float) -> None:
        self._next = first_s
        self._cap = cap_s

    def __iter__(self) -> "Delays":
        return self

    def __next__(self) -> float:
        pause = self._next * (0.5 + random.random() / 2)
        self._next = min(self._cap, self._next * 2)
        return pause


async def attempts(deadline_s: float, first_s: float = 0.05, cap_s: float = 2.0) -> AsyncIterator[int]:
    """Yields 0, 1, 2, … with pauses between, until `deadline_s` seconds have gone by since the start."""
    loop = asyncio.get_running_loop()
    end = loop.time() + deadline_s
    for number, pause in enumerate(delays(first_s, cap_s)):
        yield number
        if loop.time() + pause >= end:
            return
        await asyncio.sleep(pause)
