"""The whole path from a seek to `seated`, over WebSockets, in a cluster of real processes.

Guests connect first. Then two seek at the same moment, again and again at an even pace, or everybody at once. A
pair's time runs from the first of its two seeks to the moment when the second of the two has read `seated`.
"""

import argparse
import asyncio
import json
import os
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import uvloop

from bench.lean import Event, Player, guests
from bench.usage import cpu_s
from tests.helpers.cluster import Cluster, running

PATIENCE_S = 60.0
RATES = (10.0, 50.0)  # pairs a second
WARMING = 20  # pairs
_LEVEL = re.compile(r"^numbridge_tablesvc_stock (\S+)$", re.MULTILINE)


@dataclass(slots=True)
class Run:
    """What became of the pairs of one run; seconds."""

    pairs: int
    offered: float  # pairs a second, 0: all at once
    took: list[float] = field(default_factory=list)  # from the first seek to both seated, a game each
    whole: float = 0.0  # from the first seek of all to the last `seated`
    refused: list[str] = field(default_factory=list)
    cpu: dict[str, float] = field(default_factory=dict)  # seconds by process

    def row(self) -> dict[str, Any]:
        """Figures, times in milliseconds."""
        took = sorted(self.took) or [0.0]
        return {
            "offered": self.offered or "all at once",
            "pairs": self.pairs,
            "seated": len(self.took),
            "refused": len(self.refused),
            "pairs_per_s": round(len(self.took) / self.whole) if self.whole else 0,
            "median_ms": round(1e3 * took[len(took) // 2], 2),
            "p99_ms": round(1e3 * took[len(took) * 99 // 100], 2),
            "worst_ms": round(1e3 * took[-1], 2),
            "cpu_ms_a_pair": {name: round(1e3 * used / self.pairs, 2) for name, used in self.cpu.items()},
        }


async def offer(players: Sequence[Player], room: str, rate: float) -> Run:
    """Two of `players` seek at a time, `rate` pairs a second; 0: all at once. Waits until all are seated, or long."""
    run = Run(len(players) // 2, rate)
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    asked: dict[str, float] = {}
    waiting: dict[str, float] = {}
    last = 0.0

    def heard(player: Player, event: Event) -> None:
        nonlocal last
        if event.ev == "seated":
            last = time.perf_counter()
            first = waiting.pop(event.game, None)
            if first is None:
                waiting[event.game] = asked[player.player]
                return
            run.took.append(last - min(first, asked[player.player]))
            if len(run.took) == run.pairs and not done.done():
                done.set_result(None)
        elif event.ev == "error":
            run.refused.append(f"{event.code}: {event.message}")

    seek = json.dumps({"op": "seek", "ref": "s", "room": room}).encode()
    began = time.perf_counter()
    for number, player in enumerate(players):
        player.on_event = heard
        if rate and number % 2 == 0:
            await asyncio.sleep(max(0.0, began + number / 2 / rate - time.perf_counter()))
        asked[player.player] = time.perf_counter()
        player.send(seek)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await done
    except TimeoutError:
        pass
    run.whole = last - began
    return run


async def measure(cluster: Cluster, room: str, rate: float, pairs: int) -> Run:
    """One run with guests of its own, after a few others who warm everything up."""
    pids = {entry["name"]: entry["pid"] for entry in cluster.facts()["processes"]}
    pids["players"] = os.getpid()
    for entry in cluster.facts()["processes"]:
        if entry["kind"] == "table" and pairs > WARMING:
            await _stocked(entry["metrics_port"])
    await offer(await guests(cluster.urls, 2 * min(WARMING, pairs)), room, 0.0)
    players = await guests(cluster.urls, 2 * pairs)
    before = cpu_s(pids)
    run = await offer(players, room, rate)
    after = cpu_s(pids)
    run.cpu = {name: after[name] - before[name] for name in pids}
    return run


async def _stocked(port: int) -> None:
    """Waits until the worker's stock of deals does not grow any more: a club has been open for a while."""
    level = -1.0
    async with aiohttp.ClientSession() as session:
        for _ in range(60):
            async with session.get(f"http://127.0.0.1:{port}/metrics") as response:
                found = _LEVEL.search(await response.text())
            now = float(found[1]) if found else 0.0
            if now == level and now > 0:
                return
            level = now
            await asyncio.sleep(1.0)


def report(runs: Sequence[Run]) -> str:
    """A table, and CPU by process."""
    widths = (12, 6, 7, 8, 8, 10, 8, 9)
    heads = ("offered", "pairs", "seated", "refused", "pairs/s", "median ms", "p99 ms", "worst ms")
    lines = [" ".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True))]
    for run in runs:
        row = run.row()
        lines.append(
            f"{row['offered']:>12} {row['pairs']:>6} {row['seated']:>7} {row['refused']:>8} {row['pairs_per_s']:>8} "
            f"{row['median_ms']:>10} {row['p99_ms']:>8} {row['worst_ms']:>9}"
        )
    lines.append("")
    for run in runs:
        used = sorted(run.row()["cpu_ms_a_pair"].items(), key=lambda item: -item[1])
        lines.append(f"CPU ms a pair, {run.row()['offered']}: " + ", ".join(f"{name} {ms}" for name, ms in used))
        lines += [f"  refused: {why}" for why in sorted(set(run.refused))[:3]]
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What a cluster is like, and what it is asked."""
    parser.add_argument("--room", default="bridge", help="where they seek (bridge)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="table workers (1)")
    parser.add_argument("--gateways", type=int, default=1, metavar="N", help="gateways (1)")
    parser.add_argument("--lobbies", type=int, default=1, metavar="N", help="lobbies (1)")
    parser.add_argument("--rates", type=_rates, default=RATES, metavar="N,N", help="pairs offered a second (10,50)")
    parser.add_argument("--pairs", type=int, default=500, metavar="N", help="pairs all at once (500)")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="how long pairs are offered (5)")
    parser.add_argument("--sync", default="always", metavar="T", help="sync_interval of the log (always)")


def _rates(text: str) -> tuple[float, ...]:
    rates = tuple(float(part) for part in text.split(",") if part.isdigit())
    if not rates or not all(1 <= rate <= 1_000 for rate in rates):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers from 1 to 1000")
    return rates


def run(args: argparse.Namespace) -> list[Run]:
    """Measures each rate in a cluster of its own: games of an earlier one that end would take from the next."""
    plan = [(rate, max(2, round(rate * args.seconds))) for rate in args.rates] + [(0.0, args.pairs)]
    up = ("--workers", "--gateways", "--lobbies")
    counts = [text for name in up for text in (name, str(getattr(args, name[2:])))]
    runs = []
    for rate, pairs in plan:
        with (
            tempfile.TemporaryDirectory() as folder,
            running(Path(folder) / "data", *counts, "--no-limits", "--log-sync", args.sync) as cluster,
        ):
            runs.append(uvloop.run(measure(cluster, args.room, rate, pairs)))
    return runs
