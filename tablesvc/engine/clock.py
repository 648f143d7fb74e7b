"""Deadlines and used time, derived from the state. All times are milliseconds since the epoch.

`lag_ms` is what the table makes good for the mover's network; no more than `decided.LAG_CREDIT_MS` of it counts.
"""

from tablesvc.engine.decided import LAG_CREDIT_MS, NO_SHOW_MS
from tablesvc.engine.seats import Seat
from tablesvc.engine.state import State


def running(state: State) -> bool:
    """Whether a clock runs: the game is on, neither put away nor decided."""
    return state.status == "playing" and state.position.winner is None


def turn_ends_at(state: State) -> int | None:
    """When the running turn's clock shows nothing left: the earlier of move limit and bank; None when no clock runs."""
    if not running(state):
        return None
    bank = state.banks[state.position.to_move]
    move_ms = state.table.settings.move_ms
    return state.turn_started_at + (move_ms if move_ms < bank else bank)


def deadline(state: State) -> int | None:
    """When the clock must be asked (`Tick`); None when nothing will come of it.

    While a player has not come to the table yet that is the no-show limit, afterwards `turn_ends_at`. A table
    that grants lag credit asks that much later.
    """
    if state.both_arrived or not running(state):
        return turn_ends_at(state)
    return state.waiting_since + NO_SHOW_MS


def used_ms(state: State, now_ms: int, lag_ms: int = 0) -> int:
    """What the mover has used of the running turn: within 0 and what move limit and bank allow.

    It is 0 while not both players have come.
    """
    if not state.both_arrived:
        return 0
    used = now_ms - min(lag_ms, LAG_CREDIT_MS) - state.turn_started_at
    return max(0, min(used, state.table.settings.move_ms, state.banks[state.position.to_move]))


def charge(banks: tuple[int, int], seat: Seat, used: int) -> tuple[int, int]:
    """The banks after `seat` used so many milliseconds."""
    red, blue = banks
    return (red, blue - used) if seat else (red - used, blue)
