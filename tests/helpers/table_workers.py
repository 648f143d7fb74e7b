"""Table workers in this process, and a gateway's side of the link to them."""

import asyncio
import itertools
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

from grpc import aio
from prometheus_client import CollectorRegistry

from numbridge import rpc
from numbridge.errors import Reason, Rejected, from_proto
from numbridge.ids import new_game_id
from numbridge.local_servers import free_port
from numbridge.settings import CommonSettings
from numbridge.v1 import common_pb2 as common
from numbridge.v1 import table_pb2 as pb
from numbridge.v1 import table_pb2_grpc
from tablesvc.codec import settings_to_proto
from tablesvc.engine.settings import GameSettings
from tablesvc.placement import assignment
from tablesvc.settings import TableSettings
from tablesvc.wiring import Home, TableApp, build
from tests.helpers.eventually import eventually
from tests.helpers.memory_tables import QuickDealer
from tests.helpers.tables import BLITZ

SHARDS = 16
FAST: dict[str, Any] = {
    "shards": SHARDS,
    "lease_ttl_ms": 600,
    "lease_beat_ms": 100,
    "presence_ms": 20,
    "append_timeout_ms": 300,
    "answer_ms": 2_000,
    "stall_ms": 400,
    "keep_over_ms": 100,
    "result_retry_ms": 300,
    "handover_wait_ms": 500,
}


class WorkerUnderTest:
    """A worker, its channel, and a gateway's link to it."""

    def __init__(self, app: TableApp) -> None:
        self.app = app
        self.channel = rpc.channel(app.settings, f"127.0.0.1:{app.port}", "table")
        self.stub = table_pb2_grpc.TablesStub(self.channel)
        self.link = LinkClient(self.stub)

    @classmethod
    async def start(
        cls, name: str, *, nats_url: str = "", home: Home | None = None, **changes: Any
    ) -> "WorkerUnderTest":
        settings = TableSettings(name=name, nats_url=nats_url, **{**FAST, **changes})
        app = build(settings, registry=CollectorRegistry(), home=home, dealer=QuickDealer())
        await app.start()
        return cls(app)

    @property
    def shards(self) -> set[int]:
        """Shards that it serves."""
        return {n for n, shard in self.app.registry_of_tables.shards.items() if shard.phase.name == "SERVING"}

    async def create(self, game: str, settings: GameSettings = BLITZ, blue: str = "ada", red: str = "bob") -> Any:
        """CreateTable. Raises Rejected."""
        return await call(self.stub.CreateTable(WorkerUnderTest.wanted(game, settings, blue, red)))

    @staticmethod
    def wanted(game: str, settings: GameSettings = BLITZ, blue: str = "ada", red: str = "bob") -> pb.CreateTableRequest:
        """What a lobby asks for."""
        return pb.CreateTableRequest(
            game=game,
            room=settings.variant,
            settings=settings_to_proto(settings),
            blue=common.Player(id=blue, name=blue.title(), rating=1500),
            red=common.Player(id=red, name=red.title()),
        )

    async def close(self) -> None:
        """Stops without handing anything over: shards stay named after it until its lease is over."""
        await self.link.close()
        await self.channel.close(None)
        await self.app.stop()


async def call(unary: Any) -> Any:
    """A unary call's reply. Raises Rejected."""
    try:
        return await unary
    except aio.AioRpcError as error:
        raise rpc.reason_of(error) from error


class WorkerProcess:
    """A worker as its own process, as it runs in production; deals come from its real stock."""

    def __init__(self, name: str, nats_url: str, **changes: Any) -> None:
        self.name = name
        self.port = free_port()
        self._env = {
            **os.environ,
            "NUMBRIDGE_NAME": name,
            "NUMBRIDGE_NATS_URL": nats_url,
            "NUMBRIDGE_GRPC_PORT": str(self.port),
            "NUMBRIDGE_LOG_FORMAT": "text",
            **{f"NUMBRIDGE_{key.upper()}": str(value) for key, value in {**FAST, **changes}.items()},
        }
        self.process: asyncio.subprocess.Process | None = None
        self.settings = CommonSettings(name="gw")

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tablesvc.main", env=self._env, stderr=asyncio.subprocess.DEVNULL
        )
        self.channel = rpc.channel(self.settings, f"127.0.0.1:{self.port}", "table")
        self.stub = table_pb2_grpc.TablesStub(self.channel)
        self.link = LinkClient(self.stub)

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def end(self) -> None:
        assert self.process is not None
        await self.link.close()
        await self.channel.close(None)
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


