"""The effect of an event: never refuses, never asks. The log has spoken."""

from collections.abc import Iterable
from typing import assert_never

from msgspec.structs import replace

from tablesvc.engine import clock
from tablesvc.engine.decided import ADJOURN_CHARGES_TURN, MARK_MS
from tablesvc.engine.events import (
    Adjourned,
    Arrived,
    Ended,
    Event,
    Moved,
    Offered,
    Opened,
    Resumed,
    TakenOver,
)
from tablesvc.engine.opening import begin
from tablesvc.engine.position import apply
from tablesvc.engine.seats import BLUE, SEAT, other
from tablesvc.engine.state import Mark, OpenOffer, State


def evolve(state: State | None, event: Event) -> State:
    """The state after `event`. `state` is None for Opened, the first event, and only then (else ValueError)."""
    if isinstance(event, Opened):
        return begin(event)
    if state is None:
        raise ValueError("a game begins with Opened")
    match event:
        case Moved():
            return _moved(state, event)
        case Offered():
            return _offered(state, event)
        case Adjourned():
            return _adjourned(state, event)
        case Resumed():
            return replace(
                state,
                version=state.version + 1,
                status="playing",
                turn_started_at=event.at,
                last_at=event.at,
                offer=None,
            )
        case Ended():
            return _ended(state, event)
        case Arrived():
            return _arrived(state, event)
        case TakenOver():
            return _taken_over(state, event)
        case _:
            assert_never(event)


def rebuild(events: Iterable[Event]) -> State:
    """The state after a whole history. Raises ValueError when there is no event at all."""
    state: State | None = None
    for event in events:
        state = evolve(state, event)
    if state is None:
        raise ValueError("a history without events is no game")
    return state


def _moved(state: State, event: Moved) -> State:
    before = state.position
    position = apply(state.table.field, before, event)
    marks = state.marks
    if event.hit and marks:
        marks = tuple(mark for mark in marks if mark.cell != event.cell)
    elif event.hit is False and event.cell is not None and event.tile is not None:
        fresh = (mark for mark in marks if mark.at + MARK_MS > event.at)
        marks = (*fresh, Mark(event.cell, event.tile, event.by, event.at))
    return replace(
        state,
        position=position,
        version=state.version + 1,
        banks=clock.charge(state.banks, event.by, event.used_ms),
        turn_started_at=event.at,
        last_at=event.at,
        offer=None,
        offer_used=state.offer_used and position.to_move == before.to_move,
        marks=marks,
        last=event,
    )


def _offered(state: State, event: Offered) -> State:
    return replace(
        state,
        version=state.version + 1,
        last_at=event.at,
        offer=OpenOffer(event.kind, event.by) if event.state == "open" else None,
        offer_used=state.offer_used or (event.state == "open" and event.kind != "resume"),
    )


def _adjourned(state: State, event: Adjourned) -> State:
    used = clock.used_ms(state, event.at) if ADJOURN_CHARGES_TURN else 0
    return replace(
        state,
        version=state.version + 1,
        status="adjourned",
        banks=clock.charge(state.banks, state.position.to_move, used),
        last_at=event.at,
        offer=None,
    )


def _ended(state: State, event: Ended) -> State:
    banks = state.banks
    if event.reason == "time":
        loser = other(SEAT[event.result])
        banks = (banks[0], 0) if loser == BLUE else (0, banks[1])
    return replace(
        state,
        version=state.version + 1,
        status="over",
        banks=banks,
        last_at=event.at,
        offer=None,
        result=event.result,
        reason=event.reason,
        chain=event.chain,
    )


def _arrived(state: State, event: Arrived) -> State:
    red, blue = state.arrived
    arrived = (red, True) if event.seat == BLUE else (True, blue)
    starts = arrived[0] and arrived[1] and not state.both_arrived
    return replace(
        state,
        arrived=arrived,
        turn_started_at=event.at if starts else state.turn_started_at,
        last_at=event.at,
    )


def _taken_over(state: State, event: TakenOver) -> State:
    # Whatever passed since the last event was not the players' time.
    lost = event.at - state.last_at
    return replace(
        state,
        turn_started_at=state.turn_started_at + lost,
        waiting_since=state.waiting_since + lost,
        last_at=event.at,
    )
