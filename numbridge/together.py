"""Questions that wait go out together: one call for many costs little more than one for each of them.

The first question goes at once. While `in_flight` calls are under way, others gather, and the next call takes all of
them, up to `most`. Nobody waits for a timer.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")

Call = Callable[[Sequence[Q]], Coroutine[Any, Any, Sequence[A]]]


class TooMany(Exception):
    """More questions wait than may."""


class Together(Generic[Q, A]):
    """Calls of one kind to one place."""

    def __init__(self, call: "Call[Q, A]", *, most: int, in_flight: int, waiting: int) -> None:
        """`call` answers questions in their order; what it raises is raised for each of them. Beyond `waiting`
        questions, one more is refused."""
        self._call = call
        self._most = most
        self._in_flight = in_flight
        self._limit = waiting
        self._waiting: deque[tuple[Q, asyncio.Future[A]]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, question: Q) -> A:
        """The answer. Raises TooMany, and what the call raises. A question whose asker is cancelled before it
        has gone out does not go."""
        if len(self._waiting) >= self._limit:
            raise TooMany
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        if len(self._tasks) < self._in_flight:
            task = asyncio.create_task(self._run(), name="together")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _run(self) -> None:
        while self._waiting:
            some = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
            some = [(question, future) for question, future in some if not future.done()]
            if not some:
                continue
            call = asyncio.create_task(self._call([question for question, _ in some]))  # noqa: RUF006 - waited for here
            try:
                await asyncio.wait({call})
            finally:
                if not call.done():  # closed meanwhile
                    call.cancel()
                    for _, future in some:
                        future.cancel()
            error = call.exception()
            for number, (_, future) in enumerate(some):
                if future.done():
                    continue
                if error is not None:
                    future.set_exception(error)  # each asker's own to deal with
                else:
                    future.set_result(call.result()[number])

    async def close(self) -> None:
        """Cancels what is under way, and what waits."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        while self._waiting:
            self._waiting.popleft()[1].cancel()