class LinkClient:
    """One link: requests matched with answers by number."""

    def __init__(self, stub: Any) -> None:
        self._stub = stub
        self._requests = itertools.count(1)
        self._answers: dict[int, asyncio.Future[pb.Answer]] = {}
        self._out: asyncio.Queue[pb.LinkUp] = asyncio.Queue(maxsize=10_000)
        self._reader: asyncio.Task[None] | None = None

    async def _outgoing(self) -> AsyncIterator[pb.LinkUp]:
        while True:
            yield await self._out.get()

    async def _read(self) -> None:
        try:
            async for down in self._stub.Link(self._outgoing()):
                for answer in down.answers:
                    self._answers.pop(answer.request).set_result(answer)
        except aio.AioRpcError:
            pass
        for future in self._answers.values():
            future.set_exception(ConnectionError("the link has ended"))
        self._answers.clear()

    def _begin(self) -> None:
        if self._reader is None:
            self._reader = asyncio.create_task(self._read())

    async def ask(self, game: str, **kind: Any) -> pb.Answer:
        """A command's answer. Raises Rejected, ConnectionError."""
        self._begin()
        number = next(self._requests)
        future: asyncio.Future[pb.Answer] = asyncio.get_running_loop().create_future()
        self._answers[number] = future
        self._out.put_nowait(pb.LinkUp(commands=[pb.Command(request=number, game=game, **kind)]))
        async with asyncio.timeout(15):
            answer = await future
        if answer.HasField("reject"):
            raise from_proto(answer.reject)
        return answer

    async def play(self, game: str, player: str, version: int, action: str, **fields: Any) -> int:
        """The version after an accepted play. Raises Rejected."""
        play = pb.Play(player=player, version=version, action=action, **fields)
        return (await self.ask(game, play=play)).accepted.version

    async def join(self, game: str, player: str = "", since: int | None = None, arrive: bool = True) -> pb.Joined:
        """What a viewer gets. Raises Rejected."""
        return (await self.ask(game, join=pb.Join(player=player, since=since, arrive=arrive))).joined

    def present(self, game: str, blue: int = 0, red: int = 0, watchers: int = 0) -> None:
        """Says who is there; no answer."""
        self._begin()
        there = pb.Presence(blue=blue, red=red, watchers=watchers)
        self._out.put_nowait(pb.LinkUp(commands=[pb.Command(game=game, presence=there)]))

    async def close(self) -> None:
        """Ends the stream."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)


def game_in(shards: set[int], number: int = 0) -> str:
    """A new game id in one of the shards."""
    return new_game_id(sorted(shards)[number % len(shards)])


async def refused(asking: Any) -> Reason:
    """Why something is refused."""
    try:
        await asking
    except Rejected as rejected:
        return rejected.reason
    raise AssertionError("it was not refused")


async def settled(*workers: WorkerUnderTest) -> None:
    """Each of the workers serves exactly the shards that it should."""
    names = tuple(sorted(worker.app.settings.name for worker in workers))

    def as_planned() -> bool:
        plan = assignment(names, workers[0].app.registry_of_tables.count)
        wanted = {name: {shard for shard, owner in enumerate(plan) if owner == name} for name in names}
        return all(worker.shards == wanted[worker.app.settings.name] for worker in workers)

    await eventually(as_planned, timeout_s=20)


async def until_accepted(link: LinkClient, *args: Any, **fields: Any) -> int:
    """Sends a play, with its ref, until it is accepted."""

    async def once() -> int | None:
        try:
            return await link.play(*args, **fields)
        except Rejected as refusal:
            if refusal.reason not in (Reason.UNAVAILABLE, Reason.MOVED):
                raise
            return None

    return int(await eventually(once, timeout_s=20) or 0)


async def created(worker: WorkerProcess, game: str) -> bool:
    """Whether the game is made now; False while the shard is on its way. Raises Rejected."""
    try:
        await WorkerUnderTest.create(worker, game)  # type: ignore[arg-type]
    except Rejected as refusal:
        if refusal.reason not in (Reason.UNAVAILABLE, Reason.MOVED):
            raise
        return False
    return True
