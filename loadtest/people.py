"""Who comes to the club: players, spectators, people on bad networks, and people who mean no good.

Everything that takes time is an entry of locust's statistics, type WS:

    hello, seek→seated, join, play→ok, move→both, resume, watch, bad→error
"""

import random
import time
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import gevent
from locust import HttpUser, constant, task

from loadtest.socket_line import Dropped, Event, Refused, SocketLine
from loadtest.tables import TABLES
from numbridge.bots.brain import choose
from numbridge.bots.picture import Gap, Picture

T = TypeVar("T")
ANSWER_S = 10.0
SEAT_S = 60.0
THINK_S = (0.5, 4.0)
ROOMS = ("bridge", "study", "blitz", "domains")
OVERLOAD = ("limit", "unavailable")  # refusals that mean "later"


class Person(HttpUser):
    """A guest with a connection."""

    abstract = True
    wait_time = constant(1)
    line: SocketLine | None = None
    token = ""
    player = ""

    def on_start(self) -> None:
        """Becomes a guest."""
        self.rng = random.Random()
        with self.client.post("/api/guests", json={}, name="POST /api/guests", catch_response=True) as response:
            if response.status_code != 201:
                response.failure(f"status {response.status_code}")
                raise gevent.GreenletExit
            body = response.json()
        self.token, self.player = body["token"], body["player"]["id"]

    def on_stop(self) -> None:
        """Goes home."""
        if self.line is not None:
            self.line.close()
            self.line = None

    def timed(self, name: str, act: Callable[[], T]) -> T:
        """Does it and enters it into the statistics; what it raises is entered and goes on."""
        started = time.perf_counter()
        error: Exception | None = None
        try:
            return act()
        except (Dropped, Refused) as problem:
            error = problem
            raise
        finally:
            self.enter(name, time.perf_counter() - started, error)

    def enter(self, name: str, seconds: float, error: Exception | None = None) -> None:
        """One entry."""
        self.environment.events.request.fire(
            request_type="WS", name=name, response_time=1e3 * seconds, response_length=0, exception=error, context={}
        )

    def connected(self) -> SocketLine:
        """The connection, opened when there is none. Raises Dropped, Refused."""
        if self.line is None:
            self.line = self.timed("hello", lambda: SocketLine(self.host or "", self.token))
        return self.line

    def drop(self) -> None:
        """The connection is no more."""
        if self.line is not None:
            self.line.cut()
            self.line = None


