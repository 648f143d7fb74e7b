"""How games and offers end."""

from tablesvc.engine.events import Ended, Event, Offered
from tablesvc.engine.state import State


def lapse(state: State, at: int) -> tuple[Event, ...]:
    """The open offer falls: an event when there is one. It goes before the event that makes it fall."""
    if state.offer is None:
        return ()
    return (Offered(state.offer.kind, state.offer.by, "lapsed", at),)


def end(state: State, result: str, reason: str, at: int) -> tuple[Event, ...]:
    """The game ends, other than by a move: an open offer falls first."""
    return (*lapse(state, at), Ended(result, reason, (), at))
