"""The kinds of fault, and the seeded order in which they come.

Two lanes run side by side, each with one fault at a time: what stands in the way of a move (workers, gateways, NATS)
and what does not (lobby, ratings, Redis). Each lane goes through all of its kinds in a shuffled order, again and again.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from numbridge import redis_io
from tests.chaos.processes import Processes

PAUSE_S = 10.0  # a process stands still for so long: four times a lease
BACK_S = 45.0  # for a process to be ready again
PLAY = ("worker", "gateway", "nats")
ASIDE = ("lobby", "ratings", "redis")
_REST_S: dict[tuple[str, ...], tuple[float, float]] = {PLAY: (0.3, 2.0), ASIDE: (2.0, 5.0)}
"""From one fault's end to the next one's beginning; with nobody to seat players there would soon be no games."""
KIND_OF = {"worker": "table"}
"""As `numbridge up` calls them, where the names differ."""
HOWS = {
    "worker": ("kill", "pause", "drain"),
    "gateway": ("kill", "pause", "drain"),
    "lobby": ("kill", "pause", "drain"),
    "ratings": ("kill", "pause", "drain"),
    "nats": ("kill", "restart"),
    "redis": ("kill", "restart", "flush"),
}
KINDS = tuple(f"{what} {how}" for what, hows in HOWS.items() for how in hows)


@dataclass(frozen=True, slots=True)
class Planned:
    """A fault to come. `pick` chooses among the processes of its kind, from 0 to 1."""

    what: str
    how: str
    pick: float
    rest_s: float

    @property
    def kind(self) -> str:
        """As the report names it."""
        return f"{self.what} {self.how}"


@dataclass(slots=True)
class Fault:
    """A fault that was."""

    kind: str
    name: str
    began: float
    ended: float = 0.0
    """When all was ready again."""
    back: bool = False
    touched: frozenset[str] = frozenset()
    """Games that it could be felt in when it began."""


def lane(parts: tuple[str, ...], rng: Random, only: frozenset[str] = frozenset(KINDS)) -> Iterator[Planned]:
    """Faults of these parts, for ever; of them, those alone of the kinds in `only`. There may be none."""
    while kinds := [(what, how) for what in parts for how in HOWS[what] if f"{what} {how}" in only]:
        rng.shuffle(kinds)
        for what, how in kinds:
            yield Planned(what, how, rng.random(), rng.uniform(*_REST_S[parts]))


class Injector:
    """Carries faults out, one lane at a time each."""

    def __init__(
        self,
        processes: Processes,
        redis_url: str,
        clock: Callable[[], float],
        touched: Callable[[str, str], frozenset[str]],
        say: Callable[[str], None],
    ) -> None:
        """`touched(what, name)`: games in which a fault of that process can be felt now."""
        self.faults: list[Fault] = []
        self._processes = processes
        self._redis_url = redis_url
        self._clock = clock
        self._touched = touched
        self._say = say

    async def run(self, faults: Iterator[Planned], until: float, most: int) -> None:
        """One after the other, until it is too late to begin another or there were `most`."""
        for _, planned in zip(range(most), faults, strict=False):
            if self._clock() >= until:
                return
            names = self._processes.names[KIND_OF.get(planned.what, planned.what)]
            await self._inject(planned, names[int(planned.pick * len(names))])
            await asyncio.sleep(planned.rest_s)

    async def _inject(self, planned: Planned, name: str) -> None:
        processes = self._processes
        if not await processes.until_ready(name, None, BACK_S):
            self._say(f"{name} is not ready: no {planned.kind}")
            return
        fault = Fault(planned.kind, name, self._clock(), touched=self._touched(planned.what, name))
        self.faults.append(fault)
        after: int | None = None
        if planned.how == "flush":
            await self._flush()
        elif planned.how == "pause":
            after = await self._pause(name)
        else:
            after = processes.signal(name, signal.SIGKILL if planned.how == "kill" else signal.SIGTERM)
        fault.back = await processes.until_ready(name, after, BACK_S)
        fault.ended = self._clock()
        self._say(f"{planned.kind:<15} {name:<10} {'back' if fault.back else 'NOT BACK'} after "
                  f"{fault.ended - fault.began:4.1f} s")  # fmt: skip

    async def _pause(self, name: str) -> int | None:
        """Back as the same process, unless somebody has ended it meanwhile."""
        pid = self._processes.signal(name, signal.SIGSTOP)
        await asyncio.sleep(PAUSE_S)
        with suppress(ProcessLookupError):
            if self._processes.pid(name) == pid:
                self._processes.signal(name, signal.SIGCONT)
                return None
        return pid

    async def _flush(self) -> None:
        redis = redis_io.connect(self._redis_url)
        try:
            await redis.flushall()
        except redis_io.AWAY as error:
            self._say(f"no flush: {error}")
        finally:
            await redis.aclose()
