"""The game record `numbridge.record/1`: every draw, so that it replays without dice."""

from collections.abc import Iterable
from dataclasses import dataclass

from tablesvc.engine.events import Ended, Event, Moved, Opened
from tablesvc.engine.geometry import geometry
from tablesvc.engine.seats import COLOR
from tablesvc.engine.settings import Deal, GameSettings, Player

FORMAT = "numbridge.record/1"


@dataclass(frozen=True, slots=True)
class Record:
    """A record. What it may leave out is None where it does; `used_ms` and `at` of its moves are then 0."""

    game: str | None
    room: str | None
    settings: GameSettings
    blue: Player | None
    red: Player | None
    deal: Deal
    blue_hand: tuple[int, ...]
    red_hand: tuple[int, ...]
    moves: tuple[Moved, ...]
    result: str | None
    reason: str | None
    started_at: int | None
    ended_at: int | None


def from_events(game: str, events: Iterable[Event]) -> Record:
    """The record of a history, finished or not. Raises ValueError when it does not begin with Opened."""
    history = iter(events)
    opened = next(history, None)
    if not isinstance(opened, Opened):
        raise ValueError("a history begins with Opened")  # noqa: TRY004 - the order is wrong, not the type
    moves = []
    ended: Ended | None = None
    for event in history:
        if isinstance(event, Moved):
            moves.append(event)
        elif isinstance(event, Ended):
            ended = event
    return Record(
        game=game,
        room=opened.room,
        settings=opened.settings,
        blue=opened.blue,
        red=opened.red,
        deal=opened.deal,
        blue_hand=opened.blue_hand,
        red_hand=opened.red_hand,
        moves=tuple(moves),
        result=ended.result if ended else None,
        reason=ended.reason if ended else None,
        started_at=opened.at,
        ended_at=ended.at if ended else None,
    )


def as_dict(record: Record) -> dict[str, object]:
    """The record as JSON objects and lists; what it leaves out is left out."""
    shown: dict[str, object] = {"format": FORMAT}
    if record.game is not None:
        shown["game"] = record.game
    if record.room is not None:
        shown["room"] = record.room
    shown["settings"] = record.settings.as_dict()
    if record.blue is not None and record.red is not None:
        shown["players"] = {"blue": record.blue.as_dict(), "red": record.red.as_dict()}
    deal = record.deal
    shown["deal"] = {"blocks": deal.blocks, "solution": deal.solution, "givens": deal.givens}
    shown["hands"] = {"blue": list(record.blue_hand), "red": list(record.red_hand)}
    names = geometry(record.settings.side).names
    shown["moves"] = [_move(move, names) for move in record.moves]
    if record.result is not None:
        shown["end"] = {"result": record.result, "reason": record.reason}
    if record.started_at is not None:
        shown["started_at"] = record.started_at
    if record.ended_at is not None:
        shown["ended_at"] = record.ended_at
    return shown


def _move(move: Moved, names: tuple[str, ...]) -> dict[str, object]:
    shown: dict[str, object] = {"by": COLOR[move.by], "kind": move.kind}
    if move.cell is not None:
        shown["cell"] = names[move.cell]
    if move.kind == "place":
        shown["tile"] = move.tile
        shown["hit"] = move.hit
    elif move.kind == "claim":
        shown["paid"] = list(move.paid)
    shown["drew"] = list(move.drew)
    shown["used_ms"] = move.used_ms
    shown["at"] = move.at
    return shown
