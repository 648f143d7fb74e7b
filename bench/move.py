"""Where a move's time goes: `python -m bench.move [--tables N] [--seconds S]`.

Starts a cluster of real processes (one worker, one gateway), seats N pairs, and lets every mover exchange his hand as
soon as his turn is known. Prints the way of a move hop by hop: what the players measure at their sockets, what the
gateway and the worker say of their steps in the same seconds, and the CPU time of each process a move. Means of the
same moves, so that the parts add up.
"""

import argparse
import asyncio
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import uvloop

from bench import lean
from bench.conditions import Conditions
from bench.lean import Seen
from numbridge.local_servers import bound, free_port, nats_server
from tests.helpers.cluster import Cluster, running

_SAMPLE = re.compile(r"^(numbridge_\w+_(?:sum|count))(\{[^}]*\})? (\S+)$", re.MULTILINE)
_STEPS = ("queue_wait", "decide", "encode", "append", "publish")
_CLOCK_TICKS = 100  # USER_HZ on Linux


async def _scrape(session: aiohttp.ClientSession, urls: list[str]) -> dict[str, float]:
    """Sums and counts of every histogram, over several processes."""
    totals: dict[str, float] = {}
    for url in urls:
        async with session.get(url) as response:
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


async def measure(cluster: Cluster, tables: int, seconds: float) -> tuple[Seen, dict[str, float], dict[str, float]]:
    """Plays; returns what the players saw, mean seconds a move by step, and CPU seconds a move by process."""
    processes = cluster.facts()["processes"]
    metrics = [f"http://127.0.0.1:{p['metrics_port']}/metrics" for p in processes if p["kind"] in ("gateway", "table")]
    pids = {p["name"]: p["pid"] for p in processes if p["kind"] in ("gateway", "table", "nats")}
    pids["players"] = os.getpid()
    async with aiohttp.ClientSession() as session:
        seats = await lean.pairs(cluster.urls, tables, "study")
        for span in (1.0, seconds):  # a first second warms everything up
            before, cpu = await _scrape(session, metrics), _cpu_s(pids)
            seen = await lean.play(seats, span)
        after, cpu_after = await _scrape(session, metrics), _cpu_s(pids)

    def mean(name: str) -> float:
        count = after.get(f"{name}_count", 0.0) - before.get(f"{name}_count", 0.0)
        return (after.get(f"{name}_sum", 0.0) - before.get(f"{name}_sum", 0.0)) / count if count else 0.0

    steps = {step: mean(f"numbridge_tablesvc_{step}_seconds") for step in (*_STEPS, "command")}
    for key in after:
        if key.startswith("numbridge_gateway_request_seconds_count") and '"Act"' in key:
            name = key.replace("_count", "_sum")
            steps["request"] = (after[name] - before.get(name, 0.0)) / max(1.0, after[key] - before.get(key, 0.0))
    if seen.refused:
        raise RuntimeError(f"{len(seen.refused)} moves were refused, the first: {seen.refused[0]}")
    moves = max(1, len(seen.answered))
    return seen, steps, {name: (cpu_after[name] - cpu[name]) / moves for name in pids}


async def measure_floor(folder: Path, tables: int, seconds: float, sync: str) -> tuple[Seen, dict[str, float]]:
    """The same moves over the bare way of bench/floor.py; what players saw, and CPU seconds a move by process."""
    nats = nats_server(folder, sync=sync)
    await nats.start()
    ports, started = [free_port(), free_port()], []
    try:
        for kind, args in (("worker", ports[:1]), ("gateway", [ports[1], ports[0]])):
            process = await asyncio.create_subprocess_exec(
                *bound([sys.executable, "-m", "bench.floor", kind, f"nats://127.0.0.1:{nats.port}", *map(str, args)]),
                stdout=asyncio.subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            started.append(process)
            async with asyncio.timeout(20):
                if process.stdout is None or await process.stdout.readline() != b"ready\n":
                    raise RuntimeError(f"the bare {kind} did not start")
        pids = {"nats": nats.process.pid if nats.process else 0, "worker": started[0].pid, "gateway": started[1].pid}
        pids["players"] = os.getpid()
        seats = await lean.floor_pairs(f"http://127.0.0.1:{ports[1]}", tables)
        for span in (1.0, seconds):
            cpu = _cpu_s(pids)
            seen = await lean.play(seats, span)
        after = _cpu_s(pids)
        return seen, {name: (after[name] - cpu[name]) / max(1, len(seen.answered)) for name in pids}
    finally:
        for process in started:
            process.kill()
            await process.wait()
        await nats.stop()


_FLOOR_OF = {"table-1": "worker", "gateway-1": "gateway", "nats": "nats"}


def compare(cpu: Mapping[str, float], floor: Mapping[str, float], seen: Seen, bare: Seen, seconds: float) -> str:
    """The ratio of the cluster to the bare way, by process."""
    lines = [f"{'CPU a move, µs':<40}{'cluster':>9}{'bare':>9}{'ratio':>8}"]
    rows = [(name, cpu[name], floor[other]) for name, other in _FLOOR_OF.items()]
    rows.append(("all servers", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    lines += [f"{name:<40}{1e6 * one:9.0f}{1e6 * two:9.0f}{one / two:8.2f}" for name, one, two in rows]
    one, two = statistics.median(seen.both), statistics.median(bare.both)
    lines.append(f"{'send to both, median ms':<40}{1e3 * one:9.2f}{1e3 * two:9.2f}{one / two:8.2f}")
    one, two = len(seen.both) / seconds, len(bare.both) / seconds
    lines.append(f"{'moves/s':<40}{one:9.0f}{two:9.0f}{one / two:8.2f}")
    return "\n".join(lines)


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
        ("from the answer to both players' frames (negative: they came first)", both - answered),
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


def main(argv: list[str] | None = None) -> int:
    """Parses the command line and measures."""
    parser = argparse.ArgumentParser(prog="python -m bench.move", description="Where a move's time goes.")
    parser.add_argument("--tables", type=int, default=1, metavar="N", help="games played at the same time")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="how long to measure")
    parser.add_argument("--sync", default="always", metavar="T", help="sync_interval of the log (always)")
    args = parser.parse_args(argv)
    if not 1 <= args.tables <= 5000 or not 0.5 <= args.seconds <= 600:
        parser.error("--tables must be 1 to 5000, --seconds 0.5 to 600")
    conditions = Conditions()
    with tempfile.TemporaryDirectory() as folder:
        up = ("--workers", "1", "--gateways", "1", "--no-limits", "--log-sync", args.sync)
        with running(Path(folder) / "data", *up, env=lean.QUIET) as cluster:
            seen, steps, cpu = uvloop.run(measure(cluster, args.tables, args.seconds))
        print(report(seen, steps, cpu, args.tables, args.seconds), flush=True)
        bare, floor = uvloop.run(measure_floor(Path(folder) / "floor", args.tables, args.seconds, args.sync))
    print("\n" + compare(cpu, floor, seen, bare, args.seconds))
    print(f"\nsync_interval {args.sync}; {conditions.line()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
