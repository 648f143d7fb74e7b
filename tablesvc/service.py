"""The gRPC edge: decode, ask, encode."""

import itertools
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc

from numbridge import RELEASE, rpc
from numbridge.errors import Reason, Rejected
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
            self._check_open()
            table, existed = await self._creation.create(
                self._registry.shard(request.game),
                request.game,
                request.room,
                codec.settings_from_proto(request.settings),
                codec.player_from_proto(request.blue),
                codec.player_from_proto(request.red),
            )
        except Rejected as refusal:
            await rpc.abort(context, refusal)
            raise
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
