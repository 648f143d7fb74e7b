"""One socket: reads messages, feeds the session, and does what the session says."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable

import structlog
from aiohttp import WSMsgType, web

from gateway.backend import Backend, Rest
from gateway.faults import Supervised
from gateway.hub import Hub
from gateway.metrics import Metrics
from gateway.outbox import Outbox
from gateway.session import effects as fx
from gateway.session.lag import Lag
from gateway.session.machine import CLOSE_SLOW, Limits, Phase, Session
from numbridge import clock, wire
from numbridge.errors import Rejected
from numbridge.frames import Frame
from numbridge.tokens import Claims

log = structlog.get_logger("numbridge.gateway.connection")

CLOSE_WAIT_S = 2.0  # for the client's part of the closing handshake; then the connection is cut

Socket = web.WebSocketResponse[bool]


class Connection:
    """Implements ports.Viewer, Watcher and Listener, and backend.Caller."""

    def __init__(
        self,
        socket: Socket,
        outbox: Outbox,
        backend: Backend,
        hub: Hub,
        limits: Limits,
        metrics: Metrics,
        *,
        address: str,
        may_hello: Callable[[], Awaitable[None]],
        failed_hello: Callable[[], None],
    ) -> None:
        """`may_hello` raises Rejected (limit) where too many tokens were refused lately; `failed_hello` is called for
        each hello that was refused as unauthorized."""
        now = clock.monotonic()
        self.claims: Claims | None = None
        self.address = address
        self.opened_at = self.heard_at = self.pinged_at = now
        self.closing = False
        self._socket = socket
        self._outbox = outbox
        self._backend = backend
        self._hub = hub
        self._metrics = metrics
        self._may_hello = may_hello
        self._failed_hello = failed_hello
        self._session = Session(limits, now)
        self._lag = Lag()
        self._asking: set[asyncio.Task[None]] = set()
        self._room: asyncio.Event | None = None
        """What a full session waits for; few ever are."""
        self._shutting: asyncio.Task[None] | None = None

    # --- reading ---------------------------------------------------------------------------------------------

    async def run(self, claims: Claims | None) -> None:
        """Serves the socket until it has gone. `claims`: of a verified bearer header."""
        self._metrics.connection_opened()
        try:
            if claims is not None:
                self.claims = claims
                self._do(self._session.bearer())
            while not self.closing:
                while self._session.full and not self.closing:
                    self._room = asyncio.Event()
                    await self._room.wait()
                    self._room = None
                message = await self._socket.receive()
                self.heard_at = clock.monotonic()
                match message.type:
                    case WSMsgType.TEXT:
                        self._text(message.data)
                    case WSMsgType.BINARY:
                        self._do(self._session.bad(wire.BadMessage("a binary frame is no message"), self.heard_at))
                    case WSMsgType.PING:
                        self._do(self._session.pinged(self.heard_at))
                        if not self.closing and not await self._pong(message.data):
                            break
                    case WSMsgType.PONG:
                        if self._lag.pong(bytes(message.data), self.heard_at):
                            self._lag.bound(self._outbox.round_trip_s())
                            self._metrics.round_trip(self._lag.last_s)
                    case _:
                        break
        finally:
            await self._gone()

    async def _pong(self, data: bytes) -> bool:
        """Whether there is still somebody to answer: a ping may be the last word of one who has gone."""
        try:
            await self._socket.pong(data)
        except ConnectionResetError:
            return False
        return True

    def _text(self, data: bytes) -> None:
        try:
            message = wire.decode_client(data)
        except wire.BadMessage as problem:
            self._metrics.message("bad")
            self._metrics.refused("bad_message")
            self._do(self._session.bad(problem, self.heard_at))
            return
        self._metrics.message(str(message.__struct_config__.tag))
        self._do(self._session.message(message, self.heard_at, clock.now_ms(), len(data)))

    async def _gone(self) -> None:
        self.closing = True
        for effect in self._session.closed():
            if isinstance(effect, fx.Untune):
                self._hub.untune(self, effect.game)
        for task in tuple(self._asking):
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)
        self._backend.leave(self)
        self._metrics.connection_closed()
        if self._shutting is not None:
            await asyncio.gather(self._shutting, return_exceptions=True)

    # --- doing -----------------------------------------------------------------------------------------------

    def _do(self, effects: list[fx.Effect]) -> None:
        for effect in effects:
            if isinstance(effect, fx.Send):
                if not self._outbox.send(effect.text):
                    self._do(self._session.lagging())
                elif self._outbox.overflowed:
                    self.shut(wire.CLOSE_POLICY, "too slow: nothing of what is sent is read", "slow")
            elif isinstance(effect, fx.Ask):
                if not isinstance(effect.request, fx.Act) or not self._act(effect, effect.request.message):
                    self._spawn(effect)
            elif isinstance(effect, fx.Untune):
                self._hub.untune(self, effect.game)
            else:
                self.shut(effect.code, effect.reason, "slow" if effect.code == CLOSE_SLOW else "limit")

    def _act(self, ask: fx.Ask, message: wire.Play) -> bool:
        """An action at a table on its usual way: no task, no timer. False if it can't go that way now."""
        started = clock.monotonic()

        def done(result: fx.Result | Rest) -> None:
            if self.closing:
                return
            if callable(result):
                self._spawn(ask, result, started)
                return
            with Supervised(self._metrics, "Act"):
                self._metrics.request_done("Act", clock.monotonic() - started)
                self._do(self._session.answered(ask.number, result))
                self._made_room()

        try:
            return self._backend.act(self, message, done)
        except Rejected:
            return False  # `perform` says it again, and answers

    def _spawn(self, ask: fx.Ask, rest: Rest | None = None, started: float | None = None) -> None:
        task = asyncio.ensure_future(self._carry_out(ask, rest, started))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _carry_out(self, ask: fx.Ask, rest: Rest | None, started: float | None) -> None:
        """`rest`: what is left to do of a request that `started` before; None: all of it."""
        started = clock.monotonic() if started is None else started
        name = type(ask.request).__name__
        result: fx.Result | None = None
        with Supervised(self._metrics, name) as supervised:
            if isinstance(ask.request, fx.LogIn) and self.claims is None:
                await self._may_hello()
            result = await (self._backend.perform(self, ask.request) if rest is None else rest())
        if result is None and supervised.rejected is not None:
            result = self._refusal(ask, supervised.rejected)
        if result is not None:
            self._metrics.request_done(name, clock.monotonic() - started)
            if isinstance(ask.request, fx.Catch):
                self._metrics.joined(_kind_of(result))
            self._do(self._session.answered(ask.number, result))
        self._made_room()

    def _made_room(self) -> None:
        if self._room is not None:
            self._room.set()

    def _refusal(self, ask: fx.Ask, rejected: Rejected) -> fx.Refusal:
        self._metrics.refused(str(rejected.reason))
        if isinstance(ask.request, fx.LogIn) and rejected.reason == "unauthorized":
            self._failed_hello()
        return fx.Refusal(str(rejected.reason), rejected.message, rejected.version, rejected.retry_ms, rejected.ply)

    def shut(self, code: int, reason: str, why: str) -> None:
        """Closes the socket: politely within CLOSE_WAIT_S, then at once."""
        if self._shutting is not None:
            return
        self.closing = True
        self._metrics.closed_by_us(why)
        self._shutting = asyncio.ensure_future(self._shut(code, reason))
        self._made_room()

    async def _shut(self, code: int, reason: str) -> None:
        try:
            async with asyncio.timeout(CLOSE_WAIT_S):
                await self._socket.close(code=code, message=reason.encode()[:120], drain=False)
        except (TimeoutError, ConnectionError):
            pass
        finally:
            self._outbox.abort()

    # --- what others tell it ---------------------------------------------------------------------------------

    @property
    def lag_ms(self) -> int:
        """Estimate of the one-way lag of this socket."""
        return self._lag.lag_ms(clock.monotonic())

    @property
    def waiting_bytes(self) -> int:
        """Bytes written that the network has not taken yet."""
        return self._outbox.waiting

    @property
    def open(self) -> bool:
        """Whether somebody has logged in."""
        return self._session.phase is Phase.OPEN

    def on_frames(self, game: str, frames: list[Frame]) -> None:
        """Live frames of a table."""
        self._do(self._session.frames(game, frames))

    def on_resync(self, game: str | None) -> None:
        """Frames may have been missed."""
        self._do(self._session.resync(game))

    def on_lobby(self, texts: Iterable[bytes]) -> None:
        """Changes of a seek list."""
        self._do(self._session.lobby_news(texts))

    def on_notice(self, text: bytes) -> None:
        """An event for the player."""
        self._do(self._session.notice(text))

    # --- time ------------------------------------------------------------------------------------------------

    def ping(self, now: float) -> None:
        """Sends a ping, if none is under way."""
        if not self._lag.waiting:
            self.pinged_at = now
            self._outbox.ping(self._lag.ping(now, secrets.token_bytes(8)))

    def tick(self) -> None:
        """Several times a second: what was dropped for a slow reader is made good once he has caught up."""
        if self._outbox.caught_up():
            self._do(self._session.drained())
        elif not self._outbox.lagging:
            self._do(self._session.tick())


def _kind_of(joined: fx.Result) -> str:
    """What a join was answered with, as the metrics call it."""
    match joined:
        case fx.Joined():
            return "state" if joined.state else "events"
        case fx.Archived():
            return "archived"
        case _:
            return "refused"
