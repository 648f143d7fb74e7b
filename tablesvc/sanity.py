"""Whether what the log says can be: a record that decodes may still be damaged.

Not the rules (a record was legal when it was written), only what everything that reads a table relies on: cells that
are on the field, digits that the bag holds, words that are known. What passes can be shown, judged and archived
without a fault, so that a damaged table never hurts another.
"""

from tablesvc.codec import Damaged
from tablesvc.engine.events import Ended, Event, Moved, Offered, Opened
from tablesvc.engine.position import HAND_SIZE
from tablesvc.engine.settings import SIDE_OF_VARIANT
from tablesvc.engine.state import State

MOST_MS = 2**53
"""Times beyond it are none: no client's number holds them."""
_KINDS = frozenset({"place", "claim", "exchange", "pie", "burn", "pass"})
_OFFERS = frozenset({"draw", "adjourn", "resume"})
_ANSWERS = frozenset({"open", "accepted", "declined", "lapsed"})
_RESULTS = frozenset({"blue", "red", "draw", "none"})
_REASONS = frozenset({"connection", "blocks", "resign", "time", "agreement", "no_show", "operator"})


def check_event(before: State | None, event: Event) -> None:
    """Raises Damaged unless the event fits a table of that kind. `before` is None for the first."""
    if isinstance(event, Opened):
        if before is not None:
            raise Damaged("a game is opened twice")
        _check_opened(event)
        return
    if before is None:
        raise Damaged("the first record does not open a game")
    if not before.last_at <= event.at < MOST_MS:
        raise Damaged("a time that goes back, or is none")
    side = before.table.settings.side
    match event:
        case Moved():
            known = event.kind in _KINDS and (event.hit is not None) == (event.kind == "place")
            if not known or (event.cell is not None) != (event.kind in ("place", "claim", "pie")):
                raise Damaged("a move of no kind that there is")
            if (event.tile is not None) != (event.kind == "place"):
                raise Damaged("a tile where there is none, or none where there is one")
            _check_cells((event.cell,) if event.cell is not None else (), side)
            _check_digits(((event.tile,) if event.tile is not None else ()) + event.paid + event.drew, side)
            if not 0 <= event.used_ms <= before.table.settings.game_ms:
                raise Damaged("more time used than there was")
        case Offered():
            if event.kind not in _OFFERS or event.state not in _ANSWERS:
                raise Damaged("an offer of no kind that there is")
        case Ended():
            if event.result not in _RESULTS or event.reason not in _REASONS:
                raise Damaged("an end of no kind that there is")
            if event.reason in ("time", "resign", "connection", "blocks") and event.result not in ("blue", "red"):
                raise Damaged("an end without a winner where there is one")
            _check_cells(event.chain, side)
        case _:
            pass


def check_state(state: State) -> None:
    """Raises Damaged where bag, hands and banks hold what they cannot."""
    position = state.position
    if min(position.bag) < 0 or max(map(len, position.hands)) > HAND_SIZE:
        raise Damaged("tiles that the bag did not hold")
    if min(state.banks) < 0:
        raise Damaged("a bank that is overdrawn")


def _check_opened(opened: Opened) -> None:
    settings, deal = opened.settings, opened.deal
    side = settings.side
    if SIDE_OF_VARIANT.get(settings.variant) != side:
        raise Damaged("a variant or a side that there is not")
    if settings.claim_price not in (1, 2) or not 0 < settings.move_ms < MOST_MS or not 0 < settings.game_ms < MOST_MS:
        raise Damaged("settings that cannot be")
    if not 0 < opened.at < MOST_MS or not opened.blue.id or not opened.red.id or opened.blue.id == opened.red.id:
        raise Damaged("no two players, or no time")
    if {len(deal.blocks), len(deal.solution), len(deal.givens)} != {side * side}:
        raise Damaged("a deal of another size")
    digits = frozenset("123456789"[:side])
    fits = all(
        solved in digits and given in (".", solved) for solved, given in zip(deal.solution, deal.givens, strict=True)
    )
    if not fits:
        raise Damaged("a deal with other digits")
    _check_digits(opened.blue_hand + opened.red_hand, side)


def _check_cells(cells: tuple[int, ...], side: int) -> None:
    if not all(0 <= cell < side * side for cell in cells):
        raise Damaged("a cell that is not on the field")


def _check_digits(digits: tuple[int, ...], side: int) -> None:
    if not all(1 <= digit <= side for digit in digits):
        raise Damaged("a digit that there is not")
