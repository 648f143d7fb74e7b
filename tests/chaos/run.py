"""One run: a cluster, players, spectators, faults; then quiet, and the audit."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import nats

from numbridge import ids
from numbridge.routing import Routes
from tests.chaos import faults
from tests.chaos.audit import Archive, Finding, judge
from tests.chaos.faults import Injector
from tests.chaos.ledger import Ledger
from tests.chaos.pilot import Pilot
from tests.chaos.processes import Processes
from tests.chaos.report import Report
from tests.chaos.watcher import Watcher
from tests.helpers.cluster import Cluster, command

ROOMS = Path(__file__).with_name("rooms.toml")
SHARDS = 256
BUSY_S = 60.0  # for players to come to tables at first
FINISH_S, RESIGN_S = 40.0, 60.0  # for games to come to their end, and for what then resigns
ARCHIVE_S = 90.0  # until every result is in SQL
_PAGE = 100


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a run is asked for."""

    seconds: float = 300.0
    seed: int = 1
    players: int = 48
    watchers: int = 4
    think_s: tuple[float, float] = (0.1, 0.9)
    most_faults: int = 1_000
    """A lane."""
    only: frozenset[str] = frozenset(faults.KINDS)
    """Kinds of fault."""


class Run:
    """A run on a cluster that is up."""

    def __init__(self, cluster: Cluster, wishes: Wishes, say: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._wishes = wishes
        self._say = say
        self._began = time.monotonic()
        self._began_at = time.time()
        self._ledger = Ledger()
        self._processes = Processes(cluster)
        self._processes.listen()
        self._pilots: list[Pilot] = []
        self._routes: Routes | None = None

    def clock(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    async def __call__(self) -> Report:
        """All of it."""
        facts = self._cluster.facts()
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with aiohttp.ClientSession(connector=connector) as session:
            client = await nats.connect(
                facts["nats_url"], max_reconnect_attempts=-1, reconnect_time_wait=0.2, error_cb=_expected
            )
            try:
                self._routes = await Routes.open(client.jetstream(), SHARDS, 1)
                await self._routes.start()
                injector = Injector(self._processes, facts["redis_url"], self.clock, self._touched, self._tell)
                seconds = await self._load(session, injector)
                archive, findings = await self._archive(session)
            finally:
                if self._routes is not None:
                    await self._routes.stop()
                await client.close()
        report = Report(self._wishes.seed, seconds, injector.faults, self._ledger, findings)
        report.findings += judge(self._ledger, archive)
        report.ended = Counter(record["end"]["reason"] for record in archive.records.values())
        report.running = len(archive.running)
        report.notes += [self._absent(record) for record in archive.records.values() if _no_show(record)]
        report.notes.append(self._replayed(archive))
        report.notes.append(self._rebuilt(report))
        return report

    def _tell(self, line: str) -> None:
        self._say(f"{self.clock():6.1f} s  {line}")

    # --- load

    async def _load(self, session: aiohttp.ClientSession, injector: Injector) -> float:
        """Players play and faults come; then it is quiet and games come to their end. Seconds with faults."""
        wishes, urls = self._wishes, list(self._processes.urls)
        dice = Random(wishes.seed)
        for number in range(wishes.players):
            token, player = await _guest(session, urls[0], f"Player {number}")
            rng = Random(dice.random())
            self._pilots.append(Pilot(session, urls, token, player, self._ledger, rng, self.clock, wishes.think_s))
        watchers = []
        for number in range(wishes.watchers):
            token, _ = await _guest(session, urls[0], f"Watcher {number}")
            rng = Random(dice.random())
            watchers.append(Watcher(session, urls, token, f"watcher {number}", self._ledger, rng, self.clock))
        playing = [asyncio.create_task(pilot.run()) for pilot in self._pilots]
        watching = [asyncio.create_task(watcher.run()) for watcher in watchers]
        await self._until_busy()
        began = self.clock()
        lanes = [
            faults.lane(parts, Random(f"{wishes.seed} {parts}"), wishes.only) for parts in (faults.PLAY, faults.ASIDE)
        ]
        until = began + wishes.seconds
        injecting = [asyncio.create_task(injector.run(lane, until, wishes.most_faults)) for lane in lanes]
        try:
            await _all(*injecting, asyncio.create_task(asyncio.sleep(wishes.seconds)), unless=playing + watching)
        except BaseException:
            for task in (*injecting, *playing, *watching):
                task.cancel()
            await asyncio.gather(*injecting, *playing, *watching, return_exceptions=True)
            raise
        seconds = self.clock() - began
        self._tell(f"{len(injector.faults)} faults are over; {len(self._ledger.games)} games so far")
        for pilot in self._pilots:
            pilot.stopping = True
        await self._finish(playing)
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        for watcher in watchers:
            await watcher.line.close()
        return seconds

    async def _until_busy(self) -> None:
        """Faults come once most players are at tables."""
        while sum(pilot.seat is not None for pilot in self._pilots) < len(self._pilots) * 0.6:
            if self.clock() > BUSY_S:
                raise AssertionError("the players don't come to tables, without any fault")
            await asyncio.sleep(0.1)
        self._tell("the players are at their tables")

    async def _finish(self, playing: list["asyncio.Task[None]"]) -> None:
        late: set[asyncio.Task[None]] = set()
        for patience_s, tired in ((FINISH_S, False), (RESIGN_S, True)):
            for pilot in self._pilots:
                pilot.tired = tired
            done, late = await asyncio.wait(playing, timeout=patience_s)
            for task in done:
                task.result()
            if not late:
                return
        for pilot, task in zip(self._pilots, playing, strict=True):
            if task in late:
                self._ledger.odd("missing", self.clock(), "", f"{pilot.id} could not finish {pilot.seat}")
                task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _touched(self, what: str, name: str) -> frozenset[str]:
        """Games being played in which a fault can be felt now."""
        found = set()
        for pilot in self._pilots:
            if pilot.seat is None or pilot.seat.over:
                continue
            game = pilot.seat.game
            if what == "worker":
                owner = self._routes.owner(ids.shard_of(game, SHARDS)) if self._routes is not None else None
                if owner is None or owner.worker != name:
                    continue
            elif what == "gateway" and self._processes.urls.get(pilot.line.url) != name:
                continue
            found.add(game)
        return frozenset(found)

    # --- the end

    async def _archive(self, session: aiohttp.ClientSession) -> tuple[Archive, list[Finding]]:
        """What the cluster says of every game and player, once all that is under way has come through."""
        away = await self._processes.until_all_ready(60)
        findings = [Finding("missing", "", self.clock(), f"{name} is not ready at the end") for name in away]
        self._tell("asking for records and ratings")
        url, archive = next(iter(self._processes.urls)), Archive()
        end = self.clock() + ARCHIVE_S
        left = set(self._ledger.games)
        while left and self.clock() < end:
            for game in sorted(left):
                status, body = await _get(session, f"{url}/api/games/{game}/record")
                if status == 200:
                    archive.records[game] = body
            left -= set(archive.records)
            if left:
                await asyncio.sleep(1)
        for game in left:
            status, body = await _get(session, f"{url}/api/games/{game}")
            if status == 200 and body["view"]["status"] != "over":
                archive.running.add(game)
            else:
                findings.append(Finding("missing", game, 0, f"no record: {status} {str(body)[:200]}"))
        for pilot in self._pilots:
            status, archive.profiles[pilot.id] = await _get(session, f"{url}/api/players/{pilot.id}")
            if status != 200:
                findings.append(Finding("rating", "", 0, f"{pilot.id}: {status} {archive.profiles.pop(pilot.id)}"))
            archive.games[pilot.id] = await _games_of(session, url, pilot.id)
        return archive, findings

    def _absent(self, record: dict[str, Any]) -> str:
        """A game that somebody did not come to: when its players heard of it."""
        game, opened = record["game"], record["started_at"] / 1000 - self._began_at
        heard = {
            color: self._ledger.first_heard.get((player["id"], game)) for color, player in record["players"].items()
        }
        said = ", ".join(f"{color} " + ("never" if at is None else f"at {at:.1f} s") for color, at in heard.items())
        return f"nobody came to {game}, opened at {opened:.1f} s; heard of by {said}"

    def _replayed(self, archive: Archive) -> str:
        """Every record under the rules, by `numbridge replay`."""
        folder = self._cluster.data / "records"
        folder.mkdir(exist_ok=True)
        paths = []
        for game, record in archive.records.items():
            paths.append(folder / f"{game}.json")
            paths[-1].write_text(json.dumps(record))
        if not paths:
            return "no record to replay"
        done = command("replay", "--json", *map(str, paths))
        bad = [line for line in done.stdout.splitlines() if json.loads(line)["error"] is not None]
        if done.returncode != 0:
            raise AssertionError(f"records break the rules: {bad[:3]} {done.stderr[:500]}")
        return f"{len(paths)} records replayed, all legal"

    def _rebuilt(self, report: Report) -> str:
        """Ratings computed anew from the archive."""
        done = command("ratings", "rebuild", "--data", str(self._cluster.data))
        said = done.stdout.strip() or done.stderr.strip()
        if done.returncode != 0 or not said.endswith(" 0 changed"):
            report.findings.append(Finding("rating", "", 0, f"rebuilt: {said}"))
        return f"ratings computed anew: {said}"


def _no_show(record: dict[str, Any]) -> bool:
    return bool(record["end"]["reason"] == "no_show")


async def _all(*tasks: "asyncio.Task[None]", unless: list["asyncio.Task[None]"]) -> None:
    """Waits for all of `tasks`; an error of any, or of one of `unless`, is raised at once."""
    waiting = set(tasks)
    while waiting:
        done, _ = await asyncio.wait([*waiting, *unless], return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        if not done & waiting:
            raise AssertionError("a player has stopped playing")
        waiting -= done


async def _expected(_error: Exception) -> None:
    """NATS goes away now and then."""


async def _guest(session: aiohttp.ClientSession, url: str, name: str) -> tuple[str, dict[str, Any]]:
    async with session.post(f"{url}/api/guests", json={"name": name}) as response:
        body = await response.json()
        return body["token"], body["player"]


async def _get(session: aiohttp.ClientSession, url: str) -> tuple[int, Any]:
    for _ in range(60):
        try:
            async with asyncio.timeout(10), session.get(url) as response:
                if response.status not in (429, 503):
                    return response.status, await response.json()
        except (aiohttp.ClientError, OSError, TimeoutError):
            pass
        await asyncio.sleep(1)
    return 0, "no answer"


async def _games_of(session: aiohttp.ClientSession, url: str, player: str) -> list[str]:
    games: list[str] = []
    before = ""
    while True:
        status, body = await _get(session, f"{url}/api/players/{player}/games?limit={_PAGE}{before}")
        if status != 200:
            return games
        games += [entry["game"] for entry in body["games"]]
        if "next" not in body:
            return games
        before = f"&before={body['next']}"


def run(cluster: Cluster, wishes: Wishes, say: Callable[[str], None]) -> Coroutine[Any, Any, Report]:
    """A run on a cluster that is up; await it."""
    return Run(cluster, wishes, say)()
