"""The way into a WebSocket: origin, bearer header, limits; then the connection takes over."""

from base64 import b64decode
from collections import Counter
from urllib.parse import urlsplit

from aiohttp import web

from gateway.backend import Backend
from gateway.connection import Connection, Socket
from gateway.http.guard import Guard
from gateway.hub import Hub
from gateway.keeper import Keeper
from gateway.limits.digest import bucket_key
from gateway.limits.gates import ALL, Gates
from gateway.metrics import Metrics
from gateway.outbox import Outbox, sink_of
from gateway.ports import Tokens
from gateway.session.machine import Limits
from gateway.settings import Settings
from numbridge import wire
from numbridge.errors import Reason, Rejected
from numbridge.tokens import Claims

# aiohttp refuses a message of `max_msg_size` bytes and more.
_MAX_MSG_SIZE = wire.MAX_FRAME_BYTES + 1
_CLOSE_S = 1.5


class Door:
    """GET /ws."""

    def __init__(
        self,
        settings: Settings,
        tokens: Tokens,
        backend: Backend,
        hub: Hub,
        keeper: Keeper,
        limits: Limits,
        gates: Gates,
        guard: Guard,
        metrics: Metrics,
    ) -> None:
        self._settings = settings
        self._tokens = tokens
        self._backend = backend
        self._hub = hub
        self._keeper = keeper
        self._limits = limits
        self._gates = gates
        self._guard = guard
        self._metrics = metrics
        self._here: Counter[str] = Counter()  # open sockets by address
        self.closed = False  # set when the gateway drains

    async def enter(self, request: web.Request) -> web.StreamResponse:
        """Upgrades the request and serves the socket until it has gone."""
        address = self._guard.address(request)
        self._check(request)
        await self._admit(address)
        claims = await self._bearer(request, address)
        socket: Socket = web.WebSocketResponse(
            protocols=(wire.SUBPROTOCOL,),
            timeout=_CLOSE_S,
            autoping=False,
            compress=False,
            max_msg_size=_MAX_MSG_SIZE,
            decode_text=False,
        )
        try:
            await socket.prepare(request)
            sink = sink_of(request.transport)
        except ConnectionResetError:  # gone before its upgrade was answered: nobody reads this
            return socket if socket.prepared else web.Response(status=400)
        outbox = Outbox(
            sink,
            self._settings.outbox_soft_bytes,
            self._settings.outbox_hard_bytes,
            self._metrics,
            direct=self._settings.tcp_bounds_lag and not self._guard.proxied(request),
        )
        connection = Connection(
            socket,
            outbox,
            self._backend,
            self._hub,
            self._limits,
            self._metrics,
            address=address,
            may_hello=lambda: self._may_hello(address),
            failed_hello=lambda: self._failed(address),
        )
        self._keeper.add(connection)
        self._here[bucket_key(address)] += 1
        try:
            if self.closed:
                connection.shut(wire.CLOSE_RESTART, "this gateway is going away; connect again", "drain")
            await connection.run(claims)
        finally:
            self._keeper.drop(connection)
            self._left(address)
        return socket

    def _check(self, request: web.Request) -> None:
        if request.headers.get("Upgrade", "").lower() != "websocket":
            raise Rejected(Reason.BAD_MESSAGE, "this address is for WebSocket connections")
        if request.headers.get("Sec-WebSocket-Version") != "13" or not _is_key(request):
            raise Rejected(Reason.BAD_MESSAGE, "this is no handshake of a WebSocket, version 13")
        offered = request.headers.get("Sec-WebSocket-Protocol", "")
        if offered.strip() and wire.SUBPROTOCOL not in (part.strip() for part in offered.split(",")):
            raise Rejected(Reason.BAD_MESSAGE, f"the subprotocol spoken here is {wire.SUBPROTOCOL}")
        origin = request.headers.get("Origin")
        if origin is not None and not self._welcome(origin, request.host):
            raise Rejected(Reason.FORBIDDEN, "pages of that origin may not connect here")
        if self.closed or len(self._keeper.connections) >= self._settings.connections:
            raise Rejected(Reason.UNAVAILABLE, "this gateway takes no more connections; try again")

    async def _admit(self, address: str) -> None:
        if self._gates.connects is not None:
            await self._gates.connects.take(bucket_key(address))
        if self._gates.connects_in_all is not None:
            await self._gates.connects_in_all.take(ALL)
        if self._settings.limits and self._here[bucket_key(address)] >= self._settings.connections_per_address:
            raise Rejected(Reason.LIMIT, "too many connections are open from your address", retry_ms=5_000)

    def _welcome(self, origin: str, host: str) -> bool:
        if origin in self._settings.origins:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()

    async def caller(self, request: web.Request) -> Claims | None:
        """Who makes an HTTP call; None without a token. Raises Rejected: UNAUTHORIZED, LIMIT."""
        return await self._bearer(request, self._guard.address(request))

    async def _bearer(self, request: web.Request, address: str) -> Claims | None:
        header = request.headers.get("Authorization")
        if header is None:
            return None
        kind, _, token = header.partition(" ")
        if kind.lower() != "bearer" or not token.strip():
            raise Rejected(Reason.UNAUTHORIZED, "the Authorization header must be `Bearer TOKEN`")
        await self._may_hello(address)
        try:
            return await self._tokens.verify(token.strip())
        except Rejected as rejected:
            if rejected.reason is Reason.UNAUTHORIZED:
                self._failed(address)
            raise

    async def _may_hello(self, address: str) -> None:
        if self._gates.hellos is not None:
            await self._gates.hellos.look(bucket_key(address))

    def _left(self, address: str) -> None:
        key = bucket_key(address)
        self._here[key] -= 1
        if not self._here[key]:
            del self._here[key]

    def _failed(self, address: str) -> None:
        if self._gates.hellos is not None:
            self._gates.hellos.note(bucket_key(address))


def _is_key(request: web.Request) -> bool:
    """Whether the handshake's key is one: 16 bytes in base64."""
    try:
        return len(b64decode(request.headers.get("Sec-WebSocket-Key", ""), validate=True)) == 16
    except ValueError:
        return False