class Player(Person):
    """Seeks, plays a whole game by deduction with time to think, and seeks again; now and then the network breaks."""

    weight = 20
    drops: ClassVar[float] = 0.0
    """Chance of losing the connection at each of the own moves."""

    @task
    def game(self) -> None:
        """One game."""
        try:
            line = self.connected()
            game = line.hello["games"][0] if line.hello.get("games") else self.timed("seek→seated", self._seated)
            self._play(game)
        except Dropped:
            self.drop()
        except Refused as refused:
            gevent.sleep(min(5.0, refused.event.get("retry_ms", 1000) / 1000))
        finally:
            if self.line is not None:
                self.line.hello["games"] = []

    def _seated(self) -> str:
        line = self.connected()
        line.send({"op": "seek", "room": self.rng.choice(ROOMS)})
        line.wait(("ok",), ANSWER_S)
        return str(line.wait(("seated",), SEAT_S)["game"])

    def _play(self, game: str) -> None:
        picture = Picture(self._join(game))
        TABLES.enter(game)
        try:
            while picture.view["status"] == "playing":
                view = picture.view
                offer = view.get("offer")
                if offer and offer["by"] != view["you"] and offer["kind"] == "draw":
                    self._act(game, picture, {"kind": "decline_draw"})
                elif view["to_move"] == view["you"]:
                    self._move(game, picture)
                else:
                    self._hear(game, picture, self.connected().next(1.0))
        finally:
            TABLES.leave(game)

    def _join(self, game: str) -> Event:
        def ask() -> Event:
            line = self.connected()
            line.send({"op": "join", "game": game})
            return line.wait(("state",), ANSWER_S)

        return self.timed("join", ask)

    def _move(self, game: str, picture: Picture) -> None:
        version = picture.version
        ready = time.perf_counter() + self.rng.uniform(*THINK_S)
        while (left := ready - time.perf_counter()) > 0 and picture.version == version:
            self._hear(game, picture, self.connected().next(left))
        if picture.version != version or picture.view["status"] != "playing":
            return
        if self.rng.random() < self.drops:
            self._resume(game, picture)
            return
        try:
            action = choose(picture.view, self.rng, picture.misses)
        except ValueError:  # nothing can be played: a pass is on its way
            self._hear(game, picture, self.connected().next(1.0))
            return
        self._act(game, picture, action)

    def _act(self, game: str, picture: Picture, action: dict[str, Any]) -> None:
        line = self.connected()
        version, started = picture.version, time.perf_counter()
        TABLES.sent(game, version, started)
        ref = line.send({"op": "play", "game": game, "version": version, "action": action})
        while True:
            event = line.next(ANSWER_S)
            if event is None:
                error = Dropped(f"no answer to a play within {ANSWER_S:g} s")
                self.enter("play→ok", ANSWER_S, error)
                raise error
            if event.get("ref") == ref:
                break
            self._hear(game, picture, event)
        if event["ev"] == "ok":
            self.enter("play→ok", time.perf_counter() - started)
            while picture.version < event["version"]:
                self._hear(game, picture, line.next(ANSWER_S))
        elif event["code"] in ("stale", "over", "not_your_turn"):  # a burn or a resignation was quicker
            self.enter("play→ok", time.perf_counter() - started)
        else:
            self.enter("play→ok", time.perf_counter() - started, Refused(event))
            if event["code"] not in OVERLOAD:
                raise Refused(event)
            gevent.sleep(event.get("retry_ms", 500) / 1000)

    def _hear(self, game: str, picture: Picture, event: Event | None) -> None:
        if event is None or event.get("game") != game:
            return
        now = time.perf_counter()
        try:
            picture.apply(event)
        except Gap:
            self.enter("move→both", 0.0, Dropped("a version is missing"))
            self._resume(game, picture)
            return
        if event["ev"] == "move" and (seconds := TABLES.seen(game, event["version"], now)) is not None:
            self.enter("move→both", seconds)

    def _resume(self, game: str, picture: Picture) -> None:
        """Loses the connection, comes back, and asks for what it missed."""
        self.drop()
        gevent.sleep(self.rng.uniform(0.2, 2.0))

        def back() -> None:
            line = self.connected()
            ref = line.send({"op": "join", "game": game, "since": picture.version})
            with gevent.Timeout(ANSWER_S, Dropped("no answer to a join")):
                while True:
                    event = line.next(ANSWER_S)
                    if event is not None and event.get("ref") == ref:
                        if event["ev"] == "error":
                            raise Refused(event)
                        return
                    self._hear(game, picture, event)

        self.timed("resume", back)


class Commuter(Player):
    """A player whose network breaks every tenth move."""

    weight = 2
    drops = 0.1


class Spectator(Person):
    """Looks at what is being played and watches a game for a while."""

    weight = 4

    @task
    def watch(self) -> None:
        """One game, for up to half a minute."""
        with self.client.get("/api/games", name="GET /api/games", catch_response=True) as response:
            games = response.json().get("games", []) if response.status_code == 200 else []
        if not games:
            gevent.sleep(1)
            return
        game = self.rng.choice(games)["game"]
        try:
            line = self.connected()

            def join() -> Event:
                line.send({"op": "join", "game": game})
                return line.wait(("state",), ANSWER_S)

            picture = Picture(self.timed("watch", join))
            until = time.monotonic() + self.rng.uniform(5, 30)
            while time.monotonic() < until and picture.view["status"] == "playing":
                event = line.next(1.0)
                if event is not None and event.get("game") == game:
                    picture.apply(event)
            line.send({"op": "leave", "game": game})
        except Gap as gap:
            self.enter("watch", 0.0, gap)
            self.drop()
        except Dropped:
            self.drop()
        except Refused:
            gevent.sleep(1)


class Troublemaker(Person):
    """Sends what nobody should: every answer must be an error, and the connection must stand until a limit ends it."""

    weight = 1
    _BAD: ClassVar[tuple[str, ...]] = (
        "not json",
        '{"op":"fly","ref":"x"}',
        '{"op":"play","ref":"x","game":"00-AAAAAAAAAAAAAAAA","version":0,"action":{"kind":"exchange"}}',
        '{"op":"join","ref":"x","game":"../../etc/passwd"}',
        '{"op":"seek","ref":"x","room":"nowhere"}',
        '{"op":"seek","ref":"x","room":"bridge","givens":[1,99]}',
        "[" * 2000,
    )

    @task
    def misbehave(self) -> None:
        """One bad message every few seconds."""
        try:
            line = self.connected()

            def bad() -> None:
                line.send_raw(self.rng.choice(self._BAD))
                line.wait(("error",), ANSWER_S)

            self.timed("bad→error", bad)
        except Dropped:
            self.drop()
        except Refused:
            pass
        gevent.sleep(self.rng.uniform(2, 8))
