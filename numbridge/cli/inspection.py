"""What `numbridge status` finds out: every part of the cluster is asked once, all at the same time."""

import asyncio
import time
from typing import TYPE_CHECKING, Any

from numbridge.cli.cluster import ClientSettings

if TYPE_CHECKING:
    from numbridge.cli.inside import Inside
    from numbridge.routing import WorkerEntry

Shown = dict[str, Any]
Moves = dict[str, int]
"""Run of a worker -> moves it had acknowledged."""


class Inspection:
    """Asks again and again over one connection; between two times lies the rate of moves."""

    def __init__(self, inside: "Inside") -> None:
        self._inside = inside
        self._settings = inside.settings
        self._moves: Moves = {}
        self._at = 0.0

    async def look(self) -> Shown:
        """Everything the status shows.

        `complete` is false where a worker, a lobby or the ratings service did not answer, or shards have no owner.
        `moves_per_s` is null the first time, and for a worker that was not there the time before.
        """
        inside, settings = self._inside, self._settings
        entries = sorted(inside.routes.workers(), key=lambda entry: entry.name)
        addresses = [part.strip() for part in settings.lobby_addr.split(",") if part.strip()]
        workers, lobbies, ratings, streams = await asyncio.gather(
            asyncio.gather(*(_worker(settings, entry) for entry in entries)),
            asyncio.gather(*(_lobby(settings, address) for address in addresses)),
            _ratings(settings),
            _streams(inside),
        )
        self._rates(entries, workers)
        served = sum(len(shards) for shards in inside.routes.shards_by_worker().values())
        answering = [worker for worker in workers if worker["answers"]]
        lobby = next((found for found in lobbies if found["answers"]), None)

        def total(key: str) -> int:
            return sum(worker[key] for worker in answering)

        rates = [worker["moves_per_s"] for worker in answering if worker["moves_per_s"] is not None]
        whole = len(answering) == len(workers) > 0 and all(found["answers"] for found in lobbies)
        return {
            "complete": whole and ratings is not None and served == settings.shards,
            "workers": workers,
            "shards": {"all": settings.shards, "served": served},
            "games": {"playing": total("playing"), "adjourned": total("adjourned")},
            "moves_per_s": round(sum(rates), 1) if rates else None,
            "seeks": lobby and lobby["seeks"],
            "lag": {
                "results_waiting": ratings and ratings["waiting"],
                "unconfirmed": total("unconfirmed"),
                "p99_us": max((worker["p99_us"] for worker in answering), default=0),
            },
            "lobby": lobby,
            "lobbies": lobbies,
            "ratings": ratings,
            "streams": streams,
            "versions": {"nats": inside.server} | _releases(workers, lobbies, ratings),
        }

    def _rates(self, entries: "list[WorkerEntry]", workers: list[Shown]) -> None:
        now, before = time.monotonic(), self._moves
        seconds, self._at, self._moves = now - self._at, now, {}
        for entry, worker in zip(entries, workers, strict=True):
            worker["moves_per_s"] = None
            if not worker["answers"]:
                continue
            self._moves[entry.run] = worker["moves"]
            if entry.run in before:
                worker["moves_per_s"] = round((worker["moves"] - before[entry.run]) / seconds, 1)


def _releases(workers: list[Shown], lobbies: list[Shown], ratings: Shown | None) -> Shown:
    """Releases that run, each with how many processes were seen with it."""
    found: dict[str, int] = {}
    for part in (*workers, *lobbies, *([ratings] if ratings else ())):
        if part.get("release"):
            found[part["release"]] = found.get(part["release"], 0) + 1
    return {"numbridge": dict(sorted(found.items()))}


async def _worker(settings: ClientSettings, entry: "WorkerEntry") -> Shown:
    from numbridge.cli.inside import CALL_S, answer_of, calling
    from numbridge.v1.table_pb2 import GetWorkerRequest
    from numbridge.v1.table_pb2_grpc import TablesStub

    shown: Shown = {"worker": entry.name, "addr": entry.addr, "draining": entry.draining}
    async with calling(settings, entry.addr, "table") as channel:
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


async def _lobby(settings: ClientSettings, address: str) -> Shown:
    from numbridge.cli.inside import CALL_S, answer_of, calling
    from numbridge.v1.lobby_pb2 import GetLobbyRequest
    from numbridge.v1.lobby_pb2_grpc import LobbyStub

    async with calling(settings, address, "lobby") as channel:
        reply = await answer_of(LobbyStub(channel).GetLobby(GetLobbyRequest(), timeout=CALL_S))
    if reply is None:
        return {"addr": address, "answers": False}
    return {
        "addr": address,
        "answers": True,
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

    async with calling(settings, settings.ratings_addr, "ratings") as channel:
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
