"""The run: healthy, then faults."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from numbridge.local_servers import bound
from tests.helpers.cluster import Cluster, arguments, running
from tests.monitoring.prometheus import Prometheus, scraping
from tests.unit.ops.monitoring import alerts, dashboards, queries

ROOMS = Path(__file__).with_name("rooms.toml")
HEALTHY_S = 60.0
PLAYERS = 24
QUERY_WAIT_S = 60.0  # for the rarest kind of event under this load
RESTART_WAIT_S = 40.0
DOWN_WAIT_S = 100.0  # TargetDown is sure of itself after a minute

KILLED = frozenset({"ProcessRestarted"})
HUNG = frozenset({"TargetDown"})
ALONGSIDE = frozenset({"LogStalls", "ClocksLate", "LoopLag", "TakeoverSlow", "ShardsUnserved", "MovesBudgetBurnsFast"})
"""What may be true as well while a worker is replaced on a machine that does everything at once: games stalled for
their takeover, and after minutes of life that is a large part of all moves there ever were."""

Say = Callable[[str], None]


@dataclass
class Report:
    """What did not come out as it should."""

    problems: list[str] = field(default_factory=list)

    def expect(self, good: bool, problem: str) -> None:
        """Notes the problem unless it is good."""
        if not good:
            self.problems.append(problem)


async def check(
    prometheus: Prometheus, cluster: Cluster, leave: Callable[[], None], healthy_s: float, say: Say
) -> Report:
    """Runs all of it against a cluster under load; `leave` makes a player walk away, so that a clock runs out."""
    report = Report()
    await _scraped(prometheus)
    leave()
    say(f"scraped; {healthy_s:g} s in health")
    began = time.monotonic()
    without = await _queries(prometheus, began + max(healthy_s, QUERY_WAIT_S))
    await asyncio.sleep(max(0.0, began + healthy_s - time.monotonic()))
    asked = sum(len(queries(board)) for board in dashboards().values())
    say(f"{asked - len(without)} of {asked} dashboard queries return data")
    report.problems += await prometheus.rule_problems()
    fired = await prometheus.fired(time.monotonic() - began)
    say(f"fired in health: {', '.join(sorted(fired)) or 'nothing'}")
    report.expect(not fired, f"fired in health: {', '.join(sorted(fired))}")
    await _killed(prometheus, cluster, report, say)
    await _hung(prometheus, cluster, report, say)
    without = [query for query in without if not await prometheus.has_data(query)]
    say(f"{asked - len(without)} of {asked} return data once there were faults")
    report.problems += [f"no data: {query}" for query in without]
    return report


async def _scraped(prometheus: Prometheus) -> None:
    async def all_up() -> bool:
        up, known = await prometheus.targets_up()
        return up == known > 0

    assert await _within(20.0, all_up), "not every process can be scraped"


async def _queries(prometheus: Prometheus, until: float) -> list[str]:
    """Queries of dashboards that have had no data by then."""
    left = [query for board in dashboards().values() for query in queries(board)]
    while left and time.monotonic() < until:
        left = [query for query in left if not await prometheus.has_data(query)]
        if left:
            await asyncio.sleep(1.0)
    return left


async def _killed(prometheus: Prometheus, cluster: Cluster, report: Report, say: Say) -> None:
    began = time.monotonic()
    cluster.kill("table-1")
    came = await _fires(prometheus, "ProcessRestarted", began, RESTART_WAIT_S)
    say(
        f"a killed worker: ProcessRestarted after {came:.0f} s"
        if came
        else "a killed worker: ProcessRestarted stayed out"
    )
    report.expect(came is not None, f"a killed worker did not fire ProcessRestarted within {RESTART_WAIT_S:g} s")
    await _nothing_else(prometheus, began, KILLED, report)


async def _hung(prometheus: Prometheus, cluster: Cluster, report: Report, say: Say) -> None:
    pid, began = cluster.pid("table-2"), time.monotonic()
    os.kill(pid, signal.SIGSTOP)
    try:
        came = await _fires(prometheus, "TargetDown", began, DOWN_WAIT_S)
    finally:
        os.kill(pid, signal.SIGCONT)
    say(f"a worker that hangs: TargetDown after {came:.0f} s" if came else "a worker that hangs: TargetDown stayed out")
    report.expect(came is not None, f"a worker that hangs did not fire TargetDown within {DOWN_WAIT_S:g} s")
    await _nothing_else(prometheus, began, HUNG | KILLED, report)


async def _fires(prometheus: Prometheus, alert: str, began: float, wait_s: float) -> float | None:
    """Seconds until the alert fires; None if it does not."""

    async def fires() -> bool:
        return alert in await prometheus.fired(time.monotonic() - began)

    return time.monotonic() - began if await _within(wait_s, fires) else None


async def _nothing_else(prometheus: Prometheus, began: float, expected: frozenset[str], report: Report) -> None:
    fired = await prometheus.fired(time.monotonic() - began)
    others = fired - expected - ALONGSIDE
    assert expected | ALONGSIDE <= {alert["alert"] for alert in alerts()}
    report.expect(not others, f"fired besides {', '.join(sorted(expected))}: {', '.join(sorted(others))}")


async def _within(wait_s: float, condition: Callable[[], Awaitable[bool]]) -> bool:
    end = time.monotonic() + wait_s
    while not await condition():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(1.0)
    return True


@contextmanager
def load(cluster: Cluster) -> Iterator[Callable[[], None]]:
    """Players that play by deduction, as long as the block runs; a call makes one of them walk away from his game."""
    log = cluster.data / "logs" / "load.log"
    command = [sys.executable, "-P", "-m", "numbridge.cli.main", "bot", "--quiet", "--url", cluster.url]
    crews = [("--count", str(PLAYERS)), ("--room", "bullet"), ("--room", "bullet")]
    with log.open("wb") as out:
        *staying, leaver = [
            subprocess.Popen(bound([*command, *crew]), stdout=out, stderr=out, start_new_session=True) for crew in crews
        ]
    try:
        yield leaver.kill
        assert all(process.poll() is None for process in staying), log.read_text(errors="replace")
    finally:
        for process in (*staying, leaver):
            process.terminate()
        for process in (*staying, leaver):
            process.wait(20)


def main(healthy_s: float = HEALTHY_S) -> int:
    """0 if all came out as it should."""

    def say(line: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {line}", flush=True)

    began = time.monotonic()

    async def run(cluster: Cluster, leave: Callable[[], None], folder: Path) -> Report:
        async with scraping(folder, cluster.facts()["processes"]) as prometheus:
            return await check(prometheus, cluster, leave, healthy_s, say)

    with tempfile.TemporaryDirectory(prefix="numbridge-monitoring-") as name:
        folder = Path(name)
        with running(folder / "data", *arguments(ROOMS, workers=2), "--no-limits") as cluster, load(cluster) as leave:
            say("the cluster is up")
            report = asyncio.run(run(cluster, leave, folder))
    for problem in report.problems:
        say(f"WRONG: {problem}")
    say("as it should be" if not report.problems else f"{len(report.problems)} things are wrong")
    return 1 if report.problems else 0
