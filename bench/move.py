"""Where a move's time goes: `python -m bench.move [--tables N] [--seconds S]`.

Starts a cluster of real processes (one worker, one gateway), seats N pairs, and lets every mover exchange his hand as
soon as his turn is known. Prints the way of a move hop by hop: what the players measure at their sockets, what the
gateway and the worker say of their steps in the same seconds, and the CPU time of each process a move. Means of the
same moves, so that the parts add up.
"""

import argparse
import asyncio
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from tests.helpers.client import Client, Club, Event, Refused
from tests.helpers.client import club as open_club
from tests.helpers.cluster import Cluster, running

_SAMPLE = re.compile(r"^(numbridge_\w+_(?:sum|count))(\{[^}]*\})? (\S+)$", re.MULTILINE)
_STEPS = ("queue_wait", "decide", "encode", "append", "publish")
_CLOCK_TICKS = 100  # USER_HZ on Linux


@dataclass
class Seen:
    """What the players have measured, in seconds."""

    answered: list[float] = field(default_factory=list)
    both: list[float] = field(default_factory=list)


async def _scrape(club: Club, urls: list[str]) -> dict[str, float]:
    """Sums and counts of every histogram, over several processes."""
    totals: dict[str, float] = {}
    for url in urls:
        async with club.session.get(url) as response:
            for name, labels, value in _SAMPLE.findall(await response.text()):
                key = name + labels
                totals[key] = totals.get(key, 0.0) + float(value)
    return totals


def _cpu_s(pids: Mapping[str, int]) -> dict[str, float]:
    """CPU seconds that each process has used so far."""
    used = {}
    for name, pid in pids.items():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used[name] = (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS
    return used


def _later_than(version: int) -> Callable[[Event], bool]:
    return lambda event: bool(event["version"] > version)


async def _play_on(game: str, blue: Client, red: Client, seen: Seen, until: float) -> None:
    """Both exchange in turn until the time is up or the game will not have it."""
    players = {"blue": blue, "red": red}
    mover, version = "blue", 0
    while time.perf_counter() < until:
        started = time.perf_counter()
        arrivals = [
            asyncio.ensure_future(client.wait("move", _later_than(version), since=len(client.events)))
            for client in players.values()
        ]
        try:
            ok = await players[mover].ask("play", game=game, version=version, action={"kind": "exchange"})
        except Refused:
            for arrival in arrivals:
                arrival.cancel()
            return
        seen.answered.append(time.perf_counter() - started)
        moves = await asyncio.gather(*arrivals)
        seen.both.append(time.perf_counter() - started)
        version, mover = ok["version"], moves[0]["to_move"]
        for client in players.values():
            client.events.clear()


async def measure(cluster: Cluster, tables: int, seconds: float) -> tuple[Seen, dict[str, float], dict[str, float]]:
    """Plays; returns what the players saw, mean seconds a move by step, and CPU seconds a move by process."""
    processes = cluster.facts()["processes"]
    metrics = [f"http://127.0.0.1:{p['metrics_port']}/metrics" for p in processes if p["kind"] in ("gateway", "table")]
    pids = {p["name"]: p["pid"] for p in processes if p["kind"] in ("gateway", "table", "nats")}
    async with open_club(*cluster.urls) as club:
        for span in (1.0, seconds):  # a first second warms everything up
            seats = [await club.seat("study") for _ in range(tables)]
            seen = Seen()
            before, cpu = await _scrape(club, metrics), _cpu_s(pids)
            until = time.perf_counter() + span
            await asyncio.gather(*(_play_on(*seat, seen, until) for seat in seats))
        after, cpu_after = await _scrape(club, metrics), _cpu_s(pids)
        for _, blue, red in seats:
            await asyncio.gather(blue.close(), red.close())

    def mean(name: str) -> float:
        count = after.get(f"{name}_count", 0.0) - before.get(f"{name}_count", 0.0)
        return (after.get(f"{name}_sum", 0.0) - before.get(f"{name}_sum", 0.0)) / count if count else 0.0

    steps = {step: mean(f"numbridge_tablesvc_{step}_seconds") for step in (*_STEPS, "command")}
    for key in after:
        if key.startswith("numbridge_gateway_request_seconds_count") and '"Act"' in key:
            name = key.replace("_count", "_sum")
            steps["request"] = (after[name] - before.get(name, 0.0)) / max(1.0, after[key] - before.get(key, 0.0))
    moves = max(1, len(seen.answered))
    return seen, steps, {name: (cpu_after[name] - cpu[name]) / moves for name in pids}


def report(seen: Seen, steps: Mapping[str, float], cpu: Mapping[str, float], tables: int, seconds: float) -> str:
    """The table, in microseconds."""
    answered, both = statistics.fmean(seen.answered), statistics.fmean(seen.both)
    request, command = steps["request"], steps["command"]
    rest = command - steps["queue_wait"] - steps["decide"] - steps["append"] - steps["publish"]
    ordered = sorted(seen.both)
    rows = [
        ("socket, decode, session, answer", answered - request),
        ("link there and back, routing", request - command),
        ("  wait for the table's turn", steps["queue_wait"]),
        ("  decide (clock, rules, next state)", steps["decide"]),
        ("  encode (log record, three frames; while the log is at work)", steps["encode"]),
        ("  append to its ack, fenced", steps["append"]),
        ("  publish frames", steps["publish"]),
        ("  rest of the table's step", rest),
        ("fan-out: from the answer to both players' frames", both - answered),
    ]  # fmt: skip
    lines = [
        f"{tables} tables, {len(seen.answered)} moves in {seconds:.0f} s: {len(seen.answered) / seconds:.0f} moves/s",
        f"send to both players' frames: median {1e3 * ordered[len(ordered) // 2]:.2f} ms, "
        f"p99 {1e3 * ordered[len(ordered) * 99 // 100]:.2f} ms",
        "",
        f"{'mean of a move':<64}{'µs':>8}",
        *(f"{name:<64}{1e6 * value:8.0f}" for name, value in rows),
        f"{'send to both players’ frames':<64}{1e6 * both:8.0f}",
        "",
        f"{'CPU a move':<64}{'µs':>8}",
        *(f"{name:<64}{1e6 * value:8.0f}" for name, value in cpu.items()),
    ]
    return "\n".join(lines)


def main() -> int:
    """Parses the command line and measures."""
    parser = argparse.ArgumentParser(prog="python -m bench.move", description="Where a move's time goes.")
    parser.add_argument("--tables", type=int, default=1, metavar="N", help="games played at the same time")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="how long to measure")
    args = parser.parse_args()
    if not 1 <= args.tables <= 500 or not 0.5 <= args.seconds <= 600:
        parser.error("--tables must be 1 to 500, --seconds 0.5 to 600")
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "data", "--workers", "1", "--gateways", "1", "--no-limits") as cluster,
    ):
        seen, steps, cpu = uvloop.run(measure(cluster, args.tables, args.seconds))
    print(report(seen, steps, cpu, args.tables, args.seconds))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
