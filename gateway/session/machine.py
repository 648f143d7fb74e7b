"""One client's conversation. Every public method takes one stimulus and returns the effects it has.

    NEW --hello--> LOGGING_IN --greeting--> OPEN          any of them --close--> CLOSED
     ^                 |
     +----refusal------+

`now` is monotonic seconds. Nothing here waits: a request goes out as Ask and
its result comes back by `answered`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from gateway.session import effects as fx
from gateway.session import replies
from gateway.session.lanes import Lanes
from gateway.session.limits import Bucket, Buckets, Rate
from gateway.session.talk import Talk
from gateway.session.viewing import Viewing
from numbridge import wire

MOST_REFUSED_HELLOS = 5  # on one connection; then it is closed
CLOSE_SLOW = 1013  # "try again later": the reader is too slow for a player's seat


class Phase(Enum):
    """Where the conversation stands."""

    NEW = auto()
    LOGGING_IN = auto()
    OPEN = auto()
    CLOSED = auto()


@dataclass(frozen=True, slots=True)
class Limits:
    """A session's limits. The Buckets are shared by all sessions of the process; None lifts a limit."""

    message: Rate | None = None
    size: Rate | None = None  # bytes of messages
    bad: Rate | None = None
    flood: Rate | None = None  # refusals by `message` that are still answered
    player: Buckets | None = None
    seek: Buckets | None = None
    join: Buckets | None = None
    games: int | None = None  # joined at the same time
    requests: int = 32  # under way or waiting


