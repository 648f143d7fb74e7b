"""Whether anything grows that should not: `python -m bench.soak [--minutes M] [--games N]`.

A cluster of real processes plays short games one after the other, always the same number at once: games are seated,
played, rated, archived and forgotten. Each few seconds it is asked what it holds. What is kept for good (records and
ratings in SQL) may grow; everything else must be at the end what it was after the first quarter, give or take.
Exit code 1 if it was not, and the run was long enough to tell.
"""

import argparse
import asyncio
import re
import statistics
import sys
import tempfile
from pathlib import Path

import aiohttp
import redis.asyncio
import uvloop

from bench.conditions import Conditions
from numbridge import names, nats_io
from numbridge.cli.cluster import locate
from numbridge.load.crowd import Crowd
from numbridge.load.tally import Tally
from numbridge.load.usage import LocalMeter
from tests.helpers.cluster import Cluster, running

LONG_ENOUGH_S = 300.0
GROWTH = 1.15  # of the median of the last quarter to that of the second: what Python's memory wanders by
SAMPLES = 40
_GAUGES = re.compile(
    r"^(numbridge_(?:gateway_(?:subscriptions|views|players|connections)|tablesvc_(?:tables|unconfirmed_results)))"
    r"(?:\{[^}]*\})? (\S+)$",
    re.MULTILINE,
)
_SMALL = 50.0  # below this a count may wander as it likes

Series = dict[str, list[float]]


async def _look(
    cluster: Cluster, crowd: Crowd, meter: LocalMeter, session: aiohttp.ClientSession, into: Series
) -> None:
    """One sample of everything."""
    seen: dict[str, float] = {f"MiB {name}": value for name, value in (await meter.read()).memory_mib.items()}
    facts = cluster.facts()
    for process in facts["processes"]:
        if process["kind"] not in ("gateway", "table"):
            continue
        async with session.get(f"http://127.0.0.1:{process['metrics_port']}/metrics") as response:
            for name, value in _GAUGES.findall(await response.text()):
                seen[name] = seen.get(name, 0.0) + float(value)
    store = redis.asyncio.Redis.from_url(facts["redis_url"])
    try:
        seen["Redis keys"] = float(await store.dbsize())
    finally:
        await store.aclose()
    client = await nats_io.connect(locate(cluster.data))
    try:
        for stream in (names.TABLES, names.RESULTS):
            seen[f"messages in {stream}"] = float((await client.jetstream().stream_info(stream)).state.messages)
    finally:
        await client.close()
    seen["games under way"] = float(crowd.playing)
    for name, value in seen.items():
        into.setdefault(name, []).append(value)


async def soak(cluster: Cluster, games: int, seconds: float) -> tuple[Series, Tally]:
    """Plays and looks; what was seen, sample by sample, and what the players measured."""
    meter = LocalMeter({entry["name"]: entry["pid"] for entry in cluster.facts()["processes"]})
    seen: Series = {}
    async with Crowd(cluster.urls, "study", 0.15, seed=1) as crowd, aiohttp.ClientSession() as session:
        await crowd.resize(games)
        loop = asyncio.get_running_loop()
        end, pause = loop.time() + seconds, seconds / SAMPLES
        while loop.time() < end:
            await asyncio.sleep(pause)
            await _look(cluster, crowd, meter, session, seen)
            print(f"\r{max(0.0, end - loop.time()):5.0f} s left, {crowd.tally.games} games", end="", file=sys.stderr)
        print(file=sys.stderr)
        return seen, crowd.tally


def judge(seen: Series) -> tuple[str, list[str]]:
    """The table, and what has grown."""
    lines, grown = [f"{'':36}{'2nd quarter':>14}{'last quarter':>14}{'ratio':>8}"], []
    for name, values in seen.items():
        quarter = max(1, len(values) // 4)
        before, after = statistics.median(values[quarter : 2 * quarter] or values), statistics.median(values[-quarter:])
        ratio = after / before if before else float("inf") if after else 1.0
        lines.append(f"{name:36}{before:14.1f}{after:14.1f}{ratio:8.2f}")
        if ratio > GROWTH and (after > _SMALL or name.startswith("MiB")):
            grown.append(name)
    return "\n".join(lines), grown


def main(argv: list[str] | None = None) -> int:
    """Parses the command line and soaks."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description="Whether anything grows.")
    parser.add_argument("--minutes", type=float, default=60.0, metavar="M", help="how long (60)")
    parser.add_argument("--games", type=int, default=40, metavar="N", help="games at once (40)")
    args = parser.parse_args(argv)
    if not 0.1 <= args.minutes <= 24 * 60 or not 1 <= args.games <= 2_000:
        parser.error("--minutes must be 0.1 to 1440, --games 1 to 2000")
    conditions = Conditions()
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "data", "--workers", "2", "--no-limits") as cluster,
    ):
        seen, tally = uvloop.run(soak(cluster, args.games, args.minutes * 60))
    table, grown = judge(seen)
    errors = ", ".join(f"{count} {what}" for what, count in tally.errors.items()) or "none"
    print(
        f"{args.games} games at once, {tally.games} games played, {len(tally.shown)} moves, errors: {errors}\n\n{table}"
    )
    print("\n" + conditions.line())
    if grown:
        print("\ngrew: " + ", ".join(grown))
    if args.minutes * 60 < LONG_ENOUGH_S:
        print(f"\nshorter than {LONG_ENOUGH_S / 60:g} minutes: says nothing of growth")
        return 0
    return 1 if grown else 0


if __name__ == "__main__":
    raise SystemExit(main())
