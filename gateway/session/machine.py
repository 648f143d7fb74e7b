"""One client's conversation. Every public method takes one stimulus and returns the effects it has.

    NEW --hello--> LOGGING_IN --greeting--> OPEN          any of them --close--> CLOSED
     ^                 |
     +----refusal------+

`now` is monotonic seconds. Nothing here waits: a request goes out as Ask and
its result comes back by `answered`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from gateway.session import effects as fx
from gateway.session import replies
from gateway.session.lanes import Lanes
from gateway.session.limits import Bucket, Buckets, Rate
from gateway.session.resume import View
from numbridge import wire

CLOSE_SLOW = 1013  # "try again later": the reader is too slow for a player's seat

_LATER = "; wait {} ms"


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
    bad: Rate | None = None
    flood: Rate | None = None  # refusals by `message` that are still answered
    player: Buckets | None = None
    seek: Buckets | None = None
    join: Buckets | None = None
    games: int | None = None  # joined at the same time
    requests: int = 32  # under way or waiting


Then = Callable[[fx.Result], None]


class Session:
    """The machine of one connection."""

    def __init__(self, limits: Limits, now: float) -> None:
        self.phase = Phase.NEW
        self.player = ""
        self.views: dict[str, View] = {}
        self.lobby: set[str | None] = set()
        self._limits = limits
        self._messages = Bucket(limits.message, now) if limits.message else None
        self._bad = Bucket(limits.bad, now) if limits.bad else None
        self._floods = Bucket(limits.flood, now) if limits.flood else None
        self._lanes: Lanes[wire.ClientMessage] = Lanes()
        self._then: dict[int, Then] = {}
        self._number = 0
        self._lobby_muted = False
        self._out: list[fx.Effect] = []

    # --- stimuli ---------------------------------------------------------------------------------------------

    @property
    def full(self) -> bool:
        """Whether no further message can be taken just now: the socket is to be left unread."""
        return self.phase is Phase.LOGGING_IN or self._lanes.load >= self._limits.requests

    def bearer(self, token: str) -> list[fx.Effect]:
        """The connection came with a verified bearer header: the hello event comes unasked."""
        self._log_in(token, None)
        return self._done()

    def bad(self, problem: wire.BadMessage, now: float) -> list[fx.Effect]:
        """A frame that is no message."""
        if self._bad is not None and self._bad.take(now):
            self._close(wire.CLOSE_POLICY, "too many bad messages")
        else:
            self._refuse(problem.ref, fx.Refusal("bad_message", str(problem)))
        return self._done()

    def pinged(self, now: float) -> list[fx.Effect]:
        """A ping frame has come: it counts as a message, though its answer is not ours to make."""
        over = self._messages is not None and self._messages.take(now) > 0
        if over and self._floods is not None and self._floods.take(now):
            self._close(wire.CLOSE_POLICY, "too many messages")
        return self._done()

    def message(self, message: wire.ClientMessage, now: float, server_at: int) -> list[fx.Effect]:
        """A message of the client's. `server_at`: wall time in milliseconds, for a pong."""
        if isinstance(message, wire.Join) and message.since is not None and not 0 <= message.since < 2**53:
            return self.bad(wire.BadMessage("`since` must be 0 or more", message.ref), now)
        if self.phase is Phase.CLOSED:
            return []
        if isinstance(message, wire.Hello):
            if self.phase is Phase.NEW:
                self._log_in(message.token, message.ref)
            else:
                self._refuse(message.ref, fx.Refusal("unauthorized", "this connection has said hello already"))
        elif self.phase is not Phase.OPEN:
            if not self._limited(message, now):
                self._refuse(message.ref, fx.Refusal("unauthorized", "say hello with a token first"))
        elif not self._limited(message, now):
            if isinstance(message, wire.Ping):
                self._send(replies.pong(message.ref, message.sent_at, server_at))
            elif self._lanes.enter(_lane(message), message):
                self._start(message)
        return self._done()

    def answered(self, number: int, result: fx.Result) -> list[fx.Effect]:
        """The result of request `number`."""
        then = self._then.pop(number, None)
        if then is not None and self.phase is not Phase.CLOSED:
            then(result)
        return self._done()

    def frames(self, game: str, frames: list[fx.Frame]) -> list[fx.Effect]:
        """Live frames of a table that was tuned to."""
        view = self.views.get(game)
        if view is not None:
            self._show(view, *view.live(frames))
        return self._done()

    def resync(self, game: str | None = None) -> list[fx.Effect]:
        """Frames (of `game`, or of any table) may have been missed."""
        for view in [self.views[game]] if game in self.views else list(self.views.values()) if game is None else []:
            if not view.muted and view.resync():
                self._catch(view)
        return self._done()

    def notice(self, text: bytes) -> list[fx.Effect]:
        """An event for the player himself."""
        if self.phase is Phase.OPEN:
            self._send(text)
        return self._done()

    def lobby_news(self, texts: list[bytes]) -> list[fx.Effect]:
        """Changes of a seek list that is watched."""
        if self.lobby and not self._lobby_muted:
            for text in texts:
                self._send(text, droppable=True)
        return self._done()

    def lagging(self) -> list[fx.Effect]:
        """The client does not read what waits for it."""
        if any(view.playing for view in self.views.values()):
            self._close(CLOSE_SLOW, "too slow: connect again and join with since")
            return self._done()
        self._lobby_muted = True
        for view in self.views.values():
            view.mute()
        return self._done()

    def drained(self) -> list[fx.Effect]:
        """The client has read all that waited: what was dropped is made good by fresh states."""
        if self._lobby_muted:
            self._lobby_muted = False
            for room in self.lobby:
                self._ask(fx.WatchLobby(room), self._relisted)
        for view in list(self.views.values()):
            if view.muted and view.resync():
                self._catch(view)
        return self._done()

    def tick(self) -> list[fx.Effect]:
        """About once a second: asks again for tables whose last question was refused."""
        for view in list(self.views.values()):
            if view.wanting and not view.asking:
                self._catch(view)
        return self._done()

    def closed(self) -> list[fx.Effect]:
        """The socket has gone: nothing is viewed any more."""
        self.phase = Phase.CLOSED
        self._out = [fx.Untune(game) for game in self.views]
        self.views.clear()
        self.lobby.clear()
        self._then.clear()
        return self._done()

    # --- effects ---------------------------------------------------------------------------------------------

    def _done(self) -> list[fx.Effect]:
        out, self._out = self._out, []
        return out

    def _send(self, text: bytes, droppable: bool = False) -> None:
        self._out.append(fx.Send(text, droppable))

    def _refuse(self, ref: str | None, refusal: fx.Refusal) -> None:
        self._send(replies.error(ref, refusal))

    def _close(self, code: int, reason: str) -> None:
        self.phase = Phase.CLOSED
        self._out.append(fx.Close(code, reason))

    def _ask(self, request: fx.Request, then: Then) -> int:
        self._number += 1
        self._then[self._number] = then
        self._out.append(fx.Ask(self._number, request))
        return self._number

    # --- limits ----------------------------------------------------------------------------------------------

    def _limited(self, message: wire.ClientMessage, now: float) -> bool:
        limits = self._limits
        wait = self._messages.take(now) if self._messages is not None else 0
        what = "messages on this connection"
        if wait and self._floods is not None and self._floods.take(now):
            self._close(wire.CLOSE_POLICY, "too many messages")
            return True
        if not wait and self.player:
            if limits.player is not None:
                wait, what = limits.player.take(self.player, now), "messages of yours"
            if not wait and limits.seek is not None and isinstance(message, _SEEKING):
                wait, what = limits.seek.take(self.player, now), "seeks"
            if not wait and limits.join is not None and isinstance(message, wire.Join):
                wait, what = limits.join.take(self.player, now), "joins"
        if wait:
            text = f"too many {what} in a short time{_LATER.format(wait)}"
            self._refuse(message.ref, fx.Refusal("limit", text, retry_ms=wait))
        return wait > 0

    # --- hello -----------------------------------------------------------------------------------------------

    def _log_in(self, token: str, ref: str | None) -> None:
        self.phase = Phase.LOGGING_IN

        def greeted(result: fx.Result) -> None:
            if isinstance(result, fx.Greeting):
                self.phase, self.player = Phase.OPEN, result.player
                self._send(replies.hello(result, ref))
            else:
                self.phase = Phase.NEW
                self._refuse(ref, _refusal(result))

        self._ask(fx.LogIn(token), greeted)

    # --- requests --------------------------------------------------------------------------------------------

    def _start(self, message: wire.ClientMessage) -> None:
        match message:
            case wire.Play():
                self._ask(fx.Act(message), lambda r: self._finish(message, r))
            case wire.Join():
                self._join(message)
            case wire.Leave():
                if self.views.pop(message.game, None) is not None:
                    self._out.append(fx.Untune(message.game))
                self._finish(message, fx.Done())
            case wire.Seek():
                self._ask(fx.PostSeek(message), lambda r: self._finish(message, r))
            case wire.CancelSeek():
                self._ask(fx.CancelSeek(message.seek), lambda r: self._finish(message, r))
            case wire.AcceptSeek():
                self._ask(fx.AcceptSeek(message.seek), lambda r: self._finish(message, r))
            case wire.WatchLobby():
                self._ask(fx.WatchLobby(message.room), lambda r: self._listed(message, r))
            case wire.UnwatchLobby():
                self.lobby = set() if message.room is None else self.lobby - {message.room}
                self._ask(fx.UnwatchLobby(message.room), lambda r: self._finish(message, r))
            case wire.Rematch():
                self._ask(fx.AskRematch(message.game), lambda r: self._finish(message, r))
            case wire.Block() | wire.Unblock():
                request = fx.SetBlock(message.player, isinstance(message, wire.Block))
                self._ask(request, lambda r: self._finish(message, r))
            case _:  # hello and ping never enter a lane
                raise AssertionError(f"{type(message).__name__} has no lane")

    def _finish(self, message: wire.ClientMessage, result: fx.Result, *texts: bytes) -> None:
        """Answers `message`, sends the events that follow the answer, and starts what waited for it."""
        match result:
            case fx.Refusal():
                self._refuse(message.ref, result)
            case fx.Played(version):
                self._send(replies.ok(message.ref, version=version))
            case fx.Posted(seek):
                self._send(replies.ok(message.ref, seek=seek))
            case _:
                self._send(replies.ok(message.ref))
        for text in texts:
            self._send(text)
        following = self._lanes.leave(_lane(message))
        if following is not None:
            self._start(following)

    def _listed(self, message: wire.WatchLobby, result: fx.Result) -> None:
        if isinstance(result, fx.Listed):
            self.lobby.add(message.room)
            self._finish(message, result, result.snapshot)
        else:
            self._finish(message, result)

    def _relisted(self, result: fx.Result) -> None:
        if isinstance(result, fx.Listed):
            self._send(result.snapshot)

    # --- tables ----------------------------------------------------------------------------------------------

    def _join(self, message: wire.Join) -> None:
        """Look (which seat?), tune (from now on nothing is missed), catch (what was missed until now)."""
        game, most = message.game, self._limits.games
        known = self.views.get(game)
        if known is not None:
            view = self.views[game] = View(game, message.since)
            view.seat = known.seat
            self._catch(view, message)
            return
        if most is not None and len(self.views) >= most:
            text = f"you are at {most} tables; leave one first"
            self._finish(message, fx.Refusal("limit", text, retry_ms=1000))
            return

        def looked(result: fx.Result) -> None:
            match result:
                case fx.Seated(seat):
                    view = self.views[game] = View(game, message.since)
                    view.seat = seat
                    view.ask(self._ask(fx.Tune(game, seat), lambda r: tuned(view, r)))
                case fx.Archived(version, state):
                    self._finish(message, result, *([] if version == message.since else [state]))
                case _:
                    self._finish(message, _refusal(result))

        def tuned(view: View, result: fx.Result) -> None:
            if isinstance(result, fx.Done):
                self._catch(view, message)
            else:
                self._drop(view)
                self._finish(message, _refusal(result))

        self._ask(fx.Look(game), looked)

    def _catch(self, view: View, message: wire.Join | None = None) -> None:
        """Asks for what `view` lacks: for a join of the client's or, without `message`, unasked."""
        view.wanting = False
        request = fx.Catch(view.game, view.seat, view.version, arrive=message is not None)

        def caught(result: fx.Result) -> None:
            if self.views.get(view.game) is not view or view.asking != number:
                if message is not None:
                    self._finish(message, fx.Done())
                return
            match result:
                case fx.Joined():
                    texts, again = view.joined(result)
                    if message is not None:
                        self._finish(message, result)
                    self._show(view, texts, again)
                case fx.Archived(version, state):
                    texts = [] if version == view.version else [state]
                    self._drop(view)
                    if message is not None:
                        self._finish(message, result, *texts)
                    else:
                        for text in texts:
                            self._send(text)
                case _:
                    view.asking = 0
                    if message is not None:
                        self._drop(view)
                        self._finish(message, _refusal(result))
                    else:
                        view.wanting = True

        number = self._ask(request, caught)
        view.ask(number)

    def _show(self, view: View, texts: list[bytes], again: bool) -> None:
        for text in texts:
            self._send(text, droppable=not view.playing)
        if again and not view.asking:
            self._catch(view)

    def _drop(self, view: View) -> None:
        del self.views[view.game]
        self._out.append(fx.Untune(view.game))


_SEEKING = (wire.Seek, wire.AcceptSeek, wire.CancelSeek, wire.Rematch)


def _lane(message: wire.ClientMessage) -> str:
    """Messages of one lane are handled one after the other."""
    if isinstance(message, wire.Play | wire.Join | wire.Leave):
        return f"game {message.game}"
    if isinstance(message, wire.WatchLobby | wire.UnwatchLobby):
        return "lobby"
    return "seeks"


def _refusal(result: fx.Result) -> fx.Refusal:
    if isinstance(result, fx.Refusal):
        return result
    raise AssertionError(f"{type(result).__name__} answers no such request")
