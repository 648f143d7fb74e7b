"""Every number that the gateway shows, and the verbs that change them."""

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram

from numbridge.obs import LATENCY_BUCKETS


class Metrics:
    """The gateway's collectors. Labels come from closed sets, never from ids."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self._connections = Gauge("numbridge_gateway_connections", "Open sockets.", registry=registry)
        self._players = Gauge("numbridge_gateway_players", "Players connected here.", registry=registry)
        self._views = Gauge("numbridge_gateway_views", "Tables viewed over all sockets.", registry=registry)
        self._subscriptions = Gauge(
            "numbridge_gateway_subscriptions", "Games and seats subscribed to.", registry=registry
        )
        self._links = Gauge("numbridge_gateway_links", "Open links to table workers.", registry=registry)
        self._messages = Counter("numbridge_gateway_messages_total", "Messages of clients.", ["op"], registry=registry)
        # Children of the two that every move touches: looking them up costs as much as counting.
        self._by_op: dict[str, Counter] = {}
        self._by_request: dict[str, Histogram] = {}
        self._frames = Counter("numbridge_gateway_frames_total", "Events written to sockets.", registry=registry)
        self._errors = Counter(
            "numbridge_gateway_errors_total", "Requests that were refused, by error code.", ["code"], registry=registry
        )
        self._requests = Histogram(
            "numbridge_gateway_request_seconds",
            "From a request's start to its result.",
            ["request"],
            buckets=LATENCY_BUCKETS,
            registry=registry,
        )
        self._retries = Counter(
            "numbridge_gateway_command_retries_total",
            "Commands sent to a table again, by the reason.",
            ["why"],
            registry=registry,
        )
        self._resyncs = Counter(
            "numbridge_gateway_resyncs_total",
            "Times that viewers had to ask for what they missed, by the reason.",
            ["why"],
            registry=registry,
        )
        self._overflows = Counter(
            "numbridge_gateway_overflow_total", "Times that a bounded queue was full.", ["queue"], registry=registry
        )
        self._closes = Counter(
            "numbridge_gateway_closes_total",
            "Sockets closed by us, by the reason.",
            ["why"],
            registry=registry,
        )
        self._lag = Histogram(
            "numbridge_gateway_socket_round_trip_seconds",
            "Round trips of pings over sockets.",
            buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
            registry=registry,
        )
        self._http = Counter(
            "numbridge_gateway_http_requests_total", "HTTP calls.", ["call", "status"], registry=registry
        )
        self._faults = Counter(
            "numbridge_gateway_faults_total",
            "Requests that met a fault of our own.",
            ["where"],
            registry=registry,
        )

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
        child = self._by_op.get(op)
        if child is None:
            child = self._by_op[op] = self._messages.labels(op)
        child.inc()

    def wrote(self) -> None:
        """An event has been written to a socket."""
        self._frames.inc()

    def refused(self, code: str) -> None:
        """A request was refused."""
        self._errors.labels(code).inc()

    def request_done(self, request: str, seconds: float) -> None:
        """A request has its result."""
        child = self._by_request.get(request)
        if child is None:
            child = self._by_request[request] = self._requests.labels(request)
        child.observe(seconds)

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

    def fault(self, where: str) -> None:
        """Something nobody expected."""
        self._faults.labels(where).inc()
