"""Everything of the gateway, in dependency order."""

from dataclasses import dataclass

from prometheus_client import REGISTRY, CollectorRegistry

from gateway import ports
from gateway.adapters.lobby_client import LobbyClient
from gateway.adapters.nats_bus import Bus
from gateway.adapters.nats_notices import NatsNotices
from gateway.adapters.nats_views import NatsViews
from gateway.adapters.owners import ClusterOwners
from gateway.adapters.ratings_client import RatingsClient
from gateway.adapters.redis_limits import RedisLimits
from gateway.adapters.table_link import TableLinks
from gateway.announcements import Announcements
from gateway.auth import Authenticator, Revoked
from gateway.backend import Backend
from gateway.drain import Drain
from gateway.http.admin import Admin
from gateway.http.api import Api
from gateway.http.guard import Guard
from gateway.http.server import Server
from gateway.http.socket import Door
from gateway.http.static import Static
from gateway.hub import Hub
from gateway.jwks import Jwks
from gateway.keeper import Keeper
from gateway.limits.digest import Digest
from gateway.limits.gates import make_gates
from gateway.limits.houses import Houses
from gateway.metrics import Metrics
from gateway.players import Players
from gateway.presence import Presence
from gateway.reader import Reader
from gateway.seekboard import SeekBoard
from gateway.session.limits import Buckets, Rate
from gateway.session.machine import Limits
from gateway.settings import Settings
from gateway.tables import Tables
from numbridge import redis_io, rpc
from numbridge.app import App


class GatewayApp(App):
    """The gateway's process; `server.ports` holds the public and the own port once it has started."""

    server: Server
    keeper: Keeper


@dataclass(frozen=True, slots=True)
class Behind:
    """What stands behind the gateway."""

    owners: ports.Owners
    links: ports.Links
    lobby: ports.Lobby
    ratings: ports.Ratings
    views: ports.Views
    notices: ports.Notices
    limits: ports.SharedLimits | None = None
    """None: this gateway counts by itself."""


def build(
    settings: Settings,
    *,
    behind: Behind | None = None,
    revoked: Revoked | None = None,
    registry: CollectorRegistry = REGISTRY,
) -> GatewayApp:
    """The gateway's process. Call it inside the running loop. `behind`: other backends, for tests."""
    app = GatewayApp(settings, registry)
    metrics = Metrics(registry)
    if behind is None:
        behind = _cluster(app, settings, metrics)

    jwks = Jwks(settings.jwks, settings.jwks_refresh_ms) if settings.jwks else None
    if jwks is not None:
        app.part("jwks", jwks.start, jwks.stop)
        app.probe("jwks", lambda: jwks.ready)
    tokens = Authenticator(
        settings.ring(),
        jwks,
        audience=settings.token_audience,
        issuer=settings.jwks_issuer,
        leeway_ms=settings.token_leeway_ms,
        guests=settings.guests,
        guest_ms=settings.guest_token_ms,
        revoked=revoked,
    )

    tables = Tables(
        behind.owners,
        behind.links,
        metrics,
        deadline_ms=settings.table_deadline_ms,
        link_timeout_ms=settings.link_timeout_ms,
    )
    hub = Hub(behind.views, Presence(behind.owners, behind.links), metrics)
    reader = Reader(tables, behind.ratings)
    board = SeekBoard(behind.lobby, behind.notices)
    players = Players(settings.name, behind.lobby, behind.ratings, behind.notices, metrics)
    gates = make_gates(settings, behind.limits, metrics)
    houses = Houses(_digest(settings), behind.limits, metrics)
    app.part("gates", None, gates.stop)
    app.part("houses", None, houses.stop)
    backend = Backend(settings.name, tokens, behind.lobby, tables, reader, hub, board, players, gates, houses)
    app.part("seek_board", None, board.stop)
    app.part("players", players.start, players.stop)
    app.probe("lobby", lambda: players.lobby_answers)

    keeper = Keeper(metrics, hello_ms=settings.hello_ms, ping_ms=settings.ping_ms, dead_ms=settings.dead_ms)
    app.part("keeper", keeper.start, keeper.stop)
    announcements = Announcements(behind.notices, lambda: keeper.connections, lambda: metrics.overflow("announcements"))
    app.part("announcements", announcements.start, announcements.stop)
    metrics.outbox_bytes.set_function(lambda: sum(connection.waiting_bytes for connection in keeper.connections))

    guard = Guard(gates, settings.trusted_proxies, metrics)
    door = Door(settings, tokens, backend, hub, keeper, _limits(settings), gates, guard, metrics)
    api = Api(behind.lobby, behind.ratings, tokens, reader, guard, gates, settings.request_ms)
    admin = Admin(door.caller, api.body, behind.lobby, behind.ratings, behind.notices)
    server = Server(
        api, admin, door, Static(settings.web_dir), guard, app.failing, settings.listen_host, settings.request_ms
    )
    app.part("http", lambda: server.start(settings.port, settings.own_port), server.stop)

    drain = Drain(server, door, keeper, players)
    app.on_drain("listening", drain.refuse)
    app.on_drain("sockets", drain.close)
    app.server, app.keeper = server, keeper
    return app


def _cluster(app: App, settings: Settings, metrics: Metrics) -> Behind:
    """The real cluster."""
    bus = Bus(settings, metrics)
    app.part("nats", bus.start, bus.stop)
    app.probe("nats", lambda: bus.connected)
    metrics.bus_subscriptions.set_function(lambda: bus.subscriptions)
    owners = ClusterOwners(settings, bus)
    app.part("shard_map", owners.start, owners.stop)
    links = TableLinks(settings, metrics, most=settings.link_queue)
    app.part("links", None, links.stop)
    lobby = rpc.channel(settings, settings.lobby_addr, "lobby")
    app.part("lobby", None, lambda: lobby.close(None))
    ratings = rpc.channel(settings, settings.ratings_addr, "ratings")
    app.part("ratings", None, lambda: ratings.close(None))
    return Behind(
        owners,
        links,
        LobbyClient(lobby, settings.call_timeout_ms),
        RatingsClient(ratings, settings.call_timeout_ms),
        NatsViews(bus),
        NatsNotices(bus),
        _limits_of_all(app, settings) if settings.limits and settings.limits_shared else None,
    )


def _limits_of_all(app: App, settings: Settings) -> RedisLimits:
    """Not a probe: without Redis a gateway goes on, and counts by itself."""
    redis = redis_io.connect(settings.redis_url, connections=8, timeout_s=1.0)
    app.part("redis", None, redis.aclose)
    return RedisLimits(redis, _digest(settings), settings.limits_wait_ms)


def _limits(settings: Settings) -> Limits:
    requests = settings.requests_per_connection
    bad = Rate(settings.bad_burst, settings.bad_per_minute)
    if not settings.limits:
        return Limits(bad=bad, requests=requests)  # no load is made of bad messages: that limit stays
    message = Rate(settings.message_burst, settings.message_per_minute)
    return Limits(
        message=message,
        size=Rate(settings.byte_burst, settings.byte_per_minute),
        bad=bad,
        flood=message,
        player=Buckets(Rate(settings.player_burst, settings.player_per_minute)),
        seek=Buckets(Rate(settings.seek_burst, settings.seek_per_minute)),
        join=Buckets(Rate(settings.join_burst, settings.join_per_minute)),
        games=settings.games_per_connection,
        requests=requests,
    )


def _digest(settings: Settings) -> Digest:
    """Keyed by what only this cluster's gateways know, where there is such a key."""
    ring = settings.ring()
    return Digest(ring.keys[0] if ring is not None else b"")
