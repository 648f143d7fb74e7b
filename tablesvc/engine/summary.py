"""A position of a record in figures: what `numbridge replay --json` prints. Holds every secret of the game."""

from typing import Final

from tablesvc.engine.legal import kinds
from tablesvc.engine.record import Record
from tablesvc.engine.record_check import Checked
from tablesvc.engine.seats import BLUE, COLOR, RED
from tablesvc.engine.views import field_text, owners_text, pair

NOTHING: Final[dict[str, object]] = dict.fromkeys(
    (
        "ply",
        "to_move",
        "moves_left",
        "owners",
        "field",
        "hands",
        "bag",
        "mistakes",
        "pie",
        "legal",
        "result",
        "reason",
    )
)
"""Where not even the opening position can be shown."""


def summary(record: Record, checked: Checked, ply: int) -> dict[str, object]:
    """The position after `ply` moves. An end that the moves do not show belongs to the last position only."""
    field, position = checked.field, checked.positions[ply]
    over = position.winner is not None or (ply == len(record.moves) and checked.result is not None)
    legal = kinds(field, position)
    return {
        "ply": ply,
        "to_move": None if over else COLOR[position.to_move],
        "moves_left": 0 if over else position.moves_left,
        "owners": owners_text(field, position),
        "field": field_text(field, position),
        "hands": {"blue": sorted(position.hands[BLUE]), "red": sorted(position.hands[RED])},
        "bag": [digit for digit, count in enumerate(position.bag) for _ in range(count)],
        "mistakes": pair(position.mistakes),
        "pie": legal["pie"] and not over,
        "legal": dict.fromkeys(legal, False) if over else legal,
        "result": checked.result if over else None,
        "reason": checked.reason if over else None,
    }
