"""The whole picture of a game for one viewer, in the protocol's shape."""

from tablesvc.engine import clock
from tablesvc.engine.decided import MARK_MS
from tablesvc.engine.events import Moved
from tablesvc.engine.field import Field
from tablesvc.engine.position import Position
from tablesvc.engine.seats import BLUE, COLOR, RED, Seat
from tablesvc.engine.state import State

View = dict[str, object]


def view(state: State, seat: Seat | None, now_ms: int) -> View:
    """The protocol's `view` for the player in `seat`, or for a spectator (None), at `now_ms`.

    Holds nothing secret but the viewer's own hand, also when the game is over (the record tells the rest).
    """
    table, position = state.table, state.position
    to_move = state.to_move
    names = table.field.geometry.names
    shown: View = {
        "room": table.room,
        "settings": table.settings.as_dict(),
        "players": {"blue": table.blue.as_dict(), "red": table.red.as_dict()},
        "blocks": table.deal.blocks,
        "field": field_text(table.field, position),
        "givens": table.deal.givens,
        "owners": owners_text(table.field, position),
        "marks": [
            {"cell": names[mark.cell], "digit": mark.digit, "by": COLOR[mark.by], "at": mark.at}
            for mark in state.marks
            if mark.at + MARK_MS > now_ms
        ],
        "to_move": None if to_move is None else COLOR[to_move],
        "moves_left": 0 if to_move is None else position.moves_left,
        "hands": pair(tuple(map(len, position.hands))),
        "bag": position.bag_size,
        "mistakes": pair(position.mistakes),
        "clock": clock_view(state),
        "pie": to_move is not None and position.pie is not None,
        "status": state.status,
    }
    if state.offer is not None:
        shown["offer"] = {"kind": state.offer.kind, "by": COLOR[state.offer.by], "state": "open"}
    if state.last is not None:
        shown["last"] = move_view(state, state.last)
    if seat is not None:
        shown["you"] = COLOR[seat]
        shown["hand"] = list(position.hands[seat])
    if state.over:
        shown["result"] = state.result
        shown["reason"] = state.reason
        if state.chain:
            shown["chain"] = [names[cell] for cell in state.chain]
    return shown


def move_view(state: State, move: Moved) -> dict[str, object]:
    """What everyone may know of a move: the digit of a placement, hit or miss; never one of a claim or an exchange."""
    shown: dict[str, object] = {"by": COLOR[move.by], "kind": move.kind}
    if move.cell is not None:
        shown["cell"] = state.table.field.geometry.names[move.cell]
    if move.kind == "place":
        shown["digit"] = move.tile
        shown["hit"] = move.hit
    return shown


def clock_view(state: State) -> dict[str, object]:
    """The protocol's `clock`: banks at the start of the running turn, and when that turn's time is up."""
    ends_at = clock.turn_ends_at(state)
    red, blue = state.banks
    return {"blue_ms": blue, "red_ms": red, "deadline_at": ends_at, "running": ends_at is not None}


def pair(values: tuple[int, ...]) -> dict[str, int]:
    """A pair indexed by seat, by colour."""
    return {"blue": values[BLUE], "red": values[RED]}


def field_text(field: Field, position: Position) -> str:
    """Digits of the givens and of the solved cells, `.` elsewhere."""
    shown = _bits(field, field.givens | position.solved)
    return "".join([digit if bit == "1" else "." for digit, bit in zip(field.digits, shown, strict=True)])


def owners_text(field: Field, position: Position) -> str:
    """`b`, `r` or `.` for each cell."""
    red, blue = _bits(field, position.owned[RED]), _bits(field, position.owned[BLUE])
    return "".join(["b" if b == "1" else "r" if r == "1" else "." for b, r in zip(blue, red, strict=True)])


def _bits(field: Field, cells: int) -> str:
    """`1` or `0` for each cell of the field: is it one of `cells`?"""
    return f"{cells:0{field.geometry.cells}b}"[::-1]
