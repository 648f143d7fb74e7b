"""A connection to some gateway, which may break at any moment and says so by Gone."""

import asyncio
import itertools
import json
import secrets
from collections.abc import Callable
from typing import Any

import aiohttp

Event = dict[str, Any]
Hear = Callable[[Event, str], None]

CONNECT_S = 4.0
ANSWER_S = 8.0  # the gateway itself tries for longer; a person would have reloaded the page by then
_BEAT_S = 6.0  # a gateway that stands still is noticed after at most one and a half of these

_refs = itertools.count(1)
_run = secrets.token_hex(3)


def new_ref() -> str:
    """A ref that nobody else uses."""
    return f"{_run}-{next(_refs)}"


class Gone(Exception):
    """The connection is lost, or an answer did not come."""


class Line:
    """One socket; `open` may be called again and again."""

    def __init__(self, session: aiohttp.ClientSession, token: str, hear: Hear) -> None:
        """`hear(event, text)` takes every event, in order."""
        self.url = ""
        self._session = session
        self._token = token
        self._hear = hear
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reader: asyncio.Task[None] | None = None
        self._answers: dict[str, asyncio.Future[Event]] = {}
        self._hello: asyncio.Future[Event] | None = None
        self._news = asyncio.Event()
        self.close_codes: list[int | None] = []

    async def open(self, url: str) -> Event:
        """Connects to a gateway; its `hello`. Raises Gone."""
        await self.close()
        self.url = url
        self._hello = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(CONNECT_S):
                self._socket = await self._session.ws_connect(
                    f"{url}/ws", protocols=("numbridge.v1",), compress=0, heartbeat=_BEAT_S
                )
                self._reader = asyncio.create_task(self._read(self._socket))
                await self._socket.send_str(json.dumps({"op": "hello", "token": self._token}))
                return await asyncio.shield(self._hello)
        except (aiohttp.ClientError, OSError, TimeoutError, asyncio.InvalidStateError) as error:
            raise Gone(f"{type(error).__name__}: {error}") from error

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        try:
            async for message in socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    self._take(json.loads(message.data), message.data)
        finally:
            self.close_codes.append(socket.close_code)
            gone = Gone(f"closed with {socket.close_code}")
            for future in [*self._answers.values(), *([self._hello] if self._hello else [])]:
                if not future.done():
                    future.set_exception(gone)
                    future.exception()  # whoever waits sees it; nobody has to
            self._answers.clear()
            self._news.set()

    def _take(self, event: Event, text: str) -> None:
        if event["ev"] == "hello" and self._hello is not None and not self._hello.done():
            self._hello.set_result(event)
        self._hear(event, text)
        future = self._answers.pop(str(event.get("ref")), None)
        if future is not None and not future.done():
            future.set_result(event)
        self._news.set()

    @property
    def up(self) -> bool:
        """Whether it stands, as far as is known."""
        return self._reader is not None and not self._reader.done()

    async def ask(self, op: str, ref: str | None = None, **fields: Any) -> Event:
        """The `ok` or `error` that answers. Raises Gone."""
        if not self.up or self._socket is None:
            raise Gone("not connected")
        ref = ref or new_ref()
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self._answers[ref] = future
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._socket.send_str(json.dumps({"op": op, "ref": ref, **fields}))
                return await future
        except (ConnectionError, RuntimeError, aiohttp.ClientError) as error:
            raise Gone(str(error)) from error
        except TimeoutError:
            raise Gone(f"no answer to {op}") from None
        finally:
            self._answers.pop(ref, None)

    async def news(self, patience_s: float) -> bool:
        """Waits for any event; False if there was none for so long. Raises Gone."""
        if not self._news.is_set():
            try:
                async with asyncio.timeout(patience_s):
                    await self._news.wait()
            except TimeoutError:
                return False
        self._news.clear()
        if not self.up:
            raise Gone("closed")
        return True

    async def close(self) -> None:
        """Hangs up, without waiting for a gateway that may stand still."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        if self._socket is not None:
            response = self._socket._response
            if response.connection is not None and response.connection.transport is not None:
                response.connection.transport.abort()
            response.close()
        self._reader = self._socket = None
        self._news.clear()
