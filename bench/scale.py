"""How cost grows: `python -m bench.scale games|shape|sockets|takeover`. Figures for the model in docs/capacity.md.

games      CPU of a move and memory of a game while more and more games are held
shape      moves a second with one or two workers and gateways
sockets    idle sockets on one gateway: memory each, and a move beside them
takeover   a worker is killed: how long its games stand still, against how many it has
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import uvloop

from bench import lean
from bench.conditions import Conditions
from numbridge.load.usage import LocalMeter, Usage
from numbridge.local_servers import bound
from tests.helpers.cluster import Cluster, running

FLIGHT = 64  # moves under way where tables take turns
AWAY_S = 60.0  # longer than any takeover


def _meter(cluster: Cluster) -> LocalMeter:
    return LocalMeter({entry["name"]: entry["pid"] for entry in cluster.facts()["processes"] if entry["pid"]})


def _cpu(before: Usage, after: Usage, moves: int) -> float:
    """Microseconds a move, all processes."""
    return 1e6 * sum(after.cpu_s[name] - before.cpu_s.get(name, 0.0) for name in after.cpu_s) / max(1, moves)


async def _played(cluster: Cluster, seats: list[lean.Pair], seconds: float) -> tuple[lean.Seen, float]:
    """What was seen, and CPU µs a move of all services and servers."""
    meter = _meter(cluster)
    await lean.play(seats, 1.0, FLIGHT)
    before = await meter.read()
    seen = await lean.play(seats, seconds, FLIGHT)
    return seen, _cpu(before, await meter.read(), len(seen.both))


def _held(start: Usage, now: Usage, games: int) -> str:
    """Memory that so many games have added, in all and by process; "" for none."""
    if not games:
        return ""
    grown = {name: 1024 * (now.memory_mib[name] - start.memory_mib.get(name, 0.0)) / games for name in now.memory_mib}
    return f"{sum(grown.values()):6.1f}: " + ", ".join(f"{name} {kib:.1f}" for name, kib in grown.items())


async def games(cluster: Cluster, sizes: Sequence[int], seconds: float) -> None:
    """Prints a line a size."""
    print(f"{'games':>7}{'moves/s':>9}{'CPU µs a move':>15}{'median ms':>11}   KiB a game and its players, by process")
    meter, seats = _meter(cluster), await lean.pairs(cluster.urls, sizes[0], "study")
    first, start = len(seats), await meter.read()
    for size in sizes:
        if size > len(seats):
            seats += await lean.pairs(cluster.urls, size - len(seats), "study")
        seen, cpu = await _played(cluster, seats, seconds)
        now = await meter.read()
        median = 1e3 * statistics.median(seen.both)
        held = _held(start, now, size - first)
        print(f"{size:7}{len(seen.both) / seconds:9.0f}{cpu:15.0f}{median:11.1f}   {held}", flush=True)


async def shape(cluster: Cluster, name: str, tables: int, seconds: float) -> None:
    """Prints a line."""
    seats = await lean.pairs(cluster.urls, tables, "study")
    seen, cpu = await _played(cluster, seats, seconds)
    median = 1e3 * statistics.median(seen.both)
    print(f"{name:24}{len(seen.both) / seconds:9.0f}{cpu:15.0f}{median:11.1f}", flush=True)


async def sockets(cluster: Cluster, count: int, seconds: float) -> None:
    """Prints memory and a move's latency without and with idle sockets."""
    meter, seats = _meter(cluster), await lean.pairs(cluster.urls, 1, "study")
    alone = await lean.play(seats, seconds)
    before = await meter.read()
    crowds = []
    for start in range(0, count, 9_000):  # a process may have only so many open files
        some = min(9_000, count - start)
        crowds.append(
            await asyncio.create_subprocess_exec(
                *bound([sys.executable, "-m", "bench.scale", "hold", cluster.urls[0], str(some)]),
                stdout=asyncio.subprocess.PIPE, start_new_session=True,
            )
        )  # fmt: skip
    try:
        for crowd in crowds:
            if crowd.stdout is None or not (await crowd.stdout.readline()).startswith(b"there"):
                raise RuntimeError("the sockets could not be opened")
        among = await lean.play(seats, seconds)
        after = await meter.read()
    finally:
        for crowd in crowds:
            crowd.kill()
            await crowd.wait()
    each = 1024 * (after.memory_mib["gateway-1"] - before.memory_mib["gateway-1"]) / count
    one, two = (1e3 * statistics.median(seen.both) for seen in (alone, among))
    print(f"{count} idle sockets: {each:.1f} KiB each at the gateway")
    print(f"a move, median: {one:.2f} ms without them, {two:.2f} ms with them, ratio {two / one:.2f}")


