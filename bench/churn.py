"""Whether seeks leave anything behind: `python -m bench.churn [--seeks 10000]`.

A cluster of real processes. Guests come in waves and seek: some are matched and resign, some cancel, some just go.
When all have gone, what the cluster holds must be what it held before: Redis keys and the sizes of what they hold,
tasks, subscriptions and gauges of every process. Kept on purpose: who met whom last (two hours), and the streams of
changes and of matches, which are bounded. Exit code 1 if anything else is left.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import aiohttp
import redis.asyncio
import uvloop

from bench.conditions import Conditions
from bench.lean import Event, Player, guests
from tests.helpers.cluster import Cluster, running

WAVE = 200  # guests at a time
PATIENCE_S = 60.0
SETTLING_S = 300.0  # longest wait until what lives for a while on purpose has gone
_GAUGES = re.compile(
    r"^(numbridge_(?:asyncio_tasks|gateway_(?:bus_subscriptions|subscriptions|views|players|connections|link_waiting)"
    r"|lobby_(?:pool_seeks|matches_in_hand)|tablesvc_(?:tables|mailbox_waiting|unconfirmed_results)))"
    r"(\{[^}]*\})? (\S+)$",
    re.MULTILINE,
)
_KEPT = re.compile(r"^nb:\{lobby\}:(last|changes|seating|marks|gateways)$|^nb:board:")
_TASKS = 4  # timers and calls under way when a process is asked


async def look(cluster: Cluster) -> dict[str, float]:
    """What the cluster holds."""
    held: dict[str, float] = {}
    facts = cluster.facts()
    async with aiohttp.ClientSession() as session:
        for process in facts["processes"]:
            if process["metrics_port"] is None:
                continue
            async with session.get(f"http://127.0.0.1:{process['metrics_port']}/metrics") as response:
                for name, labels, value in _GAUGES.findall(await response.text()):
                    held[f"{process['name']} {name}{labels}"] = float(value)
    store = redis.asyncio.Redis.from_url(facts["redis_url"], decode_responses=True)
    try:
        async for key in store.scan_iter(count=1000):
            if not _KEPT.match(key):
                held[f"Redis {key}"] = await _size(store, key)
    finally:
        await store.aclose()
    return held


async def _size(store: "redis.asyncio.Redis", key: str) -> float:
    size = {"hash": store.hlen, "zset": store.zcard, "set": store.scard, "stream": store.xlen}.get(
        str(await store.type(key))
    )
    return float(await size(key)) if size is not None else 1.0


def left(before: dict[str, float], after: dict[str, float]) -> list[str]:
    """What there is more of than before."""
    return [
        f"{name}: {before.get(name, 0.0):g} then {value:g}"
        for name, value in sorted(after.items())
        if value > before.get(name, 0.0) + (_TASKS if "asyncio_tasks" in name else 0)
    ]


async def wave(urls: list[str], count: int, room: str) -> Counter[str]:
    """`count` guests seek and go: of four, two are matched, one cancels, one just goes."""
    done: Counter[str] = Counter()
    players = await guests(urls, count)
    matched = count // 2 // 2 * 2
    finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    waiting = set(players)

    def ends(player: Player, how: str) -> None:
        if player in waiting:
            waiting.discard(player)
            done[how] += 1
            if not waiting and not finished.done():
                finished.set_result(None)

    def heard(player: Player, event: Event) -> None:
        number = numbers[player]
        if event.ev == "error":
            ends(player, f"refused: {event.code}")
        elif event.ref == "seek" and event.ev == "ok" and number >= matched:
            if number % 2:
                ends(player, "abandoned")
            else:
                player.send(json.dumps({"op": "cancel_seek", "ref": "cancel", "seek": event.seek}).encode())
        elif event.ref == "cancel" and event.ev == "ok":
            ends(player, "cancelled")
        elif event.ev == "seated":
            if event.color == "blue":
                resign = {"op": "play", "ref": "resign", "game": event.game, "version": 0, "action": {"kind": "resign"}}
                player.send(json.dumps(resign).encode())
            else:
                ends(player, "matched")
        elif event.ref == "resign" and event.ev == "ok":
            ends(player, "matched")

    numbers = {player: number for number, player in enumerate(players)}
    for player, number in numbers.items():
        player.on_event = heard
        nobody = {"rating": [1, 2]} if number >= matched else {}
        player.send(json.dumps({"op": "seek", "ref": "seek", "room": room, **nobody}).encode())
    try:
        async with asyncio.timeout(PATIENCE_S):
            await finished
    except TimeoutError:
        done["unfinished"] += len(waiting)
    for player in players:
        player.close()
    return done


async def churn(cluster: Cluster, seeks: int, room: str = "study") -> tuple[Counter[str], list[str]]:
    """What became of the seeks, and what is left of them."""
    done = await wave(cluster.urls, 8, room)  # everything has been used once
    await _settled(cluster, {}, 10.0)
    before = await look(cluster)
    while sum(done.values()) - 8 < seeks:
        done += await wave(cluster.urls, min(WAVE, seeks + 8 - sum(done.values())), room)
        print(f"\r{sum(done.values()) - 8} seeks", end="", file=sys.stderr)
    print(file=sys.stderr)
    return done, await _settled(cluster, before, SETTLING_S)


async def _settled(cluster: Cluster, before: dict[str, float], longest_s: float) -> list[str]:
    """What is left once nothing goes any more, or after `longest_s`."""
    end = asyncio.get_running_loop().time() + longest_s
    while True:
        found = left(before, await look(cluster))
        if not found or asyncio.get_running_loop().time() >= end:
            return found
        await asyncio.sleep(2.0)


def main(argv: list[str] | None = None) -> int:
    """Prints what became of the seeks, and what is left."""
    parser = argparse.ArgumentParser(prog="python -m bench.churn", description="Whether seeks leave anything behind.")
    parser.add_argument("--seeks", type=int, default=10_000, metavar="N")
    args = parser.parse_args(argv)
    if not 8 <= args.seeks <= 1_000_000:
        parser.error("--seeks must be 8 to 1000000")
    conditions = Conditions()
    soon = {"NUMBRIDGE_KEEP_OVER_MS": "2000"}  # finished games go sooner than they would
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "data", "--no-limits", "--log-sync", "2m", env=soon) as cluster,
    ):
        done, found = uvloop.run(churn(cluster, args.seeks))
    print(", ".join(f"{count} {what}" for what, count in done.most_common()))
    print("left: " + ("nothing" if not found else "\n  ".join(["", *found])))
    print(conditions.line())
    wrong = [what for what in done if what.startswith(("refused", "unfinished"))]
    return 1 if found or wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
