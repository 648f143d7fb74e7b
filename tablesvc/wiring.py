"""Everything of a table worker, once, in dependency order."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from prometheus_client import REGISTRY, CollectorRegistry

from numbridge import rpc
from numbridge.app import App
from numbridge.clock import TableClock
from numbridge.ids import random_token
from numbridge.tasks import Tasks
from numbridge.v1 import table_pb2_grpc
from tablesvc import service
from tablesvc.adapters.nats_home import NatsHome
from tablesvc.clocks import Clock, Clocks
from tablesvc.creation import Creation
from tablesvc.engine.dice import Dice
from tablesvc.metrics import Metrics
from tablesvc.ownership import Ownership
from tablesvc.ports import Archived, Dealer, Leases, Results, TableLog, Views
from tablesvc.presence import Presence
from tablesvc.pulse import Pulse
from tablesvc.registry import Registry
from tablesvc.results import Outbox
from tablesvc.seats import Seats
from tablesvc.secret_dice import SecretDice
from tablesvc.settings import TableSettings
from tablesvc.shard import Shard, count_phases
from tablesvc.stalls import Stalls
from tablesvc.stock import Stock
from tablesvc.table import Table
from tablesvc.world import World

_GRACE_S = 0.5  # for calls under way when the server stops


class Home(Protocol):
    """The adapters, and how they come to life; NatsHome, or a test's."""

    @property
    def log(self) -> TableLog:
        """The log."""
        ...

    @property
    def leases(self) -> Leases:
        """The leases."""
        ...

    @property
    def views(self) -> Views:
        """What is told."""
        ...

    @property
    def results(self) -> Results:
        """The stream of results."""
        ...

    @property
    def connected(self) -> bool:
        """Whether the connection is up now."""
        ...

    async def start(self) -> None:
        """Afterwards the adapters are there."""
        ...

    async def stop(self) -> None:
        """Ends the connection."""
        ...

    async def on_archived(self, callback: Archived) -> None:
        """`callback(game)` for every game whose record is in SQL."""
        ...

    async def on_seats_asked(self, callback: Callable[[], None]) -> None:
        """`callback()` whenever somebody asks who sits where."""
        ...


class TableApp(App):
    """The process; `port` is the gRPC server's, once started."""

    port: int = 0
    registry_of_tables: Registry
    world: World
    ownership: Ownership
    outbox: Outbox


def build(
    settings: TableSettings,
    *,
    registry: CollectorRegistry = REGISTRY,
    home: Home | None = None,
    dealer: Dealer | None = None,
    dice: Dice | None = None,
    clock: Clock | None = None,
) -> TableApp:
    """One table worker. What is not given is the real thing."""
    app = TableApp(settings, registry)
    metrics = Metrics(registry)
    world_home: Home = home if home is not None else NatsHome(settings, metrics)
    app.part("nats", world_home.start, world_home.stop)
    stock: Dealer
    if dealer is None:
        own = Stock(settings.stock_games, metrics)
        app.part("stock", own.start, own.stop)
        stock = own
    else:
        stock = dealer
    tables = _Tables(app, settings, metrics, world_home, stock, dice or SecretDice(), clock or TableClock())
    app.part("tables", tables.start, tables.stop)
    app.on_drain("shards", tables.drain)
    app.probe("nats", lambda: world_home.connected)
    app.probe("lease", tables.ready)
    return app


class _Tables:
    """What stands on the adapters; they exist only once the home has started."""

    def __init__(
        self,
        app: TableApp,
        settings: TableSettings,
        metrics: Metrics,
        home: Home,
        dealer: Dealer,
        dice: Dice,
        clock: Clock,
    ) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._home = home
        self._dealer = dealer
        self._dice = dice
        self._clock = clock
        self._tasks = Tasks()
        self._loops = Tasks()
        self._ownership: Ownership | None = None
        self._stops: list[Callable[[], Awaitable[None]]] = []

    def ready(self) -> bool:
        """Whether this worker's lease runs."""
        return self._ownership is not None and self._ownership.alive()

    async def start(self) -> None:
        """Builds the rest, serves gRPC, then registers and takes shards."""
        settings, metrics, home = self._settings, self._metrics, self._home
        clocks = Clocks(self._clock, metrics.rang)
        world = World(
            settings=settings,
            run=random_token(),
            log=home.log,
            views=home.views,
            dice=self._dice,
            clock=self._clock,
            clocks=clocks,
            stalls=Stalls(),
            metrics=metrics,
            tasks=self._tasks,
        )
        registry = Registry(settings.shards, metrics)
        presence = Presence(world, registry)
        seats = Seats(world, registry)
        outbox = Outbox(world, home.results)
        pulse = Pulse(world, registry, lambda: home.connected)

        def gone(shard: Shard) -> None:
            outbox.forget_shard(shard)

        def served(shard: Shard) -> None:
            self._loops.spawn(seats.whole(shard), "seats_of_shard")

        ownership = Ownership(world, home.leases, registry, served, gone)
        world.pulse = pulse.check
        world.on_over = outbox.over
        world.on_status = seats.changed
        world.on_presence = presence.changed
        world.on_fault = _set_aside
        metrics.configured.set(settings.shards)
        metrics.read_shards(lambda: count_phases(registry.shards.values()))
        metrics.read_tables(registry.count_status)
        metrics.waiting.set_function(lambda: sum(table.waiting for table in registry.tables()))
        metrics.unconfirmed.set_function(lambda: outbox.unconfirmed)
        metrics.unconfirmed_age.set_function(lambda: outbox.oldest_ms(self._clock()) / 1000)
        server = rpc.Server(settings, settings.grpc_port, [service.NAME], self._app.registry)
        creation = Creation(world, self._dealer)
        tables_service = service.TablesService(
            world, registry, creation, presence, ownership, outbox, self._begin_drain
        )
        table_pb2_grpc.add_TablesServicer_to_server(tables_service, server.server)
        self._app.port = server.port
        self._app.registry_of_tables, self._app.world = registry, world
        self._app.ownership, self._app.outbox = ownership, outbox
        self._ownership = ownership

        async def stop_rest() -> None:
            presence.stop()
            clocks.stop()
            await self._loops.close()
            await self._tasks.close()

        self._stops = [stop_rest]
        self._loops.spawn(pulse.run(), "pulse")
        self._loops.spawn(outbox.run(), "outbox")
        self._loops.spawn(seats.run(), "seats")
        self._loops.spawn(self._watch_name(ownership), "name_watch")
        await home.on_archived(outbox.archived)
        await home.on_seats_asked(seats.asked)
        await server.start()
        self._stops.append(lambda: server.stop(_GRACE_S))
        self._stops.append(ownership.stop)
        await ownership.start(_address(settings, server.port))

    async def _watch_name(self, ownership: Ownership) -> None:
        await ownership.name_taken.wait()
        self._app.ended.set()

    def _begin_drain(self) -> None:
        async def drain_and_end() -> None:
            await self._app.drain()
            self._app.ended.set()

        if not self._app.draining:
            self._app.draining = True
            self._loops.spawn(drain_and_end(), "drain")

    async def drain(self) -> None:
        """Hands every shard over."""
        if self._ownership is not None:
            await self._ownership.drain()

    async def stop(self) -> None:
        """Stops in reverse."""
        for step in reversed(self._stops):
            await step()


def _set_aside(table: Table) -> None:
    table.shard.set_aside(table.game)


def _address(settings: TableSettings, port: int) -> str:
    """host:port at which others reach this worker."""
    if ":" in settings.advertise:
        return settings.advertise
    return f"{settings.advertise or settings.listen_host}:{port}"
