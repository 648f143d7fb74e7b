"""Engine values <-> protobuf: what the log holds and what the services tell each other.

The engine knows nothing of protobuf, and the log nothing of the engine's classes: this is where they meet.

    Damaged   bytes of the log that are no record of this or an older release
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from google.protobuf.message import DecodeError

from numbridge.v1 import common_pb2 as common
from numbridge.v1 import log_pb2 as pb
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
from tablesvc.engine.seats import BLUE, RED, Seat
from tablesvc.engine.settings import Deal, GameSettings, Player
from tablesvc.engine.state import State


class Damaged(Exception):
    """A log record that cannot be read, or that does not follow from those before it."""


_COLOR_OF = {BLUE: pb.SEAT_COLOR_BLUE, RED: pb.SEAT_COLOR_RED}
_SEAT_OF = {color: seat for seat, color in _COLOR_OF.items()}


def _seat(color: "pb.SeatColor.ValueType") -> Seat:
    try:
        return _SEAT_OF[color]
    except KeyError:
        raise Damaged(f"no seat has colour {color}") from None


def settings_to_proto(settings: GameSettings) -> common.GameSettings:
    """What a game is played under."""
    return common.GameSettings(
        variant=settings.variant,
        side=settings.side,
        blocks=settings.blocks,
        givens=settings.givens,
        claim_price=settings.claim_price,
        highlight=settings.highlight,
        rated=settings.rated,
        move_ms=settings.move_ms,
        game_ms=settings.game_ms,
    )


def settings_from_proto(settings: common.GameSettings) -> GameSettings:
    """The reverse of `settings_to_proto`."""
    return GameSettings(
        variant=settings.variant,
        side=settings.side,
        blocks=settings.blocks,
        givens=settings.givens,
        claim_price=settings.claim_price,
        highlight=settings.highlight,
        rated=settings.rated,
        move_ms=settings.move_ms,
        game_ms=settings.game_ms,
    )


def player_to_proto(player: Player) -> common.Player:
    """A player with the rating at the time of seating."""
    return common.Player(id=player.id, name=player.name, rating=player.rating)


def player_from_proto(player: common.Player) -> Player:
    """The reverse of `player_to_proto`."""
    return Player(player.id, player.name, player.rating if player.HasField("rating") else None)


def summary(game: str, state: State) -> common.GameSummary:
    """A game as lists show it; nothing in it is secret."""
    table = state.table
    return common.GameSummary(
        game=game,
        room=table.room,
        settings=settings_to_proto(table.settings),
        blue=player_to_proto(table.blue),
        red=player_to_proto(table.red),
        status=state.status,
        started_at=table.opened_at,
        version=state.version,
    )


def event_to_proto(event: Event) -> pb.Event:
    """One event as the log holds it."""
    match event:
        case Moved():
            moved = pb.Moved(
                kind=event.kind,
                by=_COLOR_OF[event.by],
                cell=event.cell,
                tile=event.tile,
                hit=event.hit,
                paid=event.paid,
                drew=event.drew,
                used_ms=event.used_ms,
                at=event.at,
            )
            return pb.Event(moved=moved)
        case Offered():
            offered = pb.Offered(kind=event.kind, by=_COLOR_OF[event.by], state=event.state, at=event.at)
            return pb.Event(offered=offered)
        case Ended():
            ended = pb.Ended(result=event.result, reason=event.reason, chain=event.chain, at=event.at)
            return pb.Event(ended=ended)
        case Arrived():
            return pb.Event(arrived=pb.Arrived(seat=_COLOR_OF[event.seat], at=event.at))
        case TakenOver():
            return pb.Event(taken_over=pb.TakenOver(at=event.at))
        case Adjourned():
            return pb.Event(adjourned=pb.Adjourned(at=event.at))
        case Resumed():
            return pb.Event(resumed=pb.Resumed(at=event.at))
        case Opened():
            return pb.Event(opened=_opened_to_proto(event))
        case _:
            assert_never(event)


def _opened_to_proto(event: Opened) -> pb.Opened:
    return pb.Opened(
        room=event.room,
        settings=settings_to_proto(event.settings),
        blue=player_to_proto(event.blue),
        red=player_to_proto(event.red),
        blocks=event.deal.blocks,
        solution=event.deal.solution,
        givens=event.deal.givens,
        blue_hand=event.blue_hand,
        red_hand=event.red_hand,
        at=event.at,
    )


def event_from_proto(event: pb.Event) -> Event:
    """The reverse of `event_to_proto`. Raises Damaged for an event that this release does not know."""
    match event.WhichOneof("kind"):
        case "moved":
            moved = event.moved
            return Moved(
                kind=moved.kind,
                by=_seat(moved.by),
                cell=moved.cell if moved.HasField("cell") else None,
                tile=moved.tile if moved.HasField("tile") else None,
                hit=moved.hit if moved.HasField("hit") else None,
                paid=tuple(moved.paid),
                drew=tuple(moved.drew),
                used_ms=moved.used_ms,
                at=moved.at,
            )
        case "offered":
            offered = event.offered
            return Offered(offered.kind, _seat(offered.by), offered.state, offered.at)
        case "ended":
            ended = event.ended
            return Ended(ended.result, ended.reason, tuple(ended.chain), ended.at)
        case "arrived":
            return Arrived(_seat(event.arrived.seat), event.arrived.at)
        case "taken_over":
            return TakenOver(event.taken_over.at)
        case "adjourned":
            return Adjourned(event.adjourned.at)
        case "resumed":
            return Resumed(event.resumed.at)
        case "opened":
            return _opened_from_proto(event.opened)
        case unknown:
            raise Damaged(f"no event of this release: {unknown}")


def _opened_from_proto(opened: pb.Opened) -> Opened:
    return Opened(
        room=opened.room,
        settings=settings_from_proto(opened.settings),
        blue=player_from_proto(opened.blue),
        red=player_from_proto(opened.red),
        deal=Deal(opened.blocks, opened.solution, opened.givens),
        blue_hand=tuple(opened.blue_hand),
        red_hand=tuple(opened.red_hand),
        at=opened.at,
    )


def write_record(
    game: str,
    version: int,
    epoch: int,
    append: str,
    at: int,
    events: Iterable[Event],
    ref: str = "",
    player: str = "",
) -> bytes:
    """One command's events, or (without events) a mark of ownership, as a message of the log."""
    return pb.LogRecord(
        game=game,
        version=version,
        epoch=epoch,
        ref=ref,
        player=player,
        at=at,
        append=append,
        events=[event_to_proto(event) for event in events],
    ).SerializeToString()


def read_record(data: bytes) -> pb.LogRecord:
    """The reverse of `write_record`. Raises Damaged."""
    try:
        return pb.LogRecord.FromString(data)
    except DecodeError as error:
        raise Damaged("not a log record") from error


def events_of(record: pb.LogRecord) -> Sequence[Event]:
    """A record's events. Raises Damaged."""
    return [event_from_proto(event) for event in record.events]
