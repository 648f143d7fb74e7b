"""Table workers over gRPC: makes a table where its shard is served now."""

import asyncio
from collections.abc import Sequence

import structlog
from grpc import StatusCode, aio

from lobby.ports import Made, Making
from lobby.stored import Match, Summary
from numbridge import rpc
from numbridge.errors import Reason, Rejected, from_proto, unavailable
from numbridge.routing import Routes
from numbridge.settings import CommonSettings
from numbridge.together import Together, TooMany
from numbridge.v1 import common_pb2, table_pb2, table_pb2_grpc

log = structlog.get_logger("lobby.tables")

_WAIT_MS = 500  # a table that takes longer is asked for again, so that it does not hold up those made with it
_MOST_CHANNELS = 64  # the least recently made is closed; workers come and go, their addresses with them


class TableClient:
    """Every call is one bounded attempt; when to repeat it is the caller's decision."""

    def __init__(self, settings: CommonSettings, routes: Routes, timeout_s: float) -> None:
        self._settings = settings
        self._routes = routes
        self._timeout = timeout_s
        self._channels: dict[str, aio.Channel] = {}
        self._lanes: dict[str, Together[table_pb2.CreateTableRequest, table_pb2.Creation]] = {}

    async def _stub(self, addr: str) -> "table_pb2_grpc.TablesAsyncStub":
        found = self._channels.get(addr)
        if found is None:
            if len(self._channels) >= _MOST_CHANNELS:
                oldest = next(iter(self._channels))
                await self._channels.pop(oldest).close(1.0)
                self._lanes.pop(oldest, None)
            found = self._channels[addr] = rpc.channel(self._settings, addr, "table")
        stub: table_pb2_grpc.TablesAsyncStub = table_pb2_grpc.TablesStub(found)
        return stub

    async def create(self, match: Match) -> Made:
        """One attempt at the shard's present owner."""
        owner = self._routes.owner_of(match.game)
        if owner is None:
            return Made(Making.NOT_MADE, why="nobody serves the shard")
        request = table_pb2.CreateTableRequest(
            game=match.game,
            room=match.room,
            settings=match.settings.to_proto(),
            blue=match.blue.to_proto(),
            red=match.red.to_proto(),
        )
        lane = self._lanes.get(owner.addr)
        if lane is None:
            lane = self._lanes[owner.addr] = self._lane(owner.addr)
        try:
            async with asyncio.timeout(self._timeout):
                while True:
                    made = await lane.ask(request)
                    if not made.pending:
                        break
        except TimeoutError:
            return Made(Making.UNKNOWN, why="no answer in time")
        except TooMany:
            return Made(Making.NOT_MADE, why="too many tables wait to be made")
        except aio.AioRpcError as error:
            return _failed(error)
        if made.HasField("reject"):
            return _refused(made.reject)
        return Made(Making.MADE, Summary.of(made.made.summary))

    def _lane(self, addr: str) -> "Together[table_pb2.CreateTableRequest, table_pb2.Creation]":
        async def call(tables: Sequence[table_pb2.CreateTableRequest]) -> Sequence[table_pb2.Creation]:
            stub = await self._stub(addr)
            request = table_pb2.CreateTablesRequest(tables=tables, wait_ms=_WAIT_MS)
            return (await stub.CreateTables(request, timeout=self._timeout)).tables

        return Together(call, most=32, in_flight=4, waiting=1_000)

    async def withdraw(self, game: str) -> None:
        """Ends the game; where that fails it ends by itself, for its players do not come."""
        owner = self._routes.owner_of(game)
        if owner is None:
            return
        try:
            stub = await self._stub(owner.addr)
            await stub.EndTable(table_pb2.EndTableRequest(game=game), timeout=self._timeout)
        except aio.AioRpcError as error:
            log.info("table_not_withdrawn", game=game, error=error.code().name)

    async def end(self, game: str) -> bool:
        """Ends a running game; whether it was over before. Raises Rejected: NOT_FOUND, UNAVAILABLE."""
        try:
            owner = self._routes.owner_of(game)
        except ValueError:
            raise Rejected(Reason.NOT_FOUND, "there is no such game") from None
        if owner is None:
            raise unavailable("that game's table")
        try:
            stub = await self._stub(owner.addr)
            reply = await stub.EndTable(table_pb2.EndTableRequest(game=game), timeout=self._timeout)
        except aio.AioRpcError as error:
            refused = rpc.reason_of(error)
            raise unavailable("that game's table") if refused.reason is Reason.MOVED else refused from None
        return reply.was_over

    async def look(self, game: str) -> Made:
        """Asks the shard's present owner for the game."""
        try:
            owner = self._routes.owner_of(game)
        except ValueError:
            return Made(Making.REFUSED, why="not a game id")
        if owner is None:
            return Made(Making.UNKNOWN, why="nobody serves the shard")
        try:
            stub = await self._stub(owner.addr)
            reply = await stub.GetTable(table_pb2.GetTableRequest(game=game), timeout=self._timeout)
        except aio.AioRpcError as error:
            if error.code() is StatusCode.NOT_FOUND:
                return Made(Making.NOT_MADE)
            return Made(Making.UNKNOWN, why=str(error.code().name))
        return Made(Making.MADE, Summary.of(reply.summary))

    async def close(self) -> None:
        """Closes every channel."""
        for lane in self._lanes.values():
            await lane.close()
        for channel in self._channels.values():
            await channel.close(1.0)
        self._channels.clear()


def _refused(reject: common_pb2.Reject) -> Made:
    """One of several was refused by the worker itself, which has done nothing for it then but in one case."""
    refused = from_proto(reject)
    why = f"{refused.reason}: {refused.message}"
    match refused.reason:
        case Reason.MOVED | Reason.NOT_FOUND:
            return Made(Making.NOT_MADE, why=why)
        case Reason.BAD_MESSAGE:
            return Made(Making.REFUSED, why=why)
        case _:
            return Made(Making.UNKNOWN, why=why)  # `unavailable`: the making may go on


def _failed(error: aio.AioRpcError) -> Made:
    why = f"{error.code().name}: {error.details()}"
    if error.code() in (StatusCode.FAILED_PRECONDITION, StatusCode.NOT_FOUND):
        return Made(Making.NOT_MADE, why=why)  # moved: this worker did nothing
    if error.code() is StatusCode.INVALID_ARGUMENT:
        return Made(Making.REFUSED, why=why)
    if rpc.reason_of(error).reason is Reason.MOVED:
        return Made(Making.NOT_MADE, why=why)
    # UNAVAILABLE and a deadline alike: the request may have reached the worker.
    return Made(Making.UNKNOWN, why=why)
