"""The link to a worker over real gRPC: grouping, matching, limits, loss; and unary calls with their failures."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from grpc import aio
from prometheus_client import CollectorRegistry

from gateway.adapters.lobby_client import LobbyClient
from gateway.adapters.ratings_client import RatingsClient
from gateway.adapters.table_link import TableLinks
from gateway.metrics import Metrics
from gateway.ports import LinkLost
from numbridge import rpc
from numbridge.errors import Reason, Rejected, to_proto
from numbridge.routing import Owner
from numbridge.settings import CommonSettings
from numbridge.tokens import Claims
from numbridge.v1 import lobby_pb2, lobby_pb2_grpc, ratings_pb2, ratings_pb2_grpc, table_pb2, table_pb2_grpc
from tests.helpers.eventually import eventually

SETTINGS = CommonSettings(name="g1")


class Worker(table_pb2_grpc.TablesServicer):
    """A worker that keeps what it gets and answers when the test says so."""

    def __init__(self) -> None:
        self.messages: list[table_pb2.LinkUp] = []
        self.reading = asyncio.Event()
        self.reading.set()
        self.links = 0
        self.answers: asyncio.Queue[table_pb2.LinkDown] = asyncio.Queue(maxsize=10_000)
        self.echo = True

    async def Link(self, request_iterator: Any, context: Any) -> AsyncIterator[table_pb2.LinkDown]:
        self.links += 1
        reading = asyncio.create_task(self._read(request_iterator))
        try:
            while True:
                yield await self.answers.get()
        finally:
            reading.cancel()

    async def _read(self, requests: Any) -> None:
        async for up in requests:
            self.messages.append(up)
            if self.echo:
                answers = [
                    table_pb2.Answer(request=command.request, accepted=table_pb2.Accepted(version=command.play.version))
                    for command in reversed(up.commands)
                    if command.HasField("play")
                ]
                if answers:
                    await self.answers.put(table_pb2.LinkDown(answers=answers))
            await self.reading.wait()

    def commands(self) -> list[table_pb2.Command]:
        """All commands so far, in order."""
        return [command for up in self.messages for command in up.commands]


@asynccontextmanager
async def a_worker(port: int = 0) -> AsyncIterator[tuple[Worker, Owner, rpc.Server]]:
    worker = Worker()  # type: ignore[abstract]
    server = rpc.Server(SETTINGS, port, ["numbridge.v1.Tables"])
    table_pb2_grpc.add_TablesServicer_to_server(worker, server.server)
    await server.start()
    yield worker, Owner("w1", f"127.0.0.1:{server.port}", 1), server
    await server.stop(0)


@asynccontextmanager
async def links(most: int = 100) -> AsyncIterator[TableLinks]:
    made = TableLinks(SETTINGS, Metrics(CollectorRegistry()), most=most)
    yield made
    await made.stop()


def play(version: int, game: str = "g") -> table_pb2.Command:
    return table_pb2.Command(game=game, play=table_pb2.Play(player="p", version=version))


async def test_answers_find_their_questions_in_any_order() -> None:
    async with a_worker() as (_, owner, _server), links() as made:
        futures = [made.send(owner, play(version)) for version in range(50)]
        answers = await asyncio.wait_for(asyncio.gather(*futures), 5)
        assert [answer.accepted.version for answer in answers] == list(range(50))


async def test_what_waits_goes_out_together_and_in_order() -> None:
    async with a_worker() as (worker, owner, _server), links(most=1000) as made:
        await asyncio.wait_for(made.send(owner, play(0)), 5)
        futures = [made.send(owner, play(version)) for version in range(1, 301)]
        await asyncio.wait_for(asyncio.gather(*futures), 5)
        assert len(worker.messages) <= 10
        assert [command.play.version for command in worker.commands()] == list(range(301))
        assert worker.links == 1


async def test_of_a_games_presence_the_latest_goes_out() -> None:
    async with a_worker() as (worker, owner, _server), links() as made:
        for watchers in range(20):
            made.report(owner, "g", table_pb2.Presence(watchers=watchers))
        await asyncio.wait_for(made.send(owner, play(0)), 5)
        said = [command for command in worker.commands() if command.HasField("presence")]
        assert said[-1].presence.watchers == 19
        assert len(said) < 20
        assert all(command.request == 0 for command in said)


async def test_an_open_link_is_told_of_and_an_ended_one_is_opened_anew() -> None:
    opened: list[str] = []
    async with a_worker() as (worker, owner, server), links() as made:
        made.on_open(opened.append)
        await asyncio.wait_for(made.send(owner, play(0)), 5)
        assert opened == [owner.addr]
        worker.echo = False
        waiting = made.send(owner, play(1))
        await eventually(lambda: len(worker.commands()) == 2)
        port = server.port
        await server.stop(0)
        with pytest.raises(LinkLost):
            await asyncio.wait_for(waiting, 5)
    async with a_worker(port) as (_, owner, _server), links() as made:
        await asyncio.wait_for(made.send(owner, play(2)), 5)


async def test_nobody_there_is_known_at_once() -> None:
    async with links() as made:
        with pytest.raises(LinkLost):
            await asyncio.wait_for(made.send(Owner("w1", "127.0.0.1:9", 1), play(0)), 5)


async def test_too_many_unanswered_commands_are_refused_and_forgotten_ones_make_room() -> None:
    async with a_worker() as (worker, owner, _server), links(most=3) as made:
        worker.echo = False
        futures = [made.send(owner, play(version)) for version in range(3)]
        with pytest.raises(Rejected) as caught:
            made.send(owner, play(3))
        assert caught.value.reason is Reason.UNAVAILABLE
        futures[0].cancel()
        await asyncio.wait(futures[:1])
        await eventually(lambda: made.send(owner, play(4)) is not None)


async def test_a_late_answer_to_a_forgotten_question_is_dropped() -> None:
    async with a_worker() as (worker, owner, _server), links() as made:
        worker.echo = False
        forgotten = made.send(owner, play(0))
        await eventually(lambda: len(worker.commands()) == 1)
        forgotten.cancel()
        worker.echo = True
        number = worker.commands()[0].request
        await worker.answers.put(table_pb2.LinkDown(answers=[table_pb2.Answer(request=number)]))
        assert (await asyncio.wait_for(made.send(owner, play(7)), 5)).accepted.version == 7


async def test_a_stopped_gateway_ends_its_links() -> None:
    async with a_worker() as (worker, owner, _server):
        async with links() as made:
            worker.echo = False
            waiting = made.send(owner, play(0))
            await eventually(lambda: len(worker.commands()) == 1)
        with pytest.raises(LinkLost):
            await waiting


# --- unary calls -------------------------------------------------------------------------------------------------


class LobbyServer(lobby_pb2_grpc.LobbyServicer):
    """A lobby that fails as it is told to."""

    def __init__(self) -> None:
        self.fail: list[grpc.StatusCode] = []
        self.reject: Rejected | None = None
        self.calls = 0

    async def _maybe_fail(self, context: Any) -> None:
        self.calls += 1
        if self.fail:
            await context.abort(self.fail.pop(0), "as told")

    async def GetRooms(self, request: Any, context: Any) -> lobby_pb2.GetRoomsReply:
        await self._maybe_fail(context)
        return lobby_pb2.GetRoomsReply(rooms=[lobby_pb2.RoomNow(id="blitz")])

    async def AcceptSeek(self, request: Any, context: Any) -> lobby_pb2.AcceptSeekReply:
        await self._maybe_fail(context)
        if self.reject is not None:
            return lobby_pb2.AcceptSeekReply(reject=to_proto(self.reject))
        return lobby_pb2.AcceptSeekReply(game="g1")


class RatingsServer(ratings_pb2_grpc.RatingsServicer):
    """Ratings that know one game and refuse the rest."""

    async def GetArchived(self, request: Any, context: Any) -> ratings_pb2.GetArchivedReply:
        if request.game == "kept":
            return ratings_pb2.GetArchivedReply(version=4)
        if request.game == "broken":
            await context.abort(grpc.StatusCode.INTERNAL, "as told")
        await rpc.abort(context, Rejected(Reason.NOT_FOUND, "no such game"))
        raise AssertionError("the call has ended")

    async def EnsurePlayer(self, request: Any, context: Any) -> ratings_pb2.EnsurePlayerReply:
        if request.id == "slow":
            await asyncio.Event().wait()
        return ratings_pb2.EnsurePlayerReply()


@asynccontextmanager
async def services() -> AsyncIterator[tuple[LobbyServer, aio.Channel]]:
    lobby = LobbyServer()  # type: ignore[abstract]
    server = rpc.Server(SETTINGS, 0, ["numbridge.v1.Lobby"])
    lobby_pb2_grpc.add_LobbyServicer_to_server(lobby, server.server)
    ratings_pb2_grpc.add_RatingsServicer_to_server(RatingsServer(), server.server)  # type: ignore[abstract]
    await server.start()
    channel = rpc.channel(SETTINGS, f"127.0.0.1:{server.port}", "lobby")
    yield lobby, channel
    await channel.close(None)
    await server.stop(0)


async def test_a_call_that_may_be_repeated_is_repeated_once() -> None:
    async with services() as (lobby, channel):
        client = LobbyClient(channel, 2000)
        lobby.fail = [grpc.StatusCode.UNAVAILABLE]
        assert (await client.rooms()).rooms[0].id == "blitz"
        lobby.fail = [grpc.StatusCode.UNAVAILABLE] * 2
        with pytest.raises(Rejected) as caught:
            await client.rooms()
        assert caught.value.reason is Reason.UNAVAILABLE
        assert lobby.calls == 4


async def test_a_call_that_must_not_be_repeated_is_not() -> None:
    async with services() as (lobby, channel):
        client = LobbyClient(channel, 2000)
        lobby.fail = [grpc.StatusCode.UNAVAILABLE]
        with pytest.raises(Rejected) as caught:
            await client.accept(lobby_pb2.AcceptSeekRequest(seek="s"))
        assert (caught.value.reason, lobby.calls) == (Reason.UNAVAILABLE, 1)
        assert await client.accept(lobby_pb2.AcceptSeekRequest(seek="s")) == "g1"


async def test_refusals_and_faults_arrive_as_what_they_are() -> None:
    async with services() as (lobby, channel):
        client, ratings = LobbyClient(channel, 2000), RatingsClient(channel, 300)
        lobby.reject = Rejected(Reason.LIMIT, "three at most", retry_ms=700)
        with pytest.raises(Rejected) as caught:
            await client.accept(lobby_pb2.AcceptSeekRequest(seek="s"))
        refused = caught.value
        assert (refused.reason, refused.message, refused.retry_ms) == (Reason.LIMIT, "three at most", 700)
        assert await ratings.archived("gone") is None
        kept = await ratings.archived("kept")
        assert kept is not None
        assert kept.version == 4
        with pytest.raises(Rejected) as caught:
            await ratings.archived("broken")
        assert caught.value.reason is Reason.INTERNAL
        with pytest.raises(Rejected) as caught:
            await ratings.ensure_player(Claims("slow", "Ada"))
        assert caught.value.reason is Reason.UNAVAILABLE