class Session:
    """The machine of one connection."""

    def __init__(self, limits: Limits, now: float) -> None:
        self.player = ""
        self.lobby: set[str | None] = set()
        self._talk = Talk()
        self.tables = Viewing(self._talk, self._finish, limits.games)
        self._limits = limits
        self._messages = Bucket(limits.message, now) if limits.message else None
        self._bytes = Bucket(limits.size, now) if limits.size else None
        self._bad = Bucket(limits.bad, now) if limits.bad else None
        self._floods = Bucket(limits.flood, now) if limits.flood else None
        self._lanes: Lanes[wire.ClientMessage] = Lanes()
        self._phase = Phase.NEW
        self._lobby_muted = False
        self._refused_hellos = 0

    @property
    def phase(self) -> Phase:
        """Where the conversation stands."""
        return Phase.CLOSED if self._talk.closed else self._phase

    @property
    def full(self) -> bool:
        """Whether no further message can be taken just now: the socket is to be left unread."""
        return self.phase is Phase.LOGGING_IN or self._lanes.load >= self._limits.requests

    # --- stimuli: the client ---------------------------------------------------------------------------------

    def bearer(self) -> list[fx.Effect]:
        """The connection came with a bearer header that was verified: the hello event comes unasked."""
        self._log_in("", None)
        return self._talk.done()

    def bad(self, problem: wire.BadMessage, now: float) -> list[fx.Effect]:
        """A frame that is no message."""
        if self._talk.closed:
            return []
        if self._bad is not None and self._bad.take(now):
            self._talk.close(wire.CLOSE_POLICY, "too many bad messages")
        else:
            self._talk.refuse(problem.ref, fx.Refusal("bad_message", str(problem)))
        return self._talk.done()

    def pinged(self, now: float) -> list[fx.Effect]:
        """A ping frame: it counts as a message, though its answer is not ours to make."""
        over = self._messages is not None and self._messages.take(now) > 0
        if over and self._floods is not None and self._floods.take(now):
            self._talk.close(wire.CLOSE_POLICY, "too many messages")
        return self._talk.done()

    def message(self, message: wire.ClientMessage, now: float, server_at: int, size: int = 0) -> list[fx.Effect]:
        """A message of the client's, `size` bytes long. `server_at`: wall time in milliseconds, for a pong."""
        if self._talk.closed:
            return []
        if isinstance(message, wire.Join) and message.since is not None and not 0 <= message.since < 2**53:
            return self.bad(wire.BadMessage("`since` must be 0 or more", message.ref), now)
        if self._limited(message, now, size):
            return self._talk.done()
        if isinstance(message, wire.Hello):
            if self._phase is Phase.NEW:
                self._log_in(message.token, message.ref)
            else:
                self._talk.refuse(message.ref, fx.Refusal("unauthorized", "this connection has said hello already"))
        elif self._phase is not Phase.OPEN:
            self._talk.refuse(message.ref, fx.Refusal("unauthorized", "say hello with a token first"))
        elif isinstance(message, wire.Ping):
            self._talk.send(replies.pong(message.ref, message.sent_at, server_at))
        elif self._lanes.enter(_lane(message), message):
            self._start(message)
        return self._talk.done()

    # --- stimuli: everything else ----------------------------------------------------------------------------

    def answered(self, number: int, result: fx.Result) -> list[fx.Effect]:
        """The result of request `number`."""
        self._talk.answered(number, result)
        return self._talk.done()

    def frames(self, game: str, frames: Iterable[fx.Frame]) -> list[fx.Effect]:
        """Live frames of a table that was tuned to."""
        self.tables.frames(game, frames)
        return self._talk.done()

    def resync(self, game: str | None = None) -> list[fx.Effect]:
        """Frames of `game` (None: of any table) may have been missed."""
        self.tables.resync(game)
        return self._talk.done()

    def notice(self, text: bytes) -> list[fx.Effect]:
        """An event for the player himself."""
        if self.phase is Phase.OPEN:
            self._talk.send(text)
        return self._talk.done()

    def lobby_news(self, texts: Iterable[bytes]) -> list[fx.Effect]:
        """Changes of a seek list that is watched."""
        if self.lobby and not self._lobby_muted:
            for text in texts:
                self._talk.send(text)
        return self._talk.done()

    def lagging(self) -> list[fx.Effect]:
        """The client does not read what waits for it."""
        if self.tables.playing:
            self._talk.close(CLOSE_SLOW, "too slow: connect again and join with since")
        else:
            self._lobby_muted = True
            self.tables.mute()
        return self._talk.done()

    def drained(self) -> list[fx.Effect]:
        """The client has read all that waited: what was dropped is made good by fresh states."""
        if self._lobby_muted:
            self._lobby_muted = False
            for room in self.lobby:
                self._talk.ask(fx.WatchLobby(room), self._relisted)
        self.tables.unmute()
        return self._talk.done()

    def tick(self) -> list[fx.Effect]:
        """Now and then: asks again for tables whose last question was refused."""
        self.tables.retry()
        return self._talk.done()

    def closed(self) -> list[fx.Effect]:
        """The socket has gone: nothing is viewed any more."""
        self._talk.end()
        self.tables.end()
        self.lobby.clear()
        return self._talk.done()

    # --- limits ----------------------------------------------------------------------------------------------

    def _limited(self, message: wire.ClientMessage, now: float, size: int) -> bool:
        """Whether the message is over a limit; then it has been answered. Who is not logged in hears of that first."""
        limits, what = self._limits, "messages on this connection"
        wait = self._messages.take(now) if self._messages is not None else 0
        if not wait and self._bytes is not None:
            wait, what = self._bytes.take(now, size), "bytes on this connection"
        if wait and self._floods is not None and self._floods.take(now):
            self._talk.close(wire.CLOSE_POLICY, "too many messages")
            return True
        if self._phase is not Phase.OPEN:
            return False
        if not wait and limits.player is not None:
            wait, what = limits.player.take(self.player, now), "messages of yours"
        if not wait and limits.seek is not None and isinstance(message, _SEEKING):
            wait, what = limits.seek.take(self.player, now), "seeks"
        if not wait and limits.join is not None and isinstance(message, wire.Join):
            wait, what = limits.join.take(self.player, now), "joins"
        if wait:
            text = f"too many {what} in a short time; wait {wait} ms"
            self._talk.refuse(message.ref, fx.Refusal("limit", text, retry_ms=wait))
        return wait > 0

    # --- requests --------------------------------------------------------------------------------------------

    def _log_in(self, token: str, ref: str | None) -> None:
        self._phase = Phase.LOGGING_IN

        def greeted(result: fx.Result) -> None:
            if isinstance(result, fx.Greeting):
                self._phase, self.player = Phase.OPEN, result.player
                self._talk.send(replies.hello(result, ref))
            elif isinstance(result, fx.Refusal):
                self._phase = Phase.NEW
                self._talk.refuse(ref, result)
                self._refused_hellos += result.code == "unauthorized"
                if self._refused_hellos >= MOST_REFUSED_HELLOS:
                    self._talk.close(wire.CLOSE_POLICY, "too many tokens were refused")

        self._talk.ask(fx.LogIn(token), greeted)

    def _start(self, message: wire.ClientMessage) -> None:
        """A message whose turn in its lane has come."""
        request: fx.Request
        match message:
            case wire.Join():
                return self.tables.join(message)
            case wire.Leave():
                return self.tables.leave(message)
            case wire.Play():
                request = fx.Act(message)
            case wire.Seek():
                request = fx.PostSeek(message)
            case wire.CancelSeek():
                request = fx.CancelSeek(message.seek)
            case wire.AcceptSeek():
                request = fx.AcceptSeek(message.seek)
            case wire.WatchLobby():
                request = fx.WatchLobby(message.room)
            case wire.UnwatchLobby():
                self.lobby = set() if message.room is None else self.lobby - {message.room}
                request = fx.UnwatchLobby(message.room)
            case wire.Rematch():
                request = fx.AskRematch(message.game)
            case wire.Block() | wire.Unblock():
                request = fx.SetBlock(message.player, isinstance(message, wire.Block))
            case _:
                raise AssertionError(f"{type(message).__name__} has no lane")
        self._talk.ask(request, lambda result: self._finish(message, result))

    def _finish(self, message: wire.ClientMessage, result: fx.Result, *texts: bytes) -> None:
        """Answers `message`, sends the events that follow the answer, and starts what waited for it."""
        match result:
            case fx.Refusal():
                self._talk.refuse(message.ref, result)
            case fx.Played(version):
                self._talk.send(replies.ok(message.ref, version=version))
            case fx.Posted(seek):
                self._talk.send(replies.ok(message.ref, seek=seek))
            case fx.Listed(snapshot) if isinstance(message, wire.WatchLobby):
                self.lobby.add(message.room)
                self._talk.send(replies.ok(message.ref))
                self._talk.send(snapshot)
            case _:
                self._talk.send(replies.ok(message.ref))
        for text in texts:
            self._talk.send(text)
        following = self._lanes.leave(_lane(message))
        if following is not None:
            self._start(following)

    def _relisted(self, result: fx.Result) -> None:
        if isinstance(result, fx.Listed):
            self._talk.send(result.snapshot)


_SEEKING = (wire.Seek, wire.AcceptSeek, wire.CancelSeek, wire.Rematch)


def _lane(message: wire.ClientMessage) -> str:
    """Messages of one lane are handled one after the other."""
    if isinstance(message, wire.Play | wire.Join | wire.Leave):
        return f"game {message.game}"
    if isinstance(message, wire.WatchLobby | wire.UnwatchLobby):
        return "lobby"
    return "seeks"
