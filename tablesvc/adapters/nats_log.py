"""The log on JetStream: stream TABLES, subject `table.<shard>.<game>`, marks on `table.<shard>.owner`.

The fence is `Nats-Expected-Last-Subject-Sequence`: the stream sequence of the last message on the game's own
subject. An append is a plain publish whose reply subject is in this process's own inbox: one subscription for
all acks, no timer a message; that halves what `JetStreamContext.publish` costs.
"""

import asyncio
from collections.abc import Awaitable

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from numbridge import names
from numbridge.clock import monotonic
from numbridge.kv_mirror import AWAY
from numbridge.nats_io import subscribe_directly
from tablesvc.ports import Away, LogError, Logged, Refused, WrongLast

OWNER = "owner"
"""The marks' place among a shard's games; no game id looks like it."""

_WRONG_LAST = (10071, 10164)  # another last sequence; another append with the same expectation in flight
_NOT_NOW = (10008, 10009, 10074)  # JetStream is starting, has no quorum or no leader
_NO_MESSAGE = 10037
_SWEEP_S = 0.1
_SILENCE_S = 3.0  # an ordered pass without a message for so long has lost its server


class _ApiError(msgspec.Struct):
    code: int = 0
    err_code: int = 0
    description: str = ""


class _Ack(msgspec.Struct):
    seq: int = 0
    error: _ApiError | None = None


_decode_ack = msgspec.json.Decoder(_Ack).decode


def _failure(ack: _Ack) -> LogError:
    error = ack.error or _ApiError(description="an ack without a sequence")
    said = f"{error.description} ({error.err_code})"
    if error.err_code in _WRONG_LAST:
        return WrongLast(said)
    return Away(said) if error.err_code in _NOT_NOW or error.code == 503 else Refused(said)


def _check_only_message_missing(error: NotFoundError) -> None:
    """A message that is not there is an answer; a stream that is not there is none. Raises Away."""
    if error.err_code != _NO_MESSAGE:
        raise Away(f"{error.description} ({error.err_code})") from error


def _sequence(reply: str) -> int:
    tokens = reply.split(".")  # $JS.ACK.[domain.account.]stream.consumer.delivered.sequence....
    return int(tokens[5] if len(tokens) == 9 else tokens[7])


