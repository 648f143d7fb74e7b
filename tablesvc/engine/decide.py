"""The answer to a command: events, or a refusal."""

from typing import assert_never

from tablesvc.engine import clock, decide_move, decide_offer
from tablesvc.engine.commands import (
    Accept,
    Arrive,
    Claim,
    Command,
    Decline,
    EndByOperator,
    Exchange,
    Offer,
    Pie,
    Place,
    Resign,
    Resume,
    TakeOver,
    Tick,
)
from tablesvc.engine.decided import NO_SHOW_MS
from tablesvc.engine.dice import Dice
from tablesvc.engine.ending import end
from tablesvc.engine.errors import GameOver, Illegal, NotYourTurn
from tablesvc.engine.events import Arrived, Event, TakenOver
from tablesvc.engine.seats import COLOR, other
from tablesvc.engine.state import State


def decide(state: State, command: Command, now_ms: int, dice: Dice, lag_ms: int = 0) -> tuple[Event, ...]:
    """What `command`, arriving at `now_ms` (milliseconds since the epoch), makes happen.

    The events are to be evolved in order. `lag_ms` is the sender's network lag: it is taken off the time that a
    move used, up to `decided.LAG_CREDIT_MS`. The clock is not asked here, so that a burned turn is not lost with a
    refused command: before any player's command, decide `Tick()` with the same `now_ms` and the mover's
    `lag_ms`, and carry its events out (they are empty when nothing is due). Before a player's first command,
    decide `Arrive`.

    Arrive, Tick and TakeOver are never refused and may return no events. Others raise GameOver, NotYourTurn,
    Illegal, judged in this order. Events never go back behind `state.last_at`, whatever `now_ms` is.
    """
    at = max(now_ms, state.last_at)
    match command:
        case Place() | Claim() | Exchange() | Pie():
            return _move(state, command, at, dice, lag_ms)
        case Tick():
            return _ring(state, at, dice, lag_ms)
        case Arrive():
            return () if state.over or state.arrived[command.by] else (Arrived(command.by, at),)
        case TakeOver():
            return (TakenOver(at),)
        case _ if state.over:
            raise GameOver
        case Resign():
            return end(state, COLOR[other(command.by)], "resign", at)
        case Offer():
            return decide_offer.offer(state, command.by, command.kind, at)
        case Accept():
            return decide_offer.accept(state, command.by, command.kind, at)
        case Decline():
            return decide_offer.decline(state, command.by, command.kind, at)
        case Resume():
            return decide_offer.resume(state, command.by, at)
        case EndByOperator():
            return end(state, "none", "operator", at)
        case _:
            assert_never(command)


def ignores_version(state: State, command: Command) -> bool:
    """Whether `command` is judged whatever version its sender has seen.

    A resignation, and the answer to an offer that is open, the second request to resume among them; so
    is all that players do not send. For anything else the table refuses an older version as `stale`,
    after `over` and before `decide`.
    """
    match command:
        case Accept() | Decline():
            return decide_offer.answers_open_offer(state, command.by, command.kind)
        case Resume():
            return decide_offer.answers_open_offer(state, command.by, "resume")
        case Place() | Claim() | Exchange() | Pie() | Offer():
            return False
        case Resign() | Arrive() | Tick() | TakeOver() | EndByOperator():
            return True
        case _:
            assert_never(command)


def _move(state: State, command: Place | Claim | Exchange | Pie, at: int, dice: Dice, lag_ms: int) -> tuple[Event, ...]:
    if state.over:
        raise GameOver
    if command.by != state.position.to_move:
        raise NotYourTurn
    if state.status == "adjourned":
        raise Illegal("the game is adjourned; it goes on when both players have asked to resume it")
    used = clock.used_ms(state, at, lag_ms)
    match command:
        case Place():
            return decide_move.place(state, command.cell, command.tile, used, at, dice)
        case Claim():
            return decide_move.claim(state, command.cell, command.tile, used, at, dice)
        case Exchange():
            return decide_move.exchange(state, used, at, dice)
        case Pie():
            return decide_move.pie(state, used, at, dice)


def _ring(state: State, at: int, dice: Dice, lag_ms: int) -> tuple[Event, ...]:
    """What the clock demands at `at`: nothing, a burn, a loss on time, or the end for want of a player."""
    if not clock.running(state):
        return ()
    if not state.both_arrived:
        return end(state, "none", "no_show", at) if at >= state.waiting_since + NO_SHOW_MS else ()
    mover = state.position.to_move
    bank, move_ms = state.banks[mover], state.table.settings.move_ms
    used = clock.used_ms(state, at, lag_ms)
    if used >= bank:
        return end(state, COLOR[other(mover)], "time", at)
    if used >= move_ms:
        return decide_move.burn(state, move_ms, at, dice)
    return ()
