"""The gRPC edge: decode, ask, encode."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc

from numbridge import RELEASE, rpc
from numbridge.errors import Reason, Rejected, to_proto
from numbridge.v1 import common_pb2 as common
from numbridge.v1 import table_pb2 as pb
from numbridge.v1 import table_pb2_grpc
from tablesvc import codec
from tablesvc.creation import Creation
from tablesvc.link import Link
from tablesvc.ownership import Ownership
from tablesvc.presence import Presence
from tablesvc.registry import Registry
from tablesvc.results import Outbox
from tablesvc.works import Ended, EndIt, Summary
from tablesvc.world import World

Context = grpc.aio.ServicerContext[Any, Any]

NAME = "numbridge.v1.Tables"
MOST_TABLES = 200  # in one call
MOST_WAIT_MS = 5_000


class TablesService(table_pb2_grpc.TablesServicer):
    """See table.proto."""

    def __init__(
        self,
        world: World,
        registry: Registry,
        creation: Creation,
        presence: Presence,
        ownership: Ownership,
        outbox: Outbox,
        drain: Callable[[], None],
    ) -> None:
        """`drain()` begins the process's drain and returns at once."""
        self._world = world
        self._registry = registry
        self._creation = creation
        self._presence = presence
        self._ownership = ownership
        self._outbox = outbox
        self._drain = drain
        self._links = itertools.count(1)

    async def Link(self, request_iterator: AsyncIterator[pb.LinkUp], context: Context) -> AsyncIterator[pb.LinkDown]:
        """See table.proto."""
        limit = self._world.settings.link_limit
        link = Link(next(self._links), self._registry, self._presence, self._world.metrics, limit)
        async for down in link.serve(request_iterator):
            yield down

    async def CreateTable(self, request: pb.CreateTableRequest, context: Context) -> pb.CreateTableReply:
        """See table.proto."""
        try:
            return await self._create(request)
        except Rejected as refusal:
            await rpc.abort(context, refusal)
            raise

    async def CreateTables(self, request: pb.CreateTablesRequest, context: Context) -> pb.CreateTablesReply:
        """See table.proto."""
        if len(request.tables) > MOST_TABLES:
            await rpc.abort(context, Rejected(Reason.BAD_MESSAGE, f"at most {MOST_TABLES} tables in a call"))
        making = [asyncio.ensure_future(self._create(table)) for table in request.tables]
        try:
            if making:
                await asyncio.wait(making, timeout=min(max(request.wait_ms, 0), MOST_WAIT_MS) / 1000)
            return pb.CreateTablesReply(tables=[_creation(made) for made in making])
        finally:
            for made in making:
                made.cancel()  # whoever waits; the making goes on

    async def _create(self, request: pb.CreateTableRequest) -> pb.CreateTableReply:
        """One table. Raises Rejected."""
        self._check_open()
        table, existed = await self._creation.create(
            self._registry.shard(request.game),
            request.game,
            request.room,
            codec.settings_from_proto(request.settings),
            codec.player_from_proto(request.blue),
            codec.player_from_proto(request.red),
        )
        return pb.CreateTableReply(existed=existed, summary=codec.summary(table.game, table.state))

    def _check_open(self) -> None:
        if self._ownership.draining:
            raise Rejected(Reason.UNAVAILABLE, "this worker is being replaced; try again")

    async def GetTable(self, request: pb.GetTableRequest, context: Context) -> pb.GetTableReply:
        """See table.proto."""
        try:
            outcome = await self._registry.ask(request.game, Summary())
        except Rejected as refusal:
            await rpc.abort(context, refusal)
            raise
        if not isinstance(outcome, common.GameSummary):
            raise TypeError(f"a summary, not {type(outcome).__name__}")
        return pb.GetTableReply(summary=outcome)

    async def EndTable(self, request: pb.EndTableRequest, context: Context) -> pb.EndTableReply:
        """See table.proto."""
        try:
            outcome = await self._registry.ask(request.game, EndIt())
        except Rejected as refusal:
            await rpc.abort(context, refusal)
            raise
        return pb.EndTableReply(was_over=isinstance(outcome, Ended) and outcome.was_over)

    async def GetWorker(self, request: pb.GetWorkerRequest, context: Context) -> pb.GetWorkerReply:
        """See table.proto."""
        counts = self._registry.count_status()
        return pb.GetWorkerReply(
            worker=self._world.settings.name,
            shards=len(self._registry.shards),
            playing=counts["playing"],
            adjourned=counts["adjourned"],
            unconfirmed=self._outbox.unconfirmed,
            moves=self._world.metrics.moves_made,
            draining=self._ownership.draining,
            release=RELEASE,
            p99_us=self._world.metrics.p99_us(),
        )

    async def Drain(self, request: pb.DrainRequest, context: Context) -> pb.DrainReply:
        """See table.proto."""
        self._drain()
        return pb.DrainReply(shards=len(self._registry.shards))


def _creation(made: "asyncio.Future[pb.CreateTableReply]") -> pb.Creation:
    """What became of one of several. A fault is raised: the call ends with it."""
    if not made.done():
        return pb.Creation(pending=True)
    error = made.exception()
    if isinstance(error, Rejected):
        return pb.Creation(reject=to_proto(error))
    return pb.Creation(made=made.result())
