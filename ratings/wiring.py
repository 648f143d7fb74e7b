"""Puts the service together, in dependency order."""

import asyncio
from collections.abc import Callable

import structlog
from nats.aio.client import Client
from nats.errors import Error as NatsError
from prometheus_client import REGISTRY, CollectorRegistry

from numbridge import nats_io, redis_io, rpc
from numbridge.app import App
from numbridge.clock import now_ms
from numbridge.tasks import Tasks, attempts
from numbridge.v1 import ratings_pb2_grpc
from ratings import service
from ratings.adapters.nats_announce import NatsAnnouncer
from ratings.adapters.nats_results import NatsResults
from ratings.adapters.redis_board import RedisBoard
from ratings.archive import Archive
from ratings.consumer import Consumer
from ratings.health import StoreHealth
from ratings.leaderboards import Leaderboards
from ratings.metrics import Metrics
from ratings.office import Desk
from ratings.ports import Ledger, StoreAway
from ratings.settings import RatingsSettings
from ratings.store.database import Database
from ratings.store.ledger import SqlLedger
from ratings.store.library import SqlLibrary
from ratings.store.migrating import migrate, pending
from ratings.store.office import SqlOffice
from ratings.store.people import SqlPeople

log = structlog.get_logger("numbridge.ratings")


def build(
    settings: RatingsSettings,
    *,
    registry: CollectorRegistry = REGISTRY,
    wrap_ledger: Callable[[Ledger], Ledger] = lambda ledger: ledger,
) -> App:
    """The service, not started. `wrap_ledger` lets a test stand between the consumer and SQL."""
    app = App(settings, registry)
    parts = _Parts(settings, registry, wrap_ledger)
    app.part("schema", parts.prepare_schema)
    app.part("sql", parts.open_sql, parts.close_sql)
    app.part("nats", parts.open_nats, parts.close_nats)
    app.part("redis", stop=parts.close_redis)
    app.part("results", parts.open_results, parts.close_results)
    app.part("grpc", parts.open_grpc, parts.close_grpc)
    app.on_drain("results", parts.drain_results)
    app.probe("sql", lambda: parts.health.ok)
    app.probe("results", parts.results_ok)
    return app


class _Parts:
    """What is opened one after the other; each step may use what those before it have set."""

    nats: Client
    source: NatsResults
    consumer: Consumer
    server: rpc.Server

    def __init__(
        self, settings: RatingsSettings, registry: CollectorRegistry, wrap_ledger: Callable[[Ledger], Ledger]
    ) -> None:
        self.settings = settings
        self.registry = registry
        self.metrics = metrics = Metrics(registry)
        self.tasks = Tasks()
        self.database = Database(settings.database_url)
        self.ledger = wrap_ledger(SqlLedger(self.database))
        self.library = SqlLibrary(self.database)
        self.health = StoreHealth(self.database.ping, metrics)
        self.redis = redis_io.connect(settings.redis_url)  # connects when first asked
        self.leaderboards = Leaderboards(self.library, RedisBoard(self.redis), self.tasks, metrics)
        self.reading = False

    async def prepare_schema(self) -> None:
        """Migrates, or makes sure that somebody has. Raises RuntimeError if SQL stays away."""
        last: StoreAway | None = None
        async for _ in attempts(self.settings.start_wait_ms / 1000, first_s=0.25):
            try:
                return await asyncio.to_thread(self._check_schema)
            except StoreAway as error:
                log.warning("sql_away", error=str(error))
                last = error
        raise RuntimeError(f"SQL: {last}")

    def _check_schema(self) -> None:
        url = self.settings.database_url
        if self.settings.migrate:
            log.info("schema_ready", revision=migrate(url))
        elif pending(url):
            raise StoreAway("the schema is not this release's; migrate it first")

    async def open_sql(self) -> None:
        self.tasks.spawn(self.health.watch(), "watch_sql")

    async def close_sql(self) -> None:
        await self.tasks.close()
        await self.database.close()

    async def open_nats(self) -> None:
        self.nats = await nats_io.connect(self.settings)

    async def close_nats(self) -> None:
        try:
            await self.nats.flush(2)  # acknowledgements and announcements on their way
        except (NatsError, TimeoutError, OSError):
            pass  # the server is away: results come again
        await self.nats.close()

    async def close_redis(self) -> None:
        await self.redis.aclose()

    async def open_results(self) -> None:
        self.source = NatsResults(
            self.nats,
            replicas=self.settings.stream_replicas,
            ack_wait_s=self.settings.results_ack_wait_ms / 1000,
        )
        self.consumer = Consumer(
            self.source,
            self.ledger,
            NatsAnnouncer(self.nats),
            self.leaderboards,
            self.health,
            self.metrics,
            in_flight=self.settings.results_in_flight,
        )
        await self.consumer.start()
        self.reading = True

    def results_ok(self) -> bool:
        """Whether results can be read: asked from the first moment on, before there is a consumer."""
        return self.reading and self.nats.is_connected and self.consumer.reading

    async def drain_results(self) -> None:
        await self.consumer.drain()

    async def close_results(self) -> None:
        await self.consumer.stop()

    async def open_grpc(self) -> None:
        archive = Archive(self.library, self.leaderboards, now_ms)
        office = Desk(SqlOffice(self.database), NatsAnnouncer(self.nats))
        servicer = service.RatingsService(archive, SqlPeople(self.database), office, self.source, self.metrics)
        self.server = rpc.Server(self.settings, self.settings.grpc_port, [service.NAME], self.registry)
        ratings_pb2_grpc.add_RatingsServicer_to_server(servicer, self.server.server)
        await self.server.start()

    async def close_grpc(self) -> None:
        await self.server.stop()
