"""What can be read off a table: seats, states, missed frames, records. Nothing in here changes a game."""

from typing import TYPE_CHECKING

from numbridge import wire
from numbridge.errors import Reason, Rejected
from numbridge.names import Seat
from tablesvc import codec, judge
from tablesvc.engine.record import as_dict, from_events
from tablesvc.engine.seats import BLUE
from tablesvc.engine.views import clock_view, view
from tablesvc.works import Ask, GetRecord, Join, Joined, Look, Outcome, Present, Seated, Summary

if TYPE_CHECKING:
    from tablesvc.table import Table


def answer(table: "Table", ask: Ask) -> Outcome:
    """The answer to one of works.READS."""
    match ask:
        case Join():
            return _join(table, ask)
        case Look():
            return Seated(_seat(table, ask.player), table.state.status)
        case GetRecord():
            if not table.state.over:
                return Rejected(Reason.FORBIDDEN, "the record is secret until the game is over")
            return record_text(table)
        case Summary():
            return codec.summary(table.game, table.state)
        case Present():
            _note(table, ask)
            return None
        case _:
            raise TypeError(f"{type(ask).__name__} is no question")


def _seat(table: "Table", player: str) -> Seat:
    seat = judge.seat_of(table.state, player)
    if seat is None:
        return "watch"
    return "blue" if seat == BLUE else "red"


def _join(table: "Table", ask: Join) -> Joined:
    seat = _seat(table, ask.player)
    state = table.state
    frames = None
    if ask.since is not None:
        frames = table.story.since(ask.since, state.version, seat, table.world.may_remake)
    text = None
    if frames is None:
        number = judge.seat_of(state, ask.player)
        shown = view(state, number, table.world.clock())
        text = wire.event("state", game=table.game, version=state.version, view=shown)
    return Joined(seat, state.version, text, frames or [], presence_text(table))


def _note(table: "Table", ask: Present) -> None:
    if ask.blue or ask.red or ask.watchers:
        table.present[ask.link] = ask
    else:
        table.present.pop(ask.link, None)
    table.world.on_presence(table)


def presence_text(table: "Table") -> bytes:
    """The `presence` event as things stand, with the clock: it may have been given time back since the last move."""
    links = table.present.values()
    return wire.event(
        "presence",
        game=table.game,
        blue=any(link.blue for link in links),
        red=any(link.red for link in links),
        watchers=sum(link.watchers for link in links),
        clock=clock_view(table.state),
    )


def record_text(table: "Table") -> bytes:
    """The record of a game that is over, as JSON text."""
    return wire.encode(as_dict(from_events(table.game, table.story.events())))


def final_view_text(table: "Table") -> bytes:
    """The last position as a spectator sees it, as JSON text."""
    return wire.encode(view(table.state, None, table.state.last_at))
