"""A player: seeks, plays to the end, seeks again, and sends again, under the same ref, what got no answer."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import aiohttp

from tests.chaos.ledger import VERSIONED, Action, Attempt, Event, Fate, Ledger
from tests.chaos.line import Gone, Line, new_ref
from tests.helpers.picture import Picture
from tests.helpers.play import Thought

SEATED_S = 12.0  # how long a seek stands before the player gives it up and tries anew
QUIET_S = 25.0  # without news at a table, the player asks what has been missed
_PATIENCE_S = 4.0  # for the events of an own action that was acknowledged
_AGAIN_S = (0.15, 0.4)  # before a command that was answered `unavailable` is sent again
_PAUSE_S = (0.1, 0.5)  # before a broken connection is made anew
_RESIGNS, _OFFERS, _BREAKS, _MISCHIEF = 0.006, 0.01, 0.006, 0.1  # chances a move
_MOOT = {"stale", "not_your_turn", "over"}  # an honest player hears these when the clock or the opponent was first

Clock = Callable[[], float]


@dataclass(slots=True)
class Seat:
    """One game of this player."""

    game: str
    picture: Picture | None = None
    pending: Attempt | None = None
    line: int = 0
    """The connection on which it was joined."""
    over: bool = False
    offered: bool = False
    asking: bool = False
    """Whether what comes now was asked for."""


class Pilot:
    """See the module. Runs until told to stop, then plays its game to the end."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        urls: list[str],
        token: str,
        player: Event,
        ledger: Ledger,
        rng: Random,
        clock: Clock,
        think_s: tuple[float, float],
    ) -> None:
        self.id = str(player["id"])
        self.line = Line(session, token, self._hear)
        self.seat: Seat | None = None
        self.stopping = False
        """Seek nothing new."""
        self.tired = False
        """Resign at the next chance."""
        self.finished = 0
        self._ledger = ledger
        self._rng = rng
        self._clock = clock
        self._think_s = think_s
        self._gates = itertools.cycle(rng.sample(urls, len(urls)))
        self._seats: dict[str, Seat] = {}
        self._calls: list[str] = []
        """Games to play."""
        self._lines = 0

    async def run(self) -> None:
        """Plays, whatever happens to the connection."""
        while True:
            try:
                hello = await self.line.open(next(self._gates))
                self._lines += 1
                if self.stopping and self.seat is None and not self._calls and not hello.get("partial"):
                    break  # a fresh hello says so: there is no game left
                while self._calls or self.seat is not None or not self.stopping:
                    await self._once()
            except Gone:
                await self._pause(_PAUSE_S)
        await self.line.close()

    def _open(self, game: str) -> bool:
        return self._seat(game) is not self.seat and not self._seat(game).over

    async def _once(self) -> None:
        if self.seat is None:
            if not self._calls and not await self._seek():
                return
            self.seat = self._seat(self._calls.pop(0))
            if self.seat.over:  # while it waited for its turn
                self.seat = None
                return
        await self._play(self.seat)
        self.seat = None
        self.finished += 1

    def _seat(self, game: str) -> Seat:
        return self._seats.setdefault(game, Seat(game))

    async def _pause(self, bounds: tuple[float, float]) -> None:
        await asyncio.sleep(self._rng.uniform(*bounds))

    # --- what is heard

    def _hear(self, event: Event, text: str) -> None:
        now = self._clock()
        if event["ev"] in ("hello", "games"):
            for game in event["games"]:
                self._ledger.first_heard.setdefault((self.id, game), now)
            self._calls += [game for game in event["games"] if self._open(game) and game not in self._calls]
        if event["ev"] == "seated":
            self._ledger.seated(self.id, event, now)
            if self._open(event["game"]) and event["game"] not in self._calls:
                self._calls.append(event["game"])
        if "game" not in event or event["ev"] in ("ok", "error", "seated"):
            return
        self._ledger.heard(self.id, event, text, now)
        seat = self._seat(event["game"])
        if event["ev"] == "state":
            self._jump(seat, event, now)
        elif event["ev"] in VERSIONED:
            self._follow(seat, event, now)

    def _jump(self, seat: Seat, state: Event, now: float) -> None:
        picture = Picture(state)
        known = seat.picture
        if known is not None and known.version == picture.version and known.position() != picture.position():
            self._ledger.odd("picture", now, seat.game, f"{self.id}: {known.position()} is now {picture.position()}")
        if known is not None and known.version > picture.version:
            self._ledger.odd("gap", now, seat.game, f"{self.id}: a state of {picture.version} after {known.version}")
        seat.picture = picture
        seat.over = picture.view["status"] == "over"

    def _follow(self, seat: Seat, event: Event, now: float) -> None:
        if seat.picture is None:
            self._ledger.odd("gap", now, seat.game, f"{self.id}: version {event['version']} before any state")
            return
        if event["version"] != seat.picture.version + 1:
            text = f"{self.id}: version {event['version']} after {seat.picture.version}"
            self._ledger.odd("gap", now, seat.game, text)
            return
        if seat.asking:
            self._ledger.asked_for += 1
        seat.picture.take(event)
        seat.over = event["ev"] == "over"

    # --- the lobby

    async def _seek(self) -> bool:
        answer = await self.line.ask("seek", room="blitz", rated=True)
        if answer["ev"] == "error":
            if answer["code"] not in ("unavailable", "limit", "forbidden"):
                self._ledger.odd("refusal", self._clock(), "", f"{self.id}: seek: {answer}")
            await self._pause(_AGAIN_S)
            if answer["code"] == "forbidden":  # seated, says the lobby: a new hello will say where
                raise Gone("seated elsewhere")
            return False
        end = self._clock() + SEATED_S
        while not self._calls and self._clock() < end and not self.stopping:
            await self.line.news(0.5)
        if not self._calls:
            answer = await self.line.ask("cancel_seek", seek=answer["seek"])
            end = self._clock() + SEATED_S
            while answer["ev"] == "error" and not self._calls and self._clock() < end:  # it was taken a moment ago
                await self.line.news(0.5)
        return bool(self._calls)

    # --- the table

    async def _play(self, seat: Seat) -> None:
        while not seat.over:
            if seat.line != self._lines:
                await self._join(seat)
                continue
            assert seat.picture is not None
            version = seat.picture.version
            if seat.pending is None and (action := self._wish(seat, seat.picture)) is not None:
                await self._pause(self._think_s)
                if seat.picture.version != version:
                    continue  # something has happened meanwhile
                seat.pending = Attempt(self.id, seat.game, new_ref(), version, action, self._clock())
                self._ledger.attempts.append(seat.pending)
            if seat.pending is not None:
                await self._send(seat, seat.pending)
            elif not await self.line.news(QUIET_S):
                await self._ask_for(seat)

    async def _join(self, seat: Seat) -> None:
        since: dict[str, Any] = {} if seat.picture is None else {"since": seat.picture.version}
        answer = await self.line.ask("join", game=seat.game, **since)
        if answer["ev"] == "error":
            if answer["code"] not in ("unavailable", "limit"):
                self._ledger.odd("refusal", self._clock(), seat.game, f"{self.id}: join: {answer}")
            await self._pause(_AGAIN_S)
            return
        while seat.picture is None:
            await self.line.news(_PATIENCE_S)
        seat.line = self._lines

    async def _ask_for(self, seat: Seat) -> None:
        """What has been missed, on a connection that stands."""
        seat.asking = True
        try:
            await self._join(seat)
        finally:
            seat.asking = False

    async def _send(self, seat: Seat, attempt: Attempt) -> None:
        attempt.sends += 1
        answer = await self.line.ask(
            "play", ref=attempt.ref, game=seat.game, version=attempt.seen, action=attempt.action
        )
        code = answer.get("code")
        if code in ("unavailable", "limit"):
            await self._pause(_AGAIN_S)
            return
        attempt.ended = self._clock()
        seat.pending = None
        if answer["ev"] == "ok":
            attempt.fate, attempt.version = Fate.ACKNOWLEDGED, answer["version"]
            await self._until(seat, attempt.version)
            return
        # Once a game has been purged nobody knows its refs any more: `over` leaves an action sent twice open.
        attempt.fate = Fate.UNKNOWN if code == "over" and attempt.sends > 1 else Fate.REFUSED
        if code not in _MOOT and not (code == "illegal" and _answers(attempt.action)):
            self._ledger.odd("refusal", attempt.ended, seat.game, f"{self.id}: {attempt.action}: {answer}")
        await self._until(seat, answer.get("version", attempt.seen + 1))

    async def _until(self, seat: Seat, version: int) -> None:
        assert seat.picture is not None
        end = self._clock() + _PATIENCE_S
        while seat.picture.version < version and not seat.over:
            if self._clock() > end:
                await self._ask_for(seat)
                return
            await self.line.news(_PATIENCE_S)

    def _wish(self, seat: Seat, picture: Picture) -> Action | None:
        """What to do now."""
        view = picture.view
        offer = view.get("offer")
        if offer is not None and offer["by"] != view["you"] and offer["kind"] in ("draw", "adjourn"):
            return {"kind": "accept_adjourn" if offer["kind"] == "adjourn" else "decline_draw"}
        if self.tired:
            return {"kind": "resign"}
        if view["status"] == "adjourned":
            mine = offer is not None and offer["kind"] == "resume" and offer["by"] == view["you"]
            return None if mine else {"kind": "resume"}
        if view["to_move"] != view["you"] or (offer is not None and offer["by"] == view["you"]):
            return None
        return self._move(seat, picture)

    def _move(self, seat: Seat, picture: Picture) -> Action:
        if picture.version > 4 and self._rng.random() < _RESIGNS:
            return {"kind": "resign"}
        if not seat.offered and self._rng.random() < _OFFERS + _BREAKS:
            seat.offered = True
            return {"kind": "offer_draw" if self._rng.random() < _OFFERS / (_OFFERS + _BREAKS) else "offer_adjourn"}
        thought = Thought(picture, self._rng)
        action = thought.mischief() if self._rng.random() < _MISCHIEF else None
        return action or thought.good()


def _answers(action: Action) -> bool:
    """Whether an action answers an offer, which may have gone when it arrives."""
    return action["kind"] in ("decline_draw", "accept_adjourn", "resume", "offer_draw", "offer_adjourn")
