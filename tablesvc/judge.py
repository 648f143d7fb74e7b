"""What a table makes of an action: first the clock, then the sender's right to it, then the rules. Pure.

The order of refusals is the protocol's: over, stale, not_your_turn, illegal (not_found and forbidden come before,
and so does a ref that was used). What the clock and the arrival of a player have brought about stands, whether
or not the action is refused.
"""

from dataclasses import dataclass

from numbridge.errors import Reason, Rejected
from tablesvc.engine import clock
from tablesvc.engine.commands import (
    Accept,
    Arrive,
    Claim,
    Decline,
    EndByOperator,
    Exchange,
    Offer,
    Pie,
    Place,
    PlayerCommand,
    Resign,
    Resume,
    TakeOver,
    Tick,
)
from tablesvc.engine.decide import decide, ignores_version
from tablesvc.engine.decided import LAG_CREDIT_MS
from tablesvc.engine.dice import Dice
from tablesvc.engine.errors import GameOver, Refused
from tablesvc.engine.events import Event
from tablesvc.engine.evolve import evolve
from tablesvc.engine.seats import BLUE, RED, Seat
from tablesvc.engine.state import State
from tablesvc.works import Play

NO_CELL = -1
"""Stands for a cell name that is not on this field: the rules refuse it in their turn."""


@dataclass(slots=True)
class Verdict:
    """What happened, step by step: each event with the state after it."""

    state: State
    steps: list[tuple[Event, State]]
    rejected: Rejected | None = None
    accepted: bool = False
    """Whether the action itself is among the steps."""

    def take(self, events: tuple[Event, ...]) -> None:
        """Carries events out."""
        for event in events:
            self.state = evolve(self.state, event)
            self.steps.append((event, self.state))


def seat_of(state: State, player: str) -> Seat | None:
    """The player's seat; None for a spectator."""
    if player and player == state.table.blue.id:
        return BLUE
    return RED if player and player == state.table.red.id else None


def capped(lag_ms: int) -> int:
    """A gateway's estimate of the lag, as far as it counts."""
    return max(0, min(lag_ms, LAG_CREDIT_MS))


def _prelude(state: State, now: int, owed_ms: int, arriving: Seat | None, lags: list[int], dice: Dice) -> Verdict:
    """What happens before anything else: lost time is given back, a player arrives, the clock is asked."""
    verdict = Verdict(state, [])
    if owed_ms > 0 and clock.running(state):
        verdict.take(decide(state, TakeOver(), state.last_at + owed_ms, dice))
    if arriving is not None:
        verdict.take(decide(verdict.state, Arrive(arriving), now, dice))
    mover = verdict.state.to_move
    if mover is not None:
        verdict.take(decide(verdict.state, Tick(), now, dice, lags[mover]))
    return verdict


def ring(state: State, now: int, owed_ms: int, lags: list[int], dice: Dice) -> Verdict:
    """The clock is asked."""
    return _prelude(state, now, owed_ms, None, lags, dice)


def arrive(state: State, seat: Seat, now: int, owed_ms: int, lags: list[int], dice: Dice) -> Verdict:
    """A player comes to the table."""
    return _prelude(state, now, owed_ms, seat, lags, dice)


def take_over(state: State, now: int, dice: Dice) -> Verdict:
    """A new owner has the table: the time since the last event was not the players'."""
    verdict = Verdict(state, [])
    if clock.running(state):
        verdict.take(decide(state, TakeOver(), now, dice))
    return verdict


def end_it(state: State, now: int, dice: Dice) -> Verdict:
    """The operator ends the game, whatever its clock says."""
    verdict = Verdict(state, [])
    try:
        verdict.take(decide(state, EndByOperator(), now, dice))
        verdict.accepted = True
    except GameOver as refused:
        verdict.rejected = Rejected(Reason.OVER, str(refused))
    return verdict


def play(state: State, seat: Seat, ask: Play, now: int, owed_ms: int, lags: list[int], dice: Dice) -> Verdict:
    """A player's action. `lags`: one-way lag by seat, capped; the sender's own is up to date."""
    if ask.action not in ACTIONS:
        return Verdict(state, [], Rejected(Reason.BAD_MESSAGE, f"there is no action {ask.action[:32]!r}"))
    verdict = _prelude(state, now, owed_ms, seat, lags, dice)
    state = verdict.state
    try:
        command = _command(state, seat, ask)
        if state.over:
            raise GameOver
        if ask.version != state.version and not ignores_version(state, command):
            verdict.rejected = Rejected(
                Reason.STALE,
                f"the position has moved on to version {state.version}; look at it and act again",
                version=state.version,
            )
            return verdict
        verdict.take(decide(state, command, now, dice, lags[seat]))
        verdict.accepted = True
    except Refused as refused:
        reason = Reason(refused.code)
        ply = state.position.ply if reason is Reason.ILLEGAL else None
        verdict.rejected = Rejected(reason, str(refused), ply=ply)
    return verdict


def _command(state: State, seat: Seat, ask: Play) -> PlayerCommand:
    """The engine's word for one of ACTIONS."""
    index = state.table.field.geometry.index
    match ask.action:
        case "place":
            return Place(seat, index.get(ask.cell or "", NO_CELL), ask.tile or 0)
        case "claim":
            return Claim(seat, index.get(ask.cell or "", NO_CELL), ask.tile)
        case "exchange":
            return Exchange(seat)
        case "pie":
            return Pie(seat)
        case "resign":
            return Resign(seat)
        case "offer_draw" | "offer_adjourn":
            return Offer(seat, ask.action[6:])
        case "accept_draw" | "accept_adjourn":
            return Accept(seat, ask.action[7:])
        case "decline_draw" | "decline_adjourn":
            return Decline(seat, ask.action[8:])
        case _:
            return Resume(seat)


ACTIONS = frozenset(
    {
        "place", "claim", "exchange", "pie", "resign", "offer_draw", "accept_draw", "decline_draw",
        "offer_adjourn", "accept_adjourn", "decline_adjourn", "resume",
    }
)  # fmt: skip
