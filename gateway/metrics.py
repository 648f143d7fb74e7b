"""Every number that the gateway shows, and the verbs that change them."""

from typing import get_args

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram

from gateway.session import effects as fx
from numbridge import collectors, wire
from numbridge.collectors import Family
from numbridge.errors import Reason
from numbridge.obs import LATENCY_BUCKETS

OPS = ("bad", *(str(kind.__struct_config__.tag) for kind in get_args(wire.ClientMessage)))
CODES = tuple(str(reason) for reason in Reason)
REQUESTS = tuple(kind.__name__ for kind in get_args(fx.Request))
RETRIES = ("link_lost", "handed_over", "moved", "unavailable")
RESYNCS = ("missing", "reconnect")
QUEUES = ("outbox_soft", "outbox_hard", "link", "announcements")
LIMITS = ("guests", "guests_in_all", "connects", "connects_in_all", "hellos", "seeks", "joins")
CLOSES = ("slow", "limit", "drain", "silent", "no_hello")
JOINS = ("state", "events", "archived", "refused")
STATUSES = tuple(
    str(status) for status in (101, 200, 201, 204, 304, 400, 401, 403, 404, 405, 408, 409, 410, 413, 429, 500, 503)
)
CALLS = (
    "none", "/", "/{path}", "/ws", "/metrics", "/healthz", "/readyz", "/api/guests", "/api/rooms", "/api/seeks",
    "/api/players/{player}", "/api/players/{player}/games", "/api/leaderboard/{variant}", "/api/games",
    "/api/games/{game}", "/api/games/{game}/record", "/api/openapi.json",
    "/api/admin/rooms/{room}/close", "/api/admin/rooms/{room}/open", "/api/admin/games/{game}/end",
    "/api/admin/players/{player}/mute", "/api/admin/players/{player}/unmute", "/api/admin/announcements",
    "/api/admin/restrictions", "/api/admin/audit",
)  # fmt: skip
_TRIPS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Metrics:
    """The gateway's collectors. Labels come from closed sets, never from ids."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"numbridge_gateway_{name}", text, registry=registry)

        def counter(name: str, text: str, **labels: tuple[str, ...]) -> Family[Counter]:
            return collectors.counter(registry, f"numbridge_gateway_{name}_total", text, **labels)

        self._connections = gauge("connections", "Open sockets.")
        self._players = gauge("players", "Players connected here.")
        self._views = gauge("views", "Tables viewed over all sockets.")
        self._subscriptions = gauge("subscriptions", "Games and seats subscribed to.")
        self.bus_subscriptions = gauge("bus_subscriptions", "NATS subscriptions: tables, players, seek lists.")
        self._links = gauge("links", "Open links to table workers.")
        self.link_waiting = gauge("link_waiting", "Commands on links that wait for their answer.")
        self.outbox_bytes = gauge("outbox_bytes", "Bytes written that the network has not taken yet, all sockets.")
        self._messages = counter("messages", "Messages of clients.", op=OPS)
        self._frames = Counter("numbridge_gateway_frames_total", "Events written to sockets.", registry=registry)
        self._errors = counter("errors", "Requests that were refused, by error code.", code=CODES)
        self._requests = collectors.histogram(
            registry,
            "numbridge_gateway_request_seconds",
            "From a request's start to its result; `Act` is a move.",
            LATENCY_BUCKETS,
            request=REQUESTS,
        )
        self._joins = counter("joins", "Joins, by what they were answered with.", result=JOINS)
        self._retries = counter("command_retries", "Commands sent to a table again, by the reason.", why=RETRIES)
        self._resyncs = counter("resyncs", "Times that viewers had to ask for what they missed.", why=RESYNCS)
        self._overflows = counter("overflow", "Times that a bounded queue was full.", queue=QUEUES)
        self._closes = counter("closes", "Sockets closed by us, by the reason.", why=CLOSES)
        self._lag = Histogram(
            "numbridge_gateway_socket_round_trip_seconds",
            "Round trips of pings over sockets.",
            buckets=_TRIPS,
            registry=registry,
        )
        self._http = counter("http_requests", "HTTP calls, by route.", call=CALLS, status=STATUSES)
        self._limited = counter("limited", "Refusals by a limit of an address, a player, or of all.", limit=LIMITS)
        self._unshared = Counter(
            "numbridge_gateway_limits_unshared_total",
            "Times that this gateway's own count decided, since Redis did not answer in time.",
            registry=registry,
        )
        self._houses = Counter(
            "numbridge_gateway_one_address_games_total",
            "Games whose two seats were seen to be held from one address.",
            registry=registry,
        )
        self._faults = counter("faults", "Requests that met a fault of our own.", where=("http", *REQUESTS))

    def connection_opened(self) -> None:
        """A socket has opened."""
        self._connections.inc()

    def connection_closed(self) -> None:
        """A socket has gone."""
        self._connections.dec()

    def players_here(self, count: int) -> None:
        """So many players are connected."""
        self._players.set(count)

    def views_open(self, count: int) -> None:
        """So many viewers are tuned to tables."""
        self._views.set(count)

    def subscriptions_open(self, count: int) -> None:
        """So many games and seats are subscribed to."""
        self._subscriptions.set(count)

    def links_open(self, count: int) -> None:
        """So many links stand."""
        self._links.set(count)

    def message(self, op: str) -> None:
        """A client's message has come."""
        self._messages.labels(op).inc()

    def wrote(self) -> None:
        """An event has been written to a socket."""
        self._frames.inc()

    def refused(self, code: str) -> None:
        """A request was refused."""
        self._errors.labels(code).inc()

    def request_done(self, request: str, seconds: float) -> None:
        """A request has its result."""
        self._requests.labels(request).observe(seconds)

    def joined(self, result: str) -> None:
        """A join was answered with a state, the events after `since`, the archive's state, or a refusal."""
        self._joins.labels(result).inc()

    def command_retried(self, why: str) -> None:
        """A command is sent to a table again."""
        self._retries.labels(why).inc()

    def resync(self, why: str) -> None:
        """Viewers ask for what they missed."""
        self._resyncs.labels(why).inc()

    def overflow(self, queue: str) -> None:
        """A bounded queue was full."""
        self._overflows.labels(queue).inc()

    def closed_by_us(self, why: str) -> None:
        """The gateway closes a socket."""
        self._closes.labels(why).inc()

    def round_trip(self, seconds: float) -> None:
        """A pong came back."""
        self._lag.observe(seconds)

    def http(self, call: str, status: int) -> None:
        """An HTTP call was answered."""
        self._http.labels(call, str(status)).inc()

    def limited(self, limit: str) -> None:
        """A limit has refused something."""
        self._limited.labels(limit).inc()

    def unshared(self) -> None:
        """A limit was not asked of Redis, or in vain."""
        self._unshared.inc()

    def one_house(self) -> None:
        """Both seats of a game are held from one address."""
        self._houses.inc()

    def fault(self, where: str) -> None:
        """Something nobody expected."""
        self._faults.labels(where).inc()
