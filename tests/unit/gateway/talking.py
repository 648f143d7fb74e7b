"""Drives a session by hand."""

import json
from typing import Any, TypeVar

from gateway.session import effects as fx
from gateway.session.machine import Limits, Session
from numbridge import wire

R = TypeVar("R", bound=fx.Request)

GREETING = fx.Greeting("p1", "Ada", ("g1",), ("s1",), 1_700_000_000_000)


class Talker:
    """A session, what it has said, and what it has asked."""

    def __init__(self, limits: Limits | None = None, logged_in: bool = True) -> None:
        self.now = 1000.0
        self.session = Session(limits or Limits(), self.now)
        self.said: list[dict[str, Any]] = []
        self.asked: list[fx.Ask] = []
        self.untuned: list[str] = []
        self.closes: list[fx.Close] = []
        if logged_in:
            self.client(op="hello", token="t")
            self.answer(fx.LogIn, GREETING)
            self.said.clear()

    def take(self, effects: list[fx.Effect]) -> None:
        """Sorts effects by kind."""
        for effect in effects:
            match effect:
                case fx.Send(text):
                    self.said.append(json.loads(text))
                case fx.Ask():
                    self.asked.append(effect)
                case fx.Untune(game):
                    self.untuned.append(game)
                case fx.Close():
                    self.closes.append(effect)

    def client(self, **message: Any) -> None:
        """A message of the client's."""
        decoded = wire.decode_client(json.dumps(message))
        self.take(self.session.message(decoded, self.now, 1_700_000_000_123))

    def garbage(self) -> None:
        """A frame that is no message."""
        self.take(self.session.bad(wire.BadMessage("no message"), self.now))

    def pending(self, kind: type[R]) -> R:
        """The oldest open request, which must be of this kind."""
        assert self.asked, f"no request is open; a {kind.__name__} was expected"
        request = self.asked[0].request
        assert isinstance(request, kind), request
        return request

    def answer(self, kind: type[fx.Request], result: fx.Result) -> None:
        """Answers the oldest open request, which must be of this kind."""
        self.pending(kind)
        self.take(self.session.answered(self.asked.pop(0).number, result))

    def frames(self, game: str, *versions: int) -> None:
        """Live frames."""
        self.take(self.session.frames(game, [frame(game, version) for version in versions]))

    def heard(self) -> list[str]:
        """What was said since the last call, shortly: `ok`, `error limit`, `move 3`."""
        said, self.said = self.said, []
        return [_short(event) for event in said]

    def join(self, game: str, seat: str = "watch", version: int = 0) -> None:
        """Joins a table to the end."""
        self.client(op="join", game=game)
        self.answer(fx.Look, fx.Seated(seat))
        self.answer(fx.Tune, fx.Done())
        self.answer(fx.Catch, state(game, version))
        assert self.heard() == ["ok", f"state {version}"]


def frame(game: str, version: int) -> fx.Frame:
    """A live frame."""
    return version, wire.event("move", game=game, version=version)


def state(game: str, version: int) -> fx.Joined:
    """A worker's answer with a whole state."""
    return fx.Joined(version, wire.event("state", game=game, version=version), (), b"")


def run(game: str, *versions: int) -> fx.Joined:
    """A worker's answer with frames."""
    return fx.Joined(versions[-1], b"", tuple(frame(game, version) for version in versions), b"")


def _short(event: dict[str, Any]) -> str:
    words = [event["ev"], event.get("code", event.get("version"))]
    return " ".join(str(word) for word in words if word is not None)
