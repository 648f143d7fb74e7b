"""One gRPC stream to each table worker.

Commands wait in a queue; one writer task sends all that wait in one message
as soon as the write before has ended, so load makes the messages longer
and never adds a delay. Answers are matched by the request's number.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import structlog
from grpc import aio

from gateway.metrics import Metrics
from gateway.ports import LinkLost
from numbridge import rpc
from numbridge.errors import unavailable
from numbridge.routing import Owner
from numbridge.settings import CommonSettings
from numbridge.tasks import Tasks
from numbridge.v1 import table_pb2 as pb
from numbridge.v1 import table_pb2_grpc

log = structlog.get_logger("numbridge.gateway.link")

GROUP_MAX = 512  # commands in one message


class TableLink:
    """The stream to one worker; it ends once and is not used again."""

    def __init__(self, channel: aio.Channel, addr: str, most: int, metrics: Metrics) -> None:
        self.addr = addr
        self.ended = False
        self._channel = channel
        self._most = most
        self._metrics = metrics
        self._queue: deque[pb.Command] = deque()
        self._presence: dict[str, pb.Presence] = {}
        self._wake = asyncio.Event()
        self._waiting: dict[int, asyncio.Future[pb.Answer]] = {}
        self._number = 0

    @property
    def waiting(self) -> int:
        """Commands without an answer."""
        return len(self._waiting)

    def send(self, command: pb.Command) -> "asyncio.Future[pb.Answer]":
        """Queues a command. Raises Rejected when too many wait."""
        if len(self._waiting) >= self._most:
            self._metrics.overflow("link")
            raise unavailable("the table's worker")
        self._number += 1
        command.request = self._number
        future: asyncio.Future[pb.Answer] = asyncio.get_running_loop().create_future()
        number = command.request
        self._waiting[number] = future
        future.add_done_callback(lambda _: self._waiting.pop(number, None))
        self._queue.append(command)
        self._wake.set()
        return future

    def report(self, game: str, presence: pb.Presence) -> None:
        """Queues a game's presence; the latest wins."""
        self._presence[game] = presence
        self._wake.set()

    async def run(self, opened: Callable[[], None]) -> None:
        """Serves the link until it ends, whoever ends it."""
        call: Any = table_pb2_grpc.TablesStub(self._channel).Link()  # type: ignore[call-arg]
        writer = asyncio.create_task(self._write(call))
        try:
            await call.wait_for_connection()
            opened()
            while (down := await call.read()) is not aio.EOF:  # type: ignore[attr-defined]
                for answer in down.answers:
                    future = self._waiting.get(answer.request)
                    if future is not None and not future.done():
                        future.set_result(answer)
        except aio.AioRpcError as error:
            log.info("link_lost", worker=self.addr, code=error.code().name)
        finally:
            self.ended = True
            writer.cancel()
            call.cancel()
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(LinkLost(self.addr))
            await asyncio.gather(writer, return_exceptions=True)
            await self._channel.close(None)

    async def _write(self, call: Any) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queue or self._presence:
                commands = [self._queue.popleft() for _ in range(min(len(self._queue), GROUP_MAX))]
                for game, presence in self._presence.items():
                    commands.append(pb.Command(game=game, presence=presence))
                self._presence = {}
                await call.write(pb.LinkUp(commands=commands))


class TableLinks:
    """Implements ports.Links: the links that stand, made when first needed and again when lost."""

    def __init__(self, settings: CommonSettings, metrics: Metrics, *, most: int) -> None:
        self._settings = settings
        self._metrics = metrics
        self._most = most
        self._links: dict[str, TableLink] = {}
        self._opens: list[Callable[[str], None]] = []
        self._tasks = Tasks()
        metrics.link_waiting.set_function(lambda: sum(link.waiting for link in self._links.values()))

    async def stop(self) -> None:
        """Ends all links."""
        await self._tasks.close()

    def on_open(self, callback: Callable[[str], None]) -> None:
        self._opens.append(callback)

    def send(self, owner: Owner, command: pb.Command) -> "asyncio.Future[pb.Answer]":
        return self._link(owner).send(command)

    def report(self, owner: Owner, game: str, presence: pb.Presence) -> None:
        self._link(owner).report(game, presence)

    def _link(self, owner: Owner) -> TableLink:
        link = self._links.get(owner.addr)
        if link is None or link.ended:
            link = TableLink(rpc.channel(self._settings, owner.addr, "table"), owner.addr, self._most, self._metrics)
            self._links[owner.addr] = link
            self._tasks.spawn(self._run(link), "table_link")
        return link

    async def _run(self, link: TableLink) -> None:
        def opened() -> None:
            self._metrics.links_open(sum(not other.ended for other in self._links.values()))
            for callback in self._opens:
                callback(link.addr)

        try:
            await link.run(opened)
        finally:
            if self._links.get(link.addr) is link:
                del self._links[link.addr]
            self._metrics.links_open(sum(not other.ended for other in self._links.values()))
