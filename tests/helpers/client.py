"""A client of the public protocol, as a stranger would write one.

It knows HTTP and WebSocket and nothing of the cluster's inside. Every event is
kept in order; versions of every game are checked as they come: one more than
the last, or the test fails.
"""

import asyncio
import itertools
import json
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

import aiohttp

Event = dict[str, Any]
VERSIONED = frozenset({"move", "offer", "adjourned", "resumed", "over"})


class Refused(AssertionError):
    """An `error` answered a request."""

    def __init__(self, event: Event) -> None:
        super().__init__(f"{event['code']}: {event['message']}")
        self.event = event
        self.code = str(event["code"])


class Client:
    """One connection."""

    def __init__(self, session: aiohttp.ClientSession, url: str, token: str, player: Event) -> None:
        self.session = session
        self.url = url.rstrip("/")
        self.token = token
        self.player = player
        self.events: list[Event] = []
        self.versions: dict[str, int] = {}
        self.views: dict[str, Event] = {}
        self.gaps: list[str] = []
        self.close_code: int | None = None
        self._name = secrets.token_hex(4)
        self._refs = itertools.count(1)
        self._answers: dict[str, asyncio.Future[Event]] = {}
        self._news = asyncio.Condition()
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reader: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        return str(self.player["id"])

    async def connect(self, **hello: Any) -> Self:
        """Opens the socket and says hello. Raises Refused if that is answered with an error."""
        self._socket = await self.session.ws_connect(f"{self.url}/ws", protocols=("numbridge.v1",), compress=0)
        self._reader = asyncio.create_task(self._read(self._socket))
        await self.send({"op": "hello", "token": self.token, **hello})
        greeting = await self.wait(("hello", "error"))
        if greeting["ev"] == "error":
            raise Refused(greeting)
        return self

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for message in socket:
            if message.type is not aiohttp.WSMsgType.TEXT:
                continue
            event = json.loads(message.data)
            async with self._news:
                self._take(event)
                self._news.notify_all()
        self.close_code = socket.close_code
        for future in self._answers.values():
            if not future.done():
                future.set_exception(ConnectionError(f"closed with {socket.close_code}"))
        async with self._news:
            self._news.notify_all()

    def _take(self, event: Event) -> None:
        self.events.append(event)
        game, version = str(event.get("game")), int(event.get("version", 0))
        if event["ev"] == "state":
            self.versions[game] = version
            self.views[game] = event["view"]
        elif event["ev"] in VERSIONED:
            known = self.versions.get(game)
            if known is not None and version != known + 1:
                self.gaps.append(f"{game}: {known} then {version}")
            self.versions[game] = version
        if event["ev"] in ("ok", "error", "pong") and event.get("ref") in self._answers:
            future = self._answers.pop(event["ref"])
            if not future.done():
                future.set_result(event)

    async def send(self, body: Event) -> None:
        assert self._socket is not None
        await self._socket.send_str(json.dumps(body))

    async def send_raw(self, data: str | bytes) -> None:
        assert self._socket is not None
        await (self._socket.send_str(data) if isinstance(data, str) else self._socket.send_bytes(data))

    async def ask(self, op: str, timeout_s: float = 10.0, **fields: Any) -> Event:
        """Sends a request with a ref and returns its `ok`. Raises Refused."""
        # A ref is a key for the player and game, whatever the connection: no two connections share one.
        ref = fields.pop("ref", None) or f"{self._name}-{next(self._refs)}"
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self._answers[ref] = future
        await self.send({"op": op, "ref": ref, **fields})
        async with asyncio.timeout(timeout_s):
            answer = await future
        if answer["ev"] == "error":
            raise Refused(answer)
        return answer

    async def play(
        self, game: str, kind: str, *, version: int | None = None, ref: str | None = None, **action: Any
    ) -> Event:
        """Acts at a table, by default at the last version seen; returns once its events have come too."""
        seen = self.versions[game] if version is None else version
        answer = await self.ask("play", game=game, version=seen, action={"kind": kind, **action}, ref=ref)
        await self.seen(game, answer["version"])
        return answer

    async def seen(self, game: str, version: int) -> None:
        """Waits until this version of the game has come."""
        async with asyncio.timeout(10), self._news:
            await self._news.wait_for(lambda: self.versions.get(game, 0) >= version)

    async def wait(
        self,
        ev: str | tuple[str, ...],
        where: Callable[[Event], bool] = lambda _: True,
        *,
        since: int = 0,
        timeout_s: float = 15.0,
    ) -> Event:
        """The first event `ev` (or one of several), from index `since` on, for which `where` holds."""
        kinds = (ev,) if isinstance(ev, str) else ev

        def find() -> Event | None:
            return next((e for e in self.events[since:] if e["ev"] in kinds and where(e)), None)

        try:
            async with asyncio.timeout(timeout_s), self._news:
                while (found := find()) is None:
                    if self._reader is not None and self._reader.done():
                        raise ConnectionError(f"closed with {self.close_code} while waiting for {ev}")
                    await self._news.wait()
        except TimeoutError:
            tail = [e["ev"] for e in self.events[-12:]]
            raise AssertionError(f"no {ev} within {timeout_s} s; last events: {tail}") from None
        return found

    async def follow(self, game: str, since: int = 0, timeout_s: float = 60.0) -> AsyncIterator[Event]:
        """Every event of a game from index `since` on, as they come; ends after `rated`, or `over` of an unrated game.

        Fails when nothing comes for `timeout_s`.
        """
        rated = True
        while True:
            async with asyncio.timeout(timeout_s), self._news:
                while since >= len(self.events):
                    if self._reader is not None and self._reader.done():
                        raise ConnectionError(f"closed with {self.close_code} while following {game}")
                    await self._news.wait()
            event = self.events[since]
            since += 1
            if event.get("game") != game:
                continue
            yield event
            if event["ev"] == "state":
                rated = event["view"]["settings"]["rated"]
            if event["ev"] == ("rated" if rated else "over"):
                return

    async def join(self, game: str, since: int | None = None) -> Event:
        """Joins and returns the `state` (or, with `since`, the `ok`)."""
        mark = len(self.events)
        answer = await self.ask("join", game=game, **({} if since is None else {"since": since}))
        if since is not None:
            return answer
        return await self.wait("state", lambda e: e["game"] == game, since=mark)

    async def closed(self, timeout_s: float = 10.0) -> int | None:
        """Waits until the server has closed the socket; the close code."""
        assert self._reader is not None
        async with asyncio.timeout(timeout_s):
            await asyncio.wait([self._reader])
        return self.close_code

    async def close(self) -> None:
        if self._socket is not None:
            await self._socket.close()
        if self._reader is not None:
            await asyncio.wait([self._reader], timeout=5)

    async def drop(self) -> None:
        """Cuts the connection without a closing handshake, as a lost network would."""
        assert self._socket is not None
        transport = self._socket.get_extra_info("socket")
        assert transport is not None
        if self._reader is not None:
            self._reader.cancel()
        response = self._socket._response
        if response.connection is not None and response.connection.transport is not None:
            response.connection.transport.abort()
        response.close()


