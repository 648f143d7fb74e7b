"""One level after the other, until the search has its answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from numbridge.load.crowd import Crowd
from numbridge.load.search import Search
from numbridge.load.tally import Goals, Level, Tally, judge
from numbridge.load.usage import Meter, own_cpu_s

FILL_S = 60.0  # for a level's games to be under way
FULL = 0.9  # of them; the others are between two games
OVERDUE_S = 5.0  # a play without an answer for so long has failed


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is asked to do. Seconds."""

    urls: list[str]
    room: str
    think_s: float
    settle_s: float
    measure_s: float
    seed: int
    first: int
    most: int
    precision: float


@dataclass(slots=True)
class Outcome:
    """What a run has found. `games`: the most that held; `limited`: by the generator or `most`, not the deployment."""

    games: int = 0
    limited: str = ""
    levels: list[Level] = field(default_factory=list)


Say = Callable[[str], None]


async def find(plan: Plan, goals: Goals, meter: Meter, say: Say) -> Outcome:
    """Tries levels until the most games that hold are known. Raises NoDeployment."""
    search = Search(plan.first, plan.most, precision=plan.precision)
    outcome = Outcome()
    async with Crowd(plan.urls, plan.room, plan.think_s, plan.seed) as crowd:
        while (games := search.next()) is not None:
            say(f"{games} games: seating")
            level = await measure(crowd, games, plan, goals, meter)
            outcome.levels.append(level)
            say(describe(level))
            if not level.valid:
                outcome.limited = "the generator"
            search.report(games, held=level.held)
    outcome.games = search.held
    best_failed = next((level for level in outcome.levels if level.games == search.failed), None)
    if search.failed is None:
        outcome.limited = f"the most that was asked for, {plan.most}"
    elif best_failed is None or best_failed.valid:
        outcome.limited = ""
    return outcome


async def measure(crowd: Crowd, games: int, plan: Plan, goals: Goals, meter: Meter) -> Level:
    """One level: fills it, lets it settle, measures."""
    loop = asyncio.get_running_loop()
    await crowd.resize(games)
    await crowd.filled(FULL * games, FILL_S)
    await asyncio.sleep(plan.settle_s)
    crowd.tally = tally = Tally()
    before, own, started = await meter.read(), own_cpu_s(), loop.time()
    await asyncio.sleep(plan.measure_s)
    seconds = loop.time() - started
    generator = (own_cpu_s() - own) / seconds
    after = await meter.read()
    crowd.tally = Tally()  # what comes late belongs to nobody
    overdue = crowd.overdue(loop.time() - OVERDUE_S)
    cpu = {name: (value - before.cpu_s.get(name, 0.0)) / seconds for name, value in after.cpu_s.items()}
    return judge(tally, goals, games, seconds, generator, cpu, after.memory_mib, overdue)


def describe(level: Level) -> str:
    """A line of progress."""
    cpu = sum(level.cpu.values())
    verdict = "holds" if level.held else "; ".join(level.failed) or "the generator is the limit"
    used = f", {cpu:.2f} cores" if level.cpu else ""
    return (
        f"{level.games} games: {level.moves_per_s:g} moves/s, shown in {level.move_p50_ms:g} ms "
        f"(99 %: {level.move_p99_ms:g}), {level.seats} seats in {level.seat_p50_ms:g} ms "
        f"(95 %: {level.seat_p95_ms:g}){used}, generator {level.generator_cpu:.2f}: {verdict}"
    )
