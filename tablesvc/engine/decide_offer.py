"""Draws, adjournments and resumptions: offers and their answers become events."""

from tablesvc.engine.errors import Illegal, NotYourTurn
from tablesvc.engine.events import Adjourned, Ended, Event, Offered, Resumed
from tablesvc.engine.seats import Seat
from tablesvc.engine.state import State

KINDS = ("draw", "adjourn")


def offer(state: State, by: Seat, kind: str, at: int) -> tuple[Event, ...]:
    """An offer by the mover, the only one of the turn and the only open one. Raises NotYourTurn, Illegal."""
    if by != state.position.to_move:
        raise NotYourTurn
    if state.status == "adjourned":
        raise Illegal("the game is adjourned; it goes on when both players have asked to resume it")
    if kind not in KINDS:
        raise Illegal("only a draw or an adjournment can be offered")
    if state.offer is not None:
        raise Illegal("there is an open offer already")
    if state.offer_used:
        raise Illegal("only one offer can be made in a turn")
    return (Offered(kind, by, "open", at),)


def accept(state: State, by: Seat, kind: str, at: int) -> tuple[Event, ...]:
    """The opponent's open offer is taken. Raises Illegal."""
    _check_answer(state, by, kind)
    accepted = Offered(kind, 1 - by, "accepted", at)
    if kind == "draw":
        return accepted, Ended("draw", "agreement", (), at)
    return accepted, Adjourned(at)


def decline(state: State, by: Seat, kind: str, at: int) -> tuple[Event, ...]:
    """The opponent's open offer is turned down. Raises Illegal."""
    _check_answer(state, by, kind)
    return (Offered(kind, 1 - by, "declined", at),)


def resume(state: State, by: Seat, at: int) -> tuple[Event, ...]:
    """A player asks for an adjourned game to go on; it does when the other has asked before. Raises Illegal."""
    if state.status != "adjourned":
        raise Illegal("the game is not adjourned")
    if state.offer is None:
        return (Offered("resume", by, "open", at),)
    if state.offer.by == by:
        raise Illegal("you have asked to resume already; the other player has to ask too")
    return Offered("resume", state.offer.by, "accepted", at), Resumed(at)


def answers_open_offer(state: State, by: Seat, kind: str) -> bool:
    """Whether there is an open offer of `kind` that `by` may answer."""
    return state.offer is not None and state.offer.kind == kind and state.offer.by != by


def _check_answer(state: State, by: Seat, kind: str) -> None:
    if kind not in KINDS:
        raise Illegal("only an offer of a draw or an adjournment can be answered")
    if state.offer is None or state.offer.kind != kind:
        raise Illegal(f"there is no open offer to {kind}" if kind == "adjourn" else "there is no open offer of a draw")
    if state.offer.by == by:
        raise Illegal("one's own offer cannot be answered")
