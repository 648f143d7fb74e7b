"""One game that a bot plays: its picture, its thinking time, its moves, whatever the connection does meanwhile."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from numbridge.bots.brain import Action, choose
from numbridge.bots.line import Event, Line, Refused
from numbridge.bots.picture import Gap, Picture
from numbridge.ids import random_token
from numbridge.tasks import delays

_TURN_SHARE = 0.2  # of the turn that thinking may take at most
_BANK_SHARE = 0.03  # of the bank
_QUIET_S = 20.0  # without news for so long: ask whether anything was missed; less than most rooms' move limit
_SHOWN_S = 5.0  # an accepted move shows within this, or something was missed
_LIMIT_S = 10.0  # longest wait that a `limit` may ask for
_STRIKES = 3  # refused as illegal so often at one version: leave the turn to the clock


class TableGone(Exception):
    """There is no such game for this player (any more)."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a bot thinks: between two bounds, in milliseconds."""

    least_ms: int
    most_ms: int

    def pause_s(self, view: dict[str, Any], rng: Random) -> float:
        """Seconds to think on the move that is due; short when there is little time."""
        bank: int = view["clock"][f"{view['you']}_ms"]
        turn: int = min(bank, view["settings"]["move_ms"])
        wish = rng.uniform(self.least_ms, self.most_ms)
        return max(0.0, min(wish, turn * _TURN_SHARE, bank * _BANK_SHARE)) / 1000


@dataclass(frozen=True, slots=True)
class _Pending:
    """A play that has not been answered: repeated under the same ref as long as the version is the same."""

    ref: str
    version: int
    action: Action


class Table:
    """One game. `take` hears its events; `play` plays on one line, and is called again on the next."""

    def __init__(self, game: str, rng: Random, pace: Pace, may_adjourn: Callable[[], bool]) -> None:
        """`may_adjourn`: asked before agreeing to put the game away."""
        self.game = game
        self.picture: Picture | None = None
        self.line: Line | None = None  # the one that it is played on, or was last
        self._may_adjourn = may_adjourn
        self._rng = rng
        self._pace = pace
        self._news = asyncio.Event()
        self._missed = False
        self._pending: _Pending | None = None
        self._strikes: tuple[int, int] = (-1, 0)  # version, refusals there

    @property
    def active(self) -> bool:
        """Whether the game is being played, as far as is known."""
        return self.picture is None or self.picture.view["status"] == "playing"

    @property
    def adjourned(self) -> bool:
        """Whether it is put away."""
        return self.picture is not None and self.picture.view["status"] == "adjourned"

    def take(self, event: Event) -> None:
        """An event of this game."""
        if self.picture is None:
            if event["ev"] == "state":
                self.picture = Picture(event)
        else:
            try:
                self.picture.apply(event)
            except Gap:
                self._missed = True
        self._news.set()

    async def play(self, line: Line) -> None:
        """Comes to the table and plays until the game is over. Raises LineLost, TableGone."""
        await self._join(line)
        pauses = delays(0.2, 2.0)
        while True:
            self._news.clear()
            if self._missed or self.picture is None:
                await self._join(line)
                continue
            view, version = self.picture.view, self.picture.version
            if view["status"] == "over":
                return
            action = self._answer(view)
            if action is None and self._may_move(view, version):
                if not await self._think(version):
                    continue
                pending = self._pending
                action = pending.action if pending is not None and pending.version == version else self._move()
            if action is None:
                await self._until_news(_QUIET_S)
                continue
            wait_s = await self._act(line, version, action)
            if wait_s is None:
                pauses = delays(0.2, 2.0)
            else:
                await asyncio.sleep(max(wait_s, next(pauses)))

    async def _join(self, line: Line) -> None:
        """Comes to the table, or asks for what was missed since the version that is known."""
        since: dict[str, Any] = {} if self.picture is None else {"since": self.picture.version}
        for pause in delays(0.2, 3.0):
            self._missed = False
            try:
                await line.ask("join", game=self.game, **since)
            except Refused as refused:
                if refused.code in ("not_found", "forbidden", "bad_message"):
                    raise TableGone(str(refused)) from None
                await asyncio.sleep(max(_asked_s(refused), pause))
            else:
                break
        if self.picture is None:
            await self._until_news(_SHOWN_S)

    def _answer(self, view: dict[str, Any]) -> Action | None:
        """What to say to the opponent's open offer."""
        offer = view.get("offer")
        if offer is None or offer["by"] == view.get("you") or self._struck_out():
            return None
        match offer["kind"]:
            case "draw":
                return {"kind": "decline_draw"}
            case "adjourn":
                return {"kind": "accept_adjourn" if self._may_adjourn() else "decline_adjourn"}
            case "resume":
                return {"kind": "resume"}
        return None

    def _may_move(self, view: dict[str, Any], version: int) -> bool:
        mine = view["status"] == "playing" and view["to_move"] is not None and view["to_move"] == view.get("you")
        return mine and not self._struck_out()

    def _struck_out(self) -> bool:
        version, count = self._strikes
        return self.picture is not None and version == self.picture.version and count >= _STRIKES

    def _move(self) -> Action | None:
        if self.picture is None:
            return None
        try:
            return choose(self.picture.view, self._rng, self.picture.misses)
        except ValueError:  # nothing to play: a pass is on its way
            return None

    async def _think(self, version: int) -> bool:
        """Takes its time; False as soon as the position is another."""
        loop = asyncio.get_running_loop()
        picture = self.picture
        if picture is None:
            return False
        end = loop.time() + self._pace.pause_s(picture.view, self._rng)
        while (left := end - loop.time()) > 0:
            await self._until_news(left)
            self._news.clear()
            if picture.version != version or self._missed:
                return False
        return True

    async def _act(self, line: Line, version: int, action: Action) -> float | None:
        """Plays an action; seconds to wait before the next try, None if it was accepted. Raises TableGone."""
        if self._pending is None or (self._pending.version, self._pending.action) != (version, action):
            self._pending = _Pending(random_token(12), version, action)
        try:
            answer = await line.ask(
                "play", ref=self._pending.ref, game=self.game, version=version, action=self._pending.action
            )
        except Refused as refused:
            return self._refused(refused, version)
        self._pending = None
        await self._until_shown(answer["version"])
        return None

    def _refused(self, refused: Refused, version: int) -> float:
        match refused.code:
            case "unavailable" | "internal" | "limit":
                return _asked_s(refused)  # the same ref again
            case "not_found" | "forbidden" | "unauthorized":
                raise TableGone(str(refused))
            case "stale" | "not_your_turn" | "over":
                pass
            case _:
                known, count = self._strikes
                self._strikes = (version, count + 1 if known == version else 1)
        self._pending = None
        self._missed = True
        return 0.0

    async def _until_shown(self, version: int) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + _SHOWN_S
        while self.picture is not None and self.picture.version < version and not self._missed:
            if loop.time() >= end:
                self._missed = True
                return
            await self._until_news(end - loop.time())
            self._news.clear()
        self._news.set()

    async def _until_news(self, longest_s: float) -> None:
        """Waits for an event; silence for _QUIET_S counts as one missed."""
        try:
            async with asyncio.timeout(longest_s):
                await self._news.wait()
        except TimeoutError:
            self._missed = self._missed or longest_s >= _QUIET_S


def _asked_s(refused: Refused) -> float:
    """How long a refusal asks to wait."""
    return min((refused.retry_ms or 0) / 1000, _LIMIT_S)
