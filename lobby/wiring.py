"""Everything one lobby replica runs, in dependency order."""

import secrets
from collections.abc import Awaitable, Callable

from nats.aio.client import Client
from prometheus_client import REGISTRY, CollectorRegistry
from redis.asyncio import Redis

from lobby.adapters.nats_announce import NatsAnnouncer
from lobby.adapters.ratings_client import RatingsClient
from lobby.adapters.redis_presence import RedisPresence
from lobby.adapters.redis_seating import RedisSeating
from lobby.adapters.redis_seats import RedisSeats
from lobby.adapters.redis_seeks import Change, RedisSeeks
from lobby.adapters.table_client import TableClient
from lobby.adapters.workers import RoutedWorkers
from lobby.change_feed import ChangeFeed
from lobby.company import Company
from lobby.desk import Desk
from lobby.gate import Gate
from lobby.greeting import Greeting
from lobby.matcher import Matcher
from lobby.metrics import Metrics
from lobby.pools import Pools
from lobby.ports import Announcer, Ratings, Tables, Workers
from lobby.reloading import SWEEP_S, Reloading
from lobby.restrictions import Restrictions
from lobby.rooms import LobbyRooms, load_rooms
from lobby.seat_check import SeatCheck
from lobby.seat_notices import SeatNotices
from lobby.seating import Seating
from lobby.seek_list import SeekList
from lobby.service import LobbyService
from lobby.settings import LobbySettings
from lobby.sweeper import PAUSE_S, Sweeper
from lobby.taking import Taker
from numbridge import nats_io, redis_io, rpc
from numbridge.app import App
from numbridge.routing import Routes
from numbridge.tasks import Tasks, forever
from numbridge.v1 import lobby_pb2_grpc

NAME = "numbridge.v1.Lobby"
_REDIS_CONNECTIONS = 32
_AGAIN_S = 1.0  # a loop that has failed begins again


def _coin() -> bool:
    return secrets.randbits(1) == 1


class LobbyApp(App):
    """The process; `port` is the gRPC server's, once started."""

    port: int = 0
    parts: "Parts"

    @property
    def pools(self) -> Pools:
        """Which rooms this replica matches."""
        return self.parts.pools

    @property
    def seats(self) -> RedisSeats:
        """Who sits where."""
        return self.parts.seats

    @property
    def seating(self) -> Seating:
        """Matches in hand."""
        return self.parts.seating

    @property
    def gate(self) -> Gate:
        """Whether matching may go on."""
        return self.parts.gate

    @property
    def reloading(self) -> Reloading:
        """Reads the rooms file again."""
        return self.parts.reloading


def build(
    settings: LobbySettings,
    *,
    registry: CollectorRegistry = REGISTRY,
    rooms: LobbyRooms | None = None,
    tables: Tables | None = None,
    ratings: Ratings | None = None,
    workers: Workers | None = None,
    coin: Callable[[], bool] = _coin,
) -> LobbyApp:
    """One replica. What is not given is the real thing."""
    app = LobbyApp(settings, registry)
    parts = app.parts = Parts(app, settings, Metrics(registry), rooms or load_rooms(settings.rooms_file), coin)
    app.part("redis", parts.open_redis, parts.close_redis)
    app.part("nats", parts.open_nats, parts.close_nats)
    app.part("neighbours", lambda: parts.open_neighbours(tables, ratings, workers), parts.close_neighbours)
    app.part("lobby", parts.open_lobby, parts.close_lobby)
    app.part("grpc", parts.open_grpc, parts.close_grpc)
    app.on_drain("grpc", parts.close_grpc)
    app.on_drain("pools", parts.leave_pools)
    app.on_drain("seating", parts.finish_seating)
    app.on_reload("rooms", parts.reload_rooms)
    app.probe("nats", lambda: parts.nats.is_connected)
    app.probe("redis", lambda: parts.gate.reachable)
    return app


