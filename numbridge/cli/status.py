"""`numbridge status`: workers, shards, games, seeks and lag, on one screen."""

import argparse
import asyncio
import json
from typing import TYPE_CHECKING, Any

from numbridge.cli.cluster import ClientSettings, add_data_option, locate
from numbridge.cli.errors import DONE, FAILED
from numbridge.cli.main import COMMANDS, Subparsers

if TYPE_CHECKING:
    from numbridge.cli.inside import Inside
    from numbridge.routing import WorkerEntry

Shown = dict[str, Any]


def add_parser(subparsers: Subparsers) -> None:
    """See the protocol, section 3."""
    parser = subparsers.add_parser("status", help=COMMANDS["status"].help, description=COMMANDS["status"].help)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_data_option(parser)


def run(args: argparse.Namespace) -> int:
    """Prints it; 1 if a part of the cluster does not answer."""
    found = asyncio.run(collect(locate(args.data)))
    print(json.dumps(found, indent=1) if args.json else screen(found))
    return DONE if found["complete"] else FAILED


async def collect(settings: ClientSettings) -> Shown:
    """Everything the status shows. Raises CheckFailed if NATS can't be reached.

    `complete` is false where a worker, the lobby or the ratings service did not answer, or shards have no owner.
    """
    from numbridge.cli.inside import visit

    async with visit(settings) as inside:
        entries = sorted(inside.routes.workers(), key=lambda entry: entry.name)
        workers, lobby, ratings = await asyncio.gather(
            asyncio.gather(*(_worker(settings, entry) for entry in entries)), _lobby(settings), _ratings(settings)
        )
        served = sum(len(shards) for shards in inside.routes.shards_by_worker().values())
        streams = await _streams(inside)
    answering = [worker for worker in workers if worker["answers"]]

    def total(key: str) -> int:
        return sum(worker[key] for worker in answering)

    return {
        "complete": len(answering) == len(workers) > 0 and None not in (lobby, ratings) and served == settings.shards,
        "workers": workers,
        "shards": {"all": settings.shards, "served": served},
        "games": {"playing": total("playing"), "adjourned": total("adjourned")},
        "seeks": lobby and lobby["seeks"],
        "lag": {
            "results_waiting": ratings and ratings["waiting"],
            "unconfirmed": total("unconfirmed"),
            "p99_us": max((worker["p99_us"] for worker in answering), default=0),
        },
        "lobby": lobby,
        "ratings": ratings,
        "streams": streams,
    }


async def _worker(settings: ClientSettings, entry: "WorkerEntry") -> Shown:
    from numbridge.cli.inside import CALL_S, answer_of, calling
    from numbridge.v1.table_pb2 import GetWorkerRequest
    from numbridge.v1.table_pb2_grpc import TablesStub

    shown: Shown = {"worker": entry.name, "addr": entry.addr, "draining": entry.draining}
    async with calling(settings, entry.addr) as channel:
        reply = await answer_of(TablesStub(channel).GetWorker(GetWorkerRequest(), timeout=CALL_S))
    if reply is None:
        return shown | {"answers": False}
    return shown | {
        "answers": True,
        "draining": reply.draining,
        "shards": reply.shards,
        "playing": reply.playing,
        "adjourned": reply.adjourned,
        "unconfirmed": reply.unconfirmed,
        "moves": reply.moves,
        "p99_us": reply.p99_us,
        "release": reply.release,
    }


async def _lobby(settings: ClientSettings) -> Shown | None:
    from numbridge.cli.inside import CALL_S, answer_of, calling
    from numbridge.v1.lobby_pb2 import GetLobbyRequest
    from numbridge.v1.lobby_pb2_grpc import LobbyStub

    async with calling(settings, settings.lobby_addr) as channel:
        reply = await answer_of(LobbyStub(channel).GetLobby(GetLobbyRequest(), timeout=CALL_S))
    if reply is None:
        return None
    return {
        "lobby": reply.lobby,
        "pools": list(reply.pools),
        "seeks": reply.seeks,
        "seating": reply.seating,
        "playing": reply.playing,
        "release": reply.release,
    }


async def _ratings(settings: ClientSettings) -> Shown | None:
    from numbridge.cli.inside import CALL_S, answer_of, calling
    from numbridge.v1.ratings_pb2 import GetBacklogRequest
    from numbridge.v1.ratings_pb2_grpc import RatingsStub

    async with calling(settings, settings.ratings_addr) as channel:
        reply = await answer_of(RatingsStub(channel).GetBacklog(GetBacklogRequest(), timeout=CALL_S))
    if reply is None:
        return None
    return {"waiting": reply.waiting, "done": reply.done, "release": reply.release}


async def _streams(inside: "Inside") -> Shown:
    """Messages and bytes of the two logs; null where a stream is not there yet."""
    import nats.errors
    import nats.js.errors

    from numbridge import names

    found: Shown = {}
    for name in (names.TABLES, names.RESULTS):
        try:
            state = (await inside.js.stream_info(name)).state
            found[name] = {"messages": state.messages, "bytes": state.bytes}
        except (nats.js.errors.Error, nats.errors.Error, TimeoutError):
            found[name] = None
    return found


_COLUMNS = ("worker", "addr", "shards", "playing", "adjourned", "unconfirmed", "moves", "p99", "state")


def screen(found: Shown) -> str:
    """The status for eyes."""
    rows: list[tuple[str, ...]] = [_COLUMNS]
    for worker in found["workers"]:
        numbers = ["?"] * 6
        state = "does not answer"
        if worker["answers"]:
            numbers = [*(str(worker[key]) for key in _COLUMNS[2:7]), f"{worker['p99_us'] / 1000:.1f} ms"]
            state = "draining" if worker["draining"] else "serving"
        rows.append((worker["worker"], worker["addr"], *numbers, state))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    shards, games, lag = found["shards"], found["games"], found["lag"]
    lobby, ratings = found["lobby"], found["ratings"]
    lines += ["", f"shards   {shards['served']} of {shards['all']} served"]
    lines.append(f"games    {games['playing']} playing, {games['adjourned']} adjourned")
    if lobby is None:
        lines.append("lobby    does not answer")
    else:
        lines.append(f"lobby    {lobby['seeks']} seeks open, {lobby['seating']} matches being seated")
    waiting = "ratings service does not answer" if ratings is None else f"{ratings['waiting']} results waiting"
    lines.append(f"lag      {waiting}, {lag['unconfirmed']} finished games not yet known to be archived")
    for name, state in found["streams"].items():
        size = "not there" if state is None else f"{state['messages']} messages, {state['bytes'] / 2**20:.1f} MiB"
        lines.append(f"{name:<8} {size}")
    return "\n".join(lines)
