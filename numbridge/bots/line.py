"""One connection to a gateway: requests with their answers, and events.

LineLost   the connection is gone, or no answer came in time: connect again and resume
Refused    the server said no; `code` is the protocol's
"""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import aiohttp
import msgspec

from numbridge.wire import SUBPROTOCOL, encode

Event = dict[str, Any]

CONNECT_S = 10.0
ANSWER_S = 20.0  # longer than a gateway waits for a table that moves to another worker
_HEARTBEAT_S = 20.0  # a peer that does not answer a ping for half of this is gone
_MOST_BYTES = 1 << 20  # a seek list of a full club; everything else is far smaller

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class LineLost(ConnectionError):
    """The connection has ended."""

    def __init__(self, why: str, close_code: int | None = None) -> None:
        super().__init__(why)
        self.close_code = close_code


class Refused(Exception):
    """An `error` answered a request, or the way in was barred."""

    def __init__(self, code: str, message: str, *, version: int | None = None, retry_ms: int | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.version = version
        self.retry_ms = retry_ms

    @classmethod
    def of(cls, event: Event) -> "Refused":
        """From an `error` event."""
        return cls(
            str(event["code"]),
            str(event.get("message", "")),
            version=event.get("version"),
            retry_ms=event.get("retry_ms"),
        )


class Line:
    """An open connection that has said hello. Events go to `on_event`, in order, from within `listen`."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, on_event: Callable[[Event], None]) -> None:
        self._socket = socket
        self._on_event = on_event
        self._refs = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Event]] = {}  # as many as there are requests being waited for
        self._lost: LineLost | None = None

    @classmethod
    async def open(
        cls, session: aiohttp.ClientSession, url: str, token: str, on_event: Callable[[Event], None]
    ) -> "tuple[Line, Event]":
        """Connects and says hello; the line and the `hello` event. Raises LineLost, Refused."""
        try:
            async with asyncio.timeout(CONNECT_S):
                socket = await session.ws_connect(
                    f"{url}/ws",
                    protocols=(SUBPROTOCOL,),
                    heartbeat=_HEARTBEAT_S,
                    compress=0,
                    max_msg_size=_MOST_BYTES,
                )
        except aiohttp.WSServerHandshakeError as error:
            raise _barred(error) from None
        except (OSError, TimeoutError, aiohttp.ClientError, ValueError) as error:
            raise LineLost(f"can't connect: {error or type(error).__name__}") from None
        line = cls(socket, on_event)
        try:
            async with asyncio.timeout(CONNECT_S):
                await line._send({"op": "hello", "token": token})
                hello = await line._receive()
        except TimeoutError:
            await line.close()
            raise LineLost("no hello came") from None
        except BaseException:
            await line.close()
            raise
        if hello["ev"] == "error":
            await line.close()
            raise Refused.of(hello)
        return line, hello

    async def listen(self) -> None:
        """Takes in what comes until the connection ends. Always raises LineLost."""
        try:
            while True:
                event = await self._receive()
                answer = self._waiting.get(event.get("ref") or "")
                if answer is not None and event["ev"] in ("ok", "error"):
                    if not answer.done():
                        answer.set_result(event)
                else:
                    self._on_event(event)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._lost = LineLost(f"an event that can't be read: {error!r}")
            raise self._lost from None
        except LineLost as lost:
            self._lost = lost
            raise
        finally:
            self._lost = self._lost or LineLost("the line was put down")
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(self._lost)
                    future.exception()  # whoever waits is told; it is no fault if nobody does any more

    async def ask(self, op: str, *, ref: str | None = None, **fields: Any) -> Event:
        """Sends a request and waits for its `ok`. Raises Refused, LineLost."""
        if self._lost is not None:
            raise self._lost
        ref = ref or f"{next(self._refs)}"
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self._waiting[ref] = future
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._send({"op": op, "ref": ref, **fields})
                answer = await future
        except TimeoutError:
            await self.close()
            raise LineLost(f"no answer to {op} within {ANSWER_S:.0f} s") from None
        finally:
            self._waiting.pop(ref, None)
        if answer["ev"] == "error":
            raise Refused.of(answer)
        return answer

    async def close(self) -> None:
        """Ends the connection; fine if it has gone."""
        try:
            async with asyncio.timeout(2.0):
                await self._socket.close()
        except (OSError, TimeoutError, aiohttp.ClientError):
            pass  # it is gone one way or the other

    async def _send(self, body: Event) -> None:
        try:
            await self._socket.send_str(encode(body).decode())
        except (OSError, aiohttp.ClientError) as error:
            raise LineLost(f"can't send: {error}") from None

    async def _receive(self) -> Event:
        while True:
            message = await self._socket.receive()
            if message.type is aiohttp.WSMsgType.TEXT:
                try:
                    return _decode(message.data)
                except msgspec.MsgspecError as error:
                    raise LineLost(f"a message that can't be read: {error}") from None
            if message.type is not aiohttp.WSMsgType.BINARY:  # closed, closing, error
                code = self._socket.close_code
                raise LineLost(f"the server closed the connection ({code})", code)


def _barred(error: aiohttp.WSServerHandshakeError) -> Refused | LineLost:
    """What an HTTP status instead of a socket means."""
    if error.status in (401, 403):
        return Refused("unauthorized" if error.status == 401 else "forbidden", error.message)
    if error.status == 429:
        return Refused("limit", "too many connections", retry_ms=retry_after_ms(error.headers))
    return LineLost(f"the gateway answered {error.status}")


def retry_after_ms(headers: Any) -> int:
    """What Retry-After says, in milliseconds; a second where it says nothing."""
    text = (headers or {}).get("Retry-After", "")
    return min(int(text), 600) * 1000 if text.isascii() and text.isdigit() else 1000