async def hold(url: str, count: int) -> None:
    """Keeps `count` greeted guests until killed."""
    players = await lean.guests([url], count)
    print("there", len(players), flush=True)
    await asyncio.Event().wait()


async def takeover(cluster: Cluster, sizes: Sequence[int]) -> None:
    """Prints a line a size."""
    print(f"{'games':>7}{'of it':>9}{'first answer s':>16}{'median s':>10}{'all s':>8}")
    seats: list[lean.Pair] = []
    for size in sizes:
        if size > len(seats):
            seats += await lean.pairs(cluster.urls, size - len(seats), "study")
        await lean.play(seats, 2.0, FLIGHT)  # every game has a history
        cluster.kill("table-1")
        started = time.perf_counter()
        again = sorted(await asyncio.gather(*(pair.answers_again(started, AWAY_S) for pair in seats)))
        stood = [took for took in again if took > 0.2]  # the others were another worker's
        if not stood:
            raise RuntimeError("the killed worker had no games")
        print(f"{size:7}{len(stood):9}{stood[0]:16.2f}{statistics.median(stood):10.2f}{stood[-1]:8.2f}", flush=True)


def _sizes(text: str) -> list[int]:
    sizes = [int(part) for part in text.split(",")]
    if not sizes or sizes != sorted(set(sizes)) or not 1 <= sizes[0] <= sizes[-1] <= 20_000:
        raise argparse.ArgumentTypeError("rising numbers from 1 to 20000, with commas between")
    return sizes


def main(argv: list[str] | None = None) -> int:
    """Parses the command line and measures."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description="How cost grows.")
    parser.add_argument("what", choices=("games", "shape", "sockets", "takeover", "hold"))
    parser.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=_sizes, default=[10, 100, 1000], metavar="N,N", help="games (10,100,1000)")
    parser.add_argument("--sockets", type=int, default=5_000, metavar="N", help="idle sockets (5000)")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="of each measurement (5)")
    args = parser.parse_args(argv)
    if args.what == "hold":
        uvloop.run(hold(args.rest[0], int(args.rest[1])))
        return 0
    if not 0.5 <= args.seconds <= 600 or not 1 <= args.sockets <= 19_000:
        parser.error("--seconds must be 0.5 to 600, --sockets 1 to 19000")
    conditions = Conditions()
    shapes = (
        [(1, 1), (2, 1), (1, 2), (2, 2)] if args.what == "shape" else [(2, 1) if args.what == "takeover" else (1, 1)]
    )
    if args.what == "shape":
        print(f"{'':24}{'moves/s':>9}{'CPU µs a move':>15}{'median ms':>11}")
    for workers, gateways in shapes:
        with tempfile.TemporaryDirectory() as folder:
            up = ("--workers", str(workers), "--gateways", str(gateways), "--no-limits", "--log-sync", "2m")
            with running(Path(folder) / "data", *up, env=lean.QUIET) as cluster:
                if args.what == "games":
                    uvloop.run(games(cluster, args.sizes, args.seconds))
                elif args.what == "sockets":
                    uvloop.run(sockets(cluster, args.sockets, args.seconds))
                elif args.what == "takeover":
                    uvloop.run(takeover(cluster, args.sizes))
                else:
                    name = f"{workers} worker{'s'[: workers > 1]}, {gateways} gateway{'s'[: gateways > 1]}"
                    uvloop.run(shape(cluster, name, args.sizes[-1], args.seconds))
    print("\n" + conditions.line())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