class NatsLog:
    """See ports.TableLog. Start it once the connection is up; its subscription survives reconnects."""

    def __init__(self, client: Client, js: JetStreamContext, timeout_s: float) -> None:
        """`timeout_s`: how long an ack may take before its append counts as unknown."""
        self._client = client
        self._js = js
        self._timeout_s = timeout_s
        self._waiting: dict[str, tuple[asyncio.Future[int], float]] = {}
        self._prefix = client.new_inbox() + "."
        self._next = 0
        self._sweeper: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Listens for acks. Raises OSError or nats errors while the server is away."""
        await subscribe_directly(self._client, f"{self._prefix}*", self._acked)
        await self._client.flush()

    async def stop(self) -> None:
        """Ends all waits with Away."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for future, _ in list(self._waiting.values()):
            if not future.done():
                future.set_exception(Away("the worker stops"))
                future.exception()  # whoever waited may be gone
        self._waiting.clear()

    def _acked(self, message: Msg) -> None:
        future, _ = self._waiting.pop(message.subject[len(self._prefix) :], (None, 0.0))
        if future is None or future.done():
            return
        if not message.data:
            future.set_exception(Away("nobody keeps the stream just now"))
            return
        try:
            ack = _decode_ack(message.data)
        except msgspec.DecodeError:
            future.set_exception(Away("an ack that is none"))
            return
        if ack.error is None and ack.seq:
            future.set_result(ack.seq)
        else:
            future.set_exception(_failure(ack))

    def _sweep(self) -> None:
        self._sweeper = None
        oldest = monotonic() - self._timeout_s
        late = []
        for token, (_, sent_at) in self._waiting.items():  # in the order they were sent
            if sent_at > oldest:
                break
            late.append(token)
        for token in late:
            future, _ = self._waiting.pop(token)
            if not future.done():
                future.set_exception(Away("no ack in time"))
        if self._waiting:
            self._sweeper = asyncio.get_running_loop().call_later(_SWEEP_S, self._sweep)

    async def _send(self, subject: str, data: bytes, headers: dict[str, str]) -> asyncio.Future[int]:
        self._check()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[int] = loop.create_future()
        self._next += 1
        token = str(self._next)
        self._waiting[token] = (future, monotonic())
        if self._sweeper is None:
            self._sweeper = loop.call_later(_SWEEP_S, self._sweep)
        try:
            await self._client.publish(subject, data, reply=self._prefix + token, headers=headers)
        except AWAY as error:
            self._waiting.pop(token, None)
            future.cancel()
            raise Away(f"not sent: {type(error).__name__}") from error
        return future

    def _check(self) -> None:
        if not self._client.is_connected:  # what is buffered now would be sent when it is out of date
            raise Away("not connected")

    async def append(self, shard: int, game: str, data: bytes, expected: int, append: str) -> Awaitable[int]:
        """See ports.TableLog."""
        return await self._send(
            names.table_subject(shard, game),
            data,
            {"Nats-Expected-Last-Subject-Sequence": str(expected), "Nats-Msg-Id": append},
        )

    async def create(self, shard: int, game: str, data: bytes, mark: int, append: str) -> int:
        """See ports.TableLog."""
        return await self._fenced(names.table_subject(shard, game), data, shard, mark, append)

    async def mark(self, shard: int, data: bytes, expected: int, append: str) -> int:
        """See ports.TableLog."""
        return await self._fenced(names.table_subject(shard, OWNER), data, shard, expected, append)

    async def _fenced(self, subject: str, data: bytes, shard: int, mark: int, append: str) -> int:
        headers = {
            "Nats-Expected-Last-Subject-Sequence": str(mark),
            "Nats-Expected-Last-Subject-Sequence-Subject": names.table_subject(shard, OWNER),
            "Nats-Msg-Id": append,
        }
        return await (await self._send(subject, data, headers))

    async def last_mark(self, shard: int) -> Logged | None:
        """See ports.TableLog."""
        self._check()
        try:
            found = await self._js.get_last_msg(names.TABLES, names.table_subject(shard, OWNER))
        except NotFoundError as error:
            _check_only_message_missing(error)
            return None
        except AWAY as error:
            raise Away(f"{type(error).__name__}: {error}") from error
        return Logged(OWNER, found.seq or 0, found.data or b"")

    async def forget_marks(self, shard: int) -> None:
        """See ports.TableLog."""
        await self._purge(names.table_subject(shard, OWNER), keep=1)

    async def purge(self, shard: int, game: str) -> None:
        """See ports.TableLog."""
        await self._purge(names.table_subject(shard, game), keep=None)

    async def _purge(self, subject: str, keep: int | None) -> None:
        self._check()
        try:
            await self._js.purge_stream(names.TABLES, subject=subject, keep=keep)
        except AWAY as error:
            raise Away(f"{type(error).__name__}: {error}") from error

    async def read_shard(self, shard: int, upto: int) -> list[Logged]:
        """See ports.TableLog."""
        self._check()
        found: list[Logged] = []
        done = asyncio.get_running_loop().create_future()
        heard_at = monotonic()

        async def take(message: Msg) -> None:
            nonlocal heard_at
            heard_at = monotonic()
            sequence = _sequence(message.reply)
            if sequence <= upto:
                game = message.subject.rpartition(".")[2]
                if not found or found[-1].seq < sequence:
                    found.append(Logged(game, sequence, message.data))
            if sequence >= upto and not done.done():
                done.set_result(None)

        try:
            subscription = await self._js.subscribe(
                names.shard_subjects(shard), stream=names.TABLES, ordered_consumer=True, cb=take, inactive_threshold=10
            )
            try:
                while not done.done():
                    await asyncio.wait([done], timeout=0.5)
                    if monotonic() - heard_at > _SILENCE_S:
                        raise Away("the log fell silent in the middle of a pass")
            finally:
                await subscription.unsubscribe()
        except AWAY as error:
            raise Away(f"{type(error).__name__}: {error}") from error
        return found

    async def read_game(self, shard: int, game: str, after: int) -> list[Logged]:
        """See ports.TableLog."""
        self._check()
        found: list[Logged] = []
        subject = names.table_subject(shard, game)
        while True:
            try:
                message = await self._js.get_msg(names.TABLES, seq=after + 1, subject=subject, next=True)
            except NotFoundError as error:
                _check_only_message_missing(error)
                return found
            except AWAY as error:
                raise Away(f"{type(error).__name__}: {error}") from error
            after = message.seq or 0
            found.append(Logged(game, after, message.data or b""))

    async def ask(self) -> None:
        """See ports.TableLog."""
        self._check()
        try:
            await self._js.get_last_msg(names.TABLES, names.table_subject(0, OWNER))
        except NotFoundError as error:
            _check_only_message_missing(error)
        except AWAY as error:
            raise Away(f"{type(error).__name__}: {error}") from error

    def waiting_since(self) -> float | None:
        """See ports.TableLog."""
        for _, sent_at in self._waiting.values():
            return sent_at
        return None
