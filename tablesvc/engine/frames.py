"""One event as each viewer may see it, in the protocol's shape."""

from dataclasses import dataclass

from tablesvc.engine.events import Adjourned, Arrived, Ended, Event, Moved, Offered, Opened, Resumed, TakenOver
from tablesvc.engine.seats import COLOR
from tablesvc.engine.state import State
from tablesvc.engine.views import clock_view, move_view, pair

Frame = dict[str, object]


@dataclass(frozen=True, slots=True)
class Frames:
    """An event's frames by viewer; the same object where they do not differ, so that it is encoded once."""

    blue: Frame
    red: Frame
    watch: Frame


def frames(game: str, event: Event, after: State) -> Frames | None:
    """The frames of `event`, `after` being the state that it led to; None for an event without a version.

    Each is complete: `ev`, `game`, `version` and the event's own fields.
    """
    match event:
        case Moved():
            return _moved(game, event, after)
        case Offered():
            return _same(
                _head("offer", game, after) | {"kind": event.kind, "by": COLOR[event.by], "state": event.state}
            )
        case Adjourned():
            return _same(_head("adjourned", game, after) | {"clock": clock_view(after)})
        case Resumed():
            return _same(_head("resumed", game, after) | {"clock": clock_view(after)})
        case Ended():
            over = _head("over", game, after) | {"result": event.result, "reason": event.reason}
            if event.chain:
                names = after.table.field.geometry.names
                over["chain"] = [names[cell] for cell in event.chain]
            return _same(over)
        case Opened() | Arrived() | TakenOver():
            return None


def _moved(game: str, event: Moved, after: State) -> Frames:
    position, to_move = after.position, after.to_move
    watch = _head("move", game, after)
    watch.update(move_view(after, event))
    red, blue = position.hands
    watch["hands"] = {"blue": len(blue), "red": len(red)}
    watch["bag"] = position.bag_size
    watch["clock"] = clock_view(after)
    watch["to_move"] = None if to_move is None else COLOR[to_move]
    watch["moves_left"] = 0 if to_move is None else position.moves_left
    watch["pie"] = to_move is not None and position.pie is not None
    watch["mistakes"] = pair(position.mistakes)
    return Frames(watch | {"hand": list(blue)}, watch | {"hand": list(red)}, watch)


def _head(ev: str, game: str, after: State) -> Frame:
    return {"ev": ev, "game": game, "version": after.version}


def _same(frame: Frame) -> Frames:
    return Frames(frame, frame, frame)
