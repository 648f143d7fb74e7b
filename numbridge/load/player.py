"""One socket that seeks, plays and seeks again. Nothing here waits: timers and the socket call it.

connect -> hello -> seek -> seated -> join -> state -> play … -> over -> seek …
              └ games under way -> join
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Protocol

import msgspec
import picows

from numbridge.load.strategy import Board, choose
from numbridge.load.tally import Tally

MOST_THINK = 4.0  # of the mean; exponential beyond that is cut
SHORTEST, LONGEST = 20, 60  # moves of a game before one of the two resigns
RETRY_S = 1.0


class _Event(msgspec.Struct):
    """What of an event matters here; the rest is not even decoded."""

    ev: str
    ref: str | None = None
    game: str = ""
    version: int = 0
    to_move: str | None = None
    kind: str = ""
    cell: str | None = None
    hit: bool | None = None
    hand: list[int] | None = None
    bag: int = 0
    code: str = ""
    games: list[str] = []
    view: dict[str, Any] | None = None
    retry_ms: int = 0


_decode = msgspec.json.Decoder(_Event).decode


@dataclass(slots=True)
class Meeting:
    """A move on its way to the players of one table."""

    present: int = 0
    """Players of this crowd at the table."""
    sent_at: float = 0.0
    version: int = -1
    """The version that the play was made at."""
    got: int = 0


class Home(Protocol):
    """What a player knows of its crowd."""

    room: str
    think_s: float
    tally: Tally
    meetings: dict[str, Meeting]
    rng: Random

    def entered(self) -> None:
        """Somebody has come to a table."""

    def lost(self, player: "Player") -> None:
        """Its connection has ended."""

    def asleep(self, player: "Player") -> None:
        """It was parked and has nothing under way any more."""


class Player(picows.WSListener):
    """One player of the crowd."""

    def __init__(self, home: Home, token: str) -> None:
        self.token = token
        self.active = True
        """Seeks again after a game."""
        self.busy = False
        """Seeks or plays."""
        self._home = home
        self._loop = asyncio.get_running_loop()
        self._socket: picows.WSTransport | None = None
        self._game = ""
        self._color = ""
        self._version = 0
        self._board: Board | None = None
        self._length = 0
        self._games = 0
        self._seek_at: float | None = None
        self._asked: dict[str, tuple[str, float]] = {}
        """Requests without an answer: their op, and when they were sent."""
        self._refs = 0
        self._timer: asyncio.TimerHandle | None = None
        self._thinking_at = -1

    # --- the socket

    def on_ws_connected(self, transport: picows.WSTransport) -> None:
        """Says hello."""
        self._socket = transport
        self._ask("hello", token=self.token)

    def on_ws_disconnected(self, transport: picows.WSTransport) -> None:
        """What was under way has no answer any more."""
        self._socket = None
        self._leave_table()
        self._asked.clear()
        self._cancel()
        self._home.lost(self)

    def on_ws_frame(self, transport: picows.WSTransport, frame: picows.WSFrame) -> None:
        """Takes one event in."""
        if frame.msg_type == picows.WSMsgType.TEXT:
            event = _decode(frame.get_payload_as_memoryview())
            hear = self._hears.get(event.ev)
            if hear is not None:
                hear(self, event)
        elif frame.msg_type == picows.WSMsgType.PING:
            transport.send_pong(frame.get_payload_as_bytes())
        elif frame.msg_type == picows.WSMsgType.CLOSE:
            transport.disconnect()

    def close(self) -> None:
        """Ends the connection."""
        self._cancel()
        if self._socket is not None:
            self._socket.disconnect()

    def overdue(self, since: float) -> int:
        """Plays sent before `since` that have no answer."""
        return sum(op == "play" and sent_at < since for op, sent_at in self._asked.values())

    def _ask(self, op: str, **fields: Any) -> None:
        if self._socket is None:
            return
        self._refs += 1
        ref = f"l{self._refs}"
        self._asked[ref] = op, self._loop.time()
        self._socket.send(picows.WSMsgType.TEXT, json.dumps({"op": op, "ref": ref, **fields}).encode())

    def _later(self, delay_s: float, act: Callable[[], None]) -> None:
        """Runs `act` after `delay_s`; how late it was is the generator's own fault."""
        self._cancel()
        due = self._loop.time() + delay_s

        def ring() -> None:
            self._timer = None
            self._home.tally.late.append(self._loop.time() - due)
            act()

        self._timer = self._loop.call_at(due, ring)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._thinking_at = -1

    # --- the lobby

    def wake(self) -> None:
        """Seeks, if it does nothing; call it when it has become active."""
        if self.active and not self.busy and self._socket is not None:
            self.busy = True
            self._seek_at = self._loop.time()
            self._ask("seek", room=self._home.room)

    def park(self) -> None:
        """Plays no more: a seek is taken back, a game given up at the next turn."""
        self.active = False
        if self._seek_at is not None and not self._game:
            self.close()  # a seek goes with its player's last connection

    def _rest(self) -> None:
        """A game or a seek has ended."""
        self.busy = False
        if self.active:
            self._later(self._home.rng.random() * self._home.think_s, self.wake)
        else:
            self._home.asleep(self)

    def _hello(self, event: _Event) -> None:
        self._asked.clear()
        if event.games:
            self.busy = True
            self._ask("join", game=event.games[0])
        else:
            self.busy = False
            self.wake()

    def _seated(self, event: _Event) -> None:
        if self._seek_at is not None:
            self._home.tally.seated.append(self._loop.time() - self._seek_at)
            self._seek_at = None
        self.busy = True
        self._ask("join", game=event.game)

    # --- the table

    def _state(self, event: _Event) -> None:
        view = event.view or {}
        if view.get("status") != "playing" or "you" not in view:
            self._leave_table()
            self._rest()
            return
        self._enter_table(event.game)
        self._color, self._version, self._board = view["you"], event.version, Board.of(view)
        # The first game ends anywhere: else all that began together would end together.
        self._length = self._home.rng.randint(1 if self._games == 0 else SHORTEST, LONGEST)
        self._turn(view["to_move"])

    def _enter_table(self, game: str) -> None:
        if self._game != game:
            self._leave_table()
            self._game = game
            self._home.meetings.setdefault(game, Meeting()).present += 1
            self._home.entered()

    def _leave_table(self) -> None:
        meeting = self._home.meetings.get(self._game)
        if meeting is not None:
            meeting.present -= 1
            if meeting.present <= 0:
                del self._home.meetings[self._game]
        self._game, self._board = "", None

    def _turn(self, to_move: str | None) -> None:
        if to_move != self._color or self._thinking_at == self._version:
            return
        home = self._home
        pause = min(home.rng.expovariate(1.0) * home.think_s, MOST_THINK * home.think_s)
        self._later(pause, self._play)
        self._thinking_at = self._version

    def _play(self) -> None:
        meeting = self._home.meetings.get(self._game)
        if self._board is None or meeting is None:
            return
        over = not self.active or self._version >= self._length
        action = {"kind": "resign"} if over else choose(self._board, self._home.rng)
        meeting.sent_at, meeting.version, meeting.got = self._loop.time(), self._version, 0
        self._ask("play", game=self._game, version=self._version, action=action)

    def _move(self, event: _Event) -> None:
        board = self._board
        if event.game != self._game or board is None or event.version <= self._version:
            return
        meeting = self._home.meetings.get(event.game)
        if meeting is not None and event.version == meeting.version + 1:
            meeting.got += 1
            if meeting.got >= meeting.present:
                self._home.tally.shown.append(self._loop.time() - meeting.sent_at)
        gap = event.version != self._version + 1
        self._version = event.version
        if event.kind == "place" and event.hit and event.cell:
            board.closed(event.cell)
        if event.hand is not None:
            board.hand = event.hand
        board.bag = event.bag
        if gap:
            self._ask("join", game=event.game)
        else:
            self._turn(event.to_move)

    def _over(self, event: _Event) -> None:
        if event.game == self._game:
            self._home.tally.games += self._color == "blue"
            self._games += 1
            self._cancel()
            self._leave_table()
            self._ask("leave", game=event.game)
            self._rest()

    # --- answers

    def _ok(self, event: _Event) -> None:
        op, sent_at = self._asked.pop(event.ref or "", ("", 0.0))
        if op == "play":
            self._home.tally.answered.append(self._loop.time() - sent_at)

    def _error(self, event: _Event) -> None:
        op, _ = self._asked.pop(event.ref or "", ("", 0.0))
        self._home.tally.errors[f"{op} {event.code}".strip()] += 1
        if op == "play":
            self._ask("join", game=self._game)  # the state tells where things stand
        elif op in ("seek", "join", "hello"):
            self._seek_at = None
            self.busy = False
            retry = self._retry_hello if op == "hello" else self.wake
            self._later(max(RETRY_S, event.retry_ms / 1000), retry)

    def _retry_hello(self) -> None:
        self._ask("hello", token=self.token)

    def _seek_ended(self, event: _Event) -> None:
        self._seek_at = None
        if not self._game:
            self._rest()

    _hears: ClassVar[dict[str, Callable[["Player", _Event], None]]] = {
        "hello": _hello,
        "games": _hello,
        "seated": _seated,
        "state": _state,
        "move": _move,
        "over": _over,
        "ok": _ok,
        "error": _error,
        "seek_ended": _seek_ended,
        "seating_failed": _seek_ended,
    }
