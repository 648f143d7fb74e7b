"""A position of a record for eyes: a rhombus of text."""

from tablesvc.engine.events import Moved
from tablesvc.engine.field import Field
from tablesvc.engine.record import Record
from tablesvc.engine.record_check import Checked
from tablesvc.engine.seats import BLUE, COLOR, RED
from tablesvc.engine.summary import summary


def picture(record: Record, checked: Checked, ply: int) -> str:
    """The position after `ply` moves, in lines: the move that led there, the field, the tiles, whose turn.

    A digit is followed by `b` or `r` for its owner, an unowned given by `*`; each row lies half a cell
    further right than the one above.
    """
    field, position = checked.field, checked.positions[ply]
    shown = summary(record, checked, ply)
    side = field.geometry.side
    digits, owners = str(shown["field"]), str(shown["owners"])
    lines = [
        f"ply {ply}: " + (_said(field, record.moves[ply - 1]) if ply else "the deal"),
        "    " + "   ".join(chr(97 + column) for column in range(side)),
    ]
    for row in range(side):
        cells = []
        for cell in range(row * side, (row + 1) * side):
            unowned = "*" if digits[cell] != "." else " "
            cells.append(digits[cell] + (unowned if owners[cell] == "." else owners[cell]))
        lines.append(f"{row + 1:2}  " + "  " * row + "  ".join(cells).rstrip())
    lines.append(f"blue {_tiles(position.hands[BLUE])}  red {_tiles(position.hands[RED])}  bag {position.bag_size}")
    if shown["to_move"] is not None:
        lines.append(f"{shown['to_move']} to move" + (", may take the first cell" if shown["pie"] else ""))
    else:
        lines.append(f"over: {shown['result']}, {shown['reason']}")
    return "\n".join(lines)


def _said(field: Field, move: Moved) -> str:
    parts = [COLOR[move.by], move.kind]
    if move.tile is not None:
        parts.append(str(move.tile))
    if move.cell is not None:
        parts.append(field.geometry.names[move.cell])
    if move.hit is not None:
        parts.append("hit" if move.hit else "miss")
    if move.paid:
        parts.append("for " + _tiles(move.paid))
    return " ".join(parts) + (f", draws {_tiles(move.drew)}" if move.drew else "")


def _tiles(tiles: tuple[int, ...]) -> str:
    return "".join(map(str, tiles)) or "-"