class Club:
    """The club's HTTP side, and a maker of clients; several gateways are used in turn."""

    def __init__(self, session: aiohttp.ClientSession, *urls: str) -> None:
        self.session = session
        self.urls = [url.rstrip("/") for url in urls]
        self._turn = itertools.cycle(self.urls)

    async def guest(self, name: str = "Ada", **hello: Any) -> Client:
        """A new guest, connected."""
        url = next(self._turn)
        async with self.session.post(f"{url}/api/guests", json={"name": name}) as response:
            assert response.status == 201, await response.text()
            body = await response.json()
        return await Client(self.session, url, body["token"], body["player"]).connect(**hello)

    async def again(self, client: Client, url: str | None = None) -> Client:
        """Another connection of the same player."""
        return await Client(self.session, url or next(self._turn), client.token, client.player).connect()

    async def get(self, path: str, status: int = 200, token: str | None = None) -> Any:
        """GET of a JSON resource, with the status checked."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with self.session.get(f"{self.urls[0]}{path}", headers=headers) as response:
            text = await response.text()
            assert response.status == status, f"{path}: {response.status} {text[:300]}"
            return json.loads(text)

    async def seat(self, room: str, **wish: Any) -> tuple[str, Client, Client]:
        """Two new guests, matched and joined: the game, blue, red."""
        one, two = await asyncio.gather(self.guest("Ada"), self.guest("Bob"))
        return await self.pair(one, two, room, **wish)

    async def pair(self, one: Client, two: Client, room: str, **wish: Any) -> tuple[str, Client, Client]:
        """Seats two players with one another by an accepted seek: the game, blue, red."""
        marks = [len(client.events) for client in (one, two)]
        posted = await one.ask("seek", room=room, **wish)
        try:
            await two.ask("accept_seek", seek=posted["seek"])
        except Refused as refused:
            if refused.code != "gone":
                raise
        seated = [await client.wait("seated", since=mark) for client, mark in zip((one, two), marks, strict=True)]
        game = seated[0]["game"]
        assert seated[1]["game"] == game
        await asyncio.gather(one.join(game), two.join(game))
        return (game, one, two) if seated[0]["color"] == "blue" else (game, two, one)


@asynccontextmanager
async def club(*urls: str) -> AsyncIterator[Club]:
    """A Club on its own HTTP session."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        yield Club(session, *urls)