class Parts:
    """What is opened one after the other; each step may use what those before it have set."""

    redis: "Redis"
    nats: Client
    gate: Gate
    pools: Pools
    reloading: Reloading
    restrictions: Restrictions
    server: rpc.Server
    tables: Tables
    ratings: Ratings
    workers: Workers
    announcer: Announcer

    def __init__(
        self, app: LobbyApp, settings: LobbySettings, metrics: Metrics, rooms: LobbyRooms, coin: Callable[[], bool]
    ) -> None:
        self.app = app
        self.settings = settings
        self.metrics = metrics
        self.rooms = rooms
        self.coin = coin
        self.tasks = Tasks()
        self.matching: dict[str, Tasks] = {}
        self.lists: dict[str, SeekList] = {}  # those told by this replica
        self.closers: list[Callable[[], Awaitable[None]]] = []
        self.routes: Routes | None = None
        self.serving = False

    async def open_redis(self) -> None:
        """Connects, and makes sure that Redis answers. Raises OSError if not."""
        self.redis = redis_io.connect(self.settings.redis_url, connections=_REDIS_CONNECTIONS)
        try:
            await self.redis.ping()
        except redis_io.AWAY as error:
            raise OSError(f"Redis at {self.settings.redis_url.rpartition('@')[2]} does not answer: {error}") from None
        self.seeks = RedisSeeks(self.redis)
        self.seats = RedisSeats(self.redis)
        self.presence = RedisPresence(self.redis)
        self.matches = RedisSeating(self.redis, self.settings.name, self.settings.one_table)

    async def close_redis(self) -> None:
        """Closes the connections."""
        await self.redis.aclose()

    async def open_nats(self) -> None:
        """Connects to NATS."""
        self.nats = await nats_io.connect(self.settings, on_reconnect=self._reconnected)
        self.announcer = NatsAnnouncer(self.nats, self.metrics)

    async def _reconnected(self) -> None:
        if self.routes is not None:
            self.routes.refresh()
        if hasattr(self, "pools"):
            self.pools.refresh()
            self.restrictions.refresh()
        await self.announcer.ask_seats()  # what workers said meanwhile is lost

    async def close_nats(self) -> None:
        """Says what is still in the buffer and closes."""
        await self.nats.close()

    async def open_neighbours(self, tables: Tables | None, ratings: Ratings | None, workers: Workers | None) -> None:
        """Connects to table workers and ratings, apart from what a test has given."""
        if tables is None or workers is None:
            self.routes = await Routes.open(self.nats.jetstream(), self.settings.shards, self.settings.stream_replicas)
            await self.routes.start()
            self.closers.append(self.routes.stop)
            if tables is None:
                client = TableClient(self.settings, self.routes, self.settings.seat_attempt_ms / 1000)
                self.closers.append(client.close)
                tables = client
            workers = workers or RoutedWorkers(self.routes)
        if ratings is None:
            rated = RatingsClient(self.settings, self.settings.ratings_addr)
            self.closers.append(rated.close)
            ratings = rated
        self.tables, self.workers, self.ratings = tables, workers, ratings

    async def close_neighbours(self) -> None:
        """Closes what was connected."""
        for close in reversed(self.closers):
            await close()

    async def open_lobby(self) -> None:
        """Builds the lobby itself and starts its loops."""
        settings, metrics = self.settings, self.metrics
        self.gate = Gate(self.presence, self.announcer, self.workers, metrics, settings.hold_ms)
        self.feed = ChangeFeed(self.seeks)
        self.feed.on_people(self._people_changed, self.ratings.forget_all)
        self.seat_notices = SeatNotices(self.nats, self.seats, metrics)
        self.seating = Seating(
            self.matches, self.tables, self.announcer, metrics, settings.seat_deadline_ms, settings.grace_ms
        )
        self.restrictions = Restrictions(self.ratings, self.seeks, self.announcer, metrics)
        self.pools = Pools(
            self.nats.jetstream(),
            settings.stream_replicas,
            settings.name,
            self.rooms.ids,
            settings.pool_ttl_ms,
            self._take_room,
            self._give_room,
        )
        self.reloading = Reloading(
            settings.rooms_file, self.rooms, self.pools, self.lists, self.seeks, self.announcer, metrics
        )
        metrics.owned.set_function(lambda: len(self.pools.owned))
        metrics.in_hand.set_function(lambda: self.seating.in_hand)
        sweeper = Sweeper(
            self.presence,
            self.matches,
            self.seats,
            self.tables,
            self.announcer,
            self.gate,
            metrics,
            settings.strand_ms,
        )
        await self.seat_notices.start()
        await self.restrictions.start(self.nats)
        await self.gate.look()
        await self.feed.start()
        await self.seating.start()
        await self.pools.start()
        self.tasks.spawn(forever(self.gate.run, _AGAIN_S, "gate"), "gate")
        self.tasks.spawn(forever(self.feed.run, _AGAIN_S, "changes"), "changes")
        self.tasks.spawn(forever(self.seating.run, _AGAIN_S, "seating"), "seating")
        self.tasks.spawn(forever(self.restrictions.run, _AGAIN_S, "restrictions"), "restrictions")
        self.tasks.spawn(forever(self.pools.run, _AGAIN_S, "pools"), "pools")
        self.tasks.spawn(forever(sweeper.sweep, PAUSE_S, "sweeper"), "sweeper")
        self.tasks.spawn(forever(self.reloading.sweep, SWEEP_S, "homeless_seeks"), "homeless_seeks")

    async def close_lobby(self) -> None:
        """Gives the pools up and ends the loops."""
        await self.leave_pools()
        await self.seat_notices.stop()
        await self.restrictions.stop()
        await self.tasks.close()
        for room in list(self.matching):
            await self._give_room(room)
        await self.seating.stop()
        await self.pools.stop()

    async def reload_rooms(self) -> None:
        """Reads the rooms file again."""
        await self.reloading.reload()

    async def leave_pools(self) -> None:
        """Other replicas take the pools over at once."""
        await self.pools.leave()

    async def finish_seating(self) -> None:
        """Whoever has been matched gets a table and hears of it, before this replica goes."""
        await self.seating.finish()

    def _people_changed(self, change: Change) -> None:
        for player in (change.room, change.seek):
            if change.what == "block":
                self.ratings.forget_blocks(player)
            else:
                self.ratings.game_over(player)

    async def _take_room(self, room_id: str) -> None:
        room = self.rooms.get(room_id)
        if room is None or room_id in self.matching:
            return
        seek_list = SeekList(room_id, self.seeks.mark, self.announcer, self.metrics, self.settings.deltas_ms / 1000)
        self.lists[room_id] = seek_list
        matcher = Matcher(
            room,
            self.seeks,
            self.matches,
            self.workers,
            self.gate,
            self.announcer,
            seek_list,
            self.metrics,
            self.coin,
        )
        self.feed.listen(room_id, matcher.feed, matcher.reload)
        tasks = self.matching[room_id] = Tasks()
        tasks.spawn(forever(matcher.run, _AGAIN_S, "matcher"), "matcher")
        tasks.spawn(forever(seek_list.run, _AGAIN_S, "seek_list"), "seek_list")

    async def _give_room(self, room_id: str) -> None:
        self.feed.ignore(room_id)
        self.lists.pop(room_id, None)
        tasks = self.matching.pop(room_id, None)
        if tasks is not None:
            await tasks.close()
        self.metrics.open.labels(room_id).set(0)

    async def open_grpc(self) -> None:
        """Serves."""
        settings, check = self.settings, SeatCheck(self.seats, self.tables, self.settings.one_table)
        taker = Taker(self.matches, check, self.workers, self.announcer, self.metrics)
        desk = Desk(
            self.rooms,
            self.seeks,
            taker,
            check,
            self.restrictions,
            self.ratings,
            self.announcer,
            self.metrics,
            self.coin,
            settings.limits,
            settings.one_table,
        )
        company = Company(
            self.rooms,
            self.seeks,
            self.presence,
            taker,
            check,
            self.restrictions,
            self.ratings,
            self.tables,
            self.announcer,
        )
        greeting = Greeting(
            self.seeks,
            self.seats,
            self.presence,
            desk,
            self.gate,
            self.ratings,
            self.tasks,
            self.metrics,
            settings.grace_ms,
            settings.gateway_lease_ms,
            settings.hold_ms,
        )
        service = LobbyService(
            settings.name,
            self.rooms,
            desk,
            company,
            greeting,
            self.seeks,
            self.seats,
            self.matches,
            self.pools,
            self.tables,
            self.restrictions,
            self.metrics,
        )
        self.server = rpc.Server(settings, settings.grpc_port, [NAME], self.app.registry)
        lobby_pb2_grpc.add_LobbyServicer_to_server(service, self.server.server)
        self.app.port = self.server.port
        await self.server.start()
        self.serving = True

    async def close_grpc(self) -> None:
        """Lets calls under way end."""
        if self.serving:
            self.serving = False
            await self.server.stop(1.0)
