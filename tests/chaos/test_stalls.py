"""Whose doing a wait is."""

from tests.chaos.faults import Fault
from tests.chaos.ledger import Attempt, Fate
from tests.chaos.stalls import by_game, of, quiet


def waited(game: str, began: float, ended: float) -> Attempt:
    return Attempt("ada", game, "r", 1, {"kind": "exchange"}, began, Fate.ACKNOWLEDGED, 2, ended)


def test_a_wait_belongs_to_the_faults_it_was_spent_in_from_their_beginning_on() -> None:
    first = Fault("worker drain", "table-1", 10.0, 14.0, touched=frozenset({"a", "b"}))
    second = Fault("gateway kill", "gateway-1", 15.0, 20.0, touched=frozenset({"a", "c"}))
    attempts = [
        waited("a", 9.0, 10.5),  # half a second of it during the first
        waited("a", 13.75, 14.0),
        waited("a", 14.5, 18.0),  # begun after the first had ended: the second's
        waited("b", 12.0, 12.25),
        waited("c", 11.0, 13.0),  # not touched by the first
    ]
    assert by_game(first, attempts) == {"a": 0.5, "b": 0.25}
    assert by_game(second, attempts) == {"a": 3.0}
    assert (of([first, second], attempts).games, of([first, second], attempts).worst_s) == (3, 3.0)
    assert quiet([first, second], [*attempts, waited("c", 30.0, 30.5)]).worst_s == 0.5
