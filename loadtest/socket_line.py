"""One WebSocket of a simulated person: events as they come, in order, in a bounded queue."""

import json
from typing import Any

import gevent
from gevent.queue import Empty, Full, Queue
from websocket import WebSocket, WebSocketException, create_connection

Event = dict[str, Any]

QUEUE = 1_000  # events; a person who does not read them is dropped as a slow reader would be
CONNECT_S = 10.0


class Dropped(Exception):
    """The connection has ended; the text says how."""


class Refused(Exception):
    """A request was answered by an error."""

    def __init__(self, event: Event) -> None:
        super().__init__(f"{event['code']}: {event['message']}")
        self.event = event
        self.code = str(event["code"])


class SocketLine:
    """An open, greeted connection."""

    def __init__(self, url: str, token: str) -> None:
        """Raises Dropped or Refused."""
        self._refs = 0
        self._events: Queue[Event | None] = Queue(maxsize=QUEUE)
        self._answers: dict[str, Event] = {}
        address = url.replace("http", "ws", 1).rstrip("/") + "/ws"
        try:
            self._socket: WebSocket = create_connection(
                address, timeout=CONNECT_S, subprotocols=["numbridge.v1"], enable_multithread=True
            )
        except (OSError, WebSocketException) as error:
            raise Dropped(f"can't connect: {error}") from None
        self._socket.settimeout(None)
        self._reader = gevent.spawn(self._read)
        self.send({"op": "hello", "token": token})
        self.hello = self.wait(("hello",), CONNECT_S)

    def _read(self) -> None:
        try:
            while text := self._socket.recv():
                self._events.put_nowait(json.loads(text))
        except (OSError, WebSocketException, Full):
            pass
        finally:
            self._end()

    def _end(self) -> None:
        """Says to whoever reads that nothing more comes; a queue that is full makes room for that."""
        while self._events.full():
            self._events.get_nowait()
        self._events.put_nowait(None)

    def send(self, message: Event) -> str:
        """Sends a message and returns its ref. Raises Dropped."""
        self._refs += 1
        ref = message.setdefault("ref", f"p{self._refs}-{id(self):x}")
        self.send_raw(json.dumps(message))
        return str(ref)

    def send_raw(self, text: str) -> None:
        """Sends a text frame as it is. Raises Dropped."""
        try:
            self._socket.send(text)
        except (OSError, WebSocketException) as error:
            raise Dropped(f"can't send: {error}") from None

    def next(self, timeout_s: float) -> Event | None:
        """The next event; None when none came in time. Raises Dropped."""
        try:
            event: Event | None = self._events.get(timeout=timeout_s)
        except Empty:
            return None
        if event is None:
            raise Dropped("the server has closed the connection")
        return event

    def wait(self, kinds: tuple[str, ...], timeout_s: float) -> Event:
        """The next event of one of the kinds; others before it are passed over. Raises Dropped, Refused."""
        with gevent.Timeout(timeout_s, Dropped(f"no {' or '.join(kinds)} within {timeout_s:g} s")):
            while True:
                event = self.next(timeout_s)
                if event is None:
                    continue
                if event["ev"] in kinds:
                    return event
                if event["ev"] == "error":
                    raise Refused(event)

    def close(self) -> None:
        """A polite end."""
        try:
            self._socket.close(timeout=1)
        except (OSError, WebSocketException):
            pass
        self._reader.kill()

    def cut(self) -> None:
        """The network is gone, without a word."""
        self._socket.shutdown()
        self._reader.kill()
