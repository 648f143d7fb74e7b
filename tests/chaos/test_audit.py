"""The auditor finds what is wrong: each test breaks one promise in a game where all was well."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.chaos.audit import Archive, Record, judge
from tests.chaos.ledger import Action, Attempt, Event, Fate, Ledger

GAME, ADA, BOB = "07-game", "ada", "bob"
PLACED: Event = {"ev": "move", "game": GAME, "version": 1, "by": "blue", "kind": "place", "cell": "c2", "digit": 4}
SWAPPED: Event = {"ev": "move", "game": GAME, "version": 2, "by": "red", "kind": "exchange"}
CLAIMED: Event = {"ev": "move", "game": GAME, "version": 3, "by": "blue", "kind": "claim", "cell": "a1"}
OVER: Event = {"ev": "over", "game": GAME, "version": 4, "result": "blue", "reason": "resign"}
RATED: Event = {"ev": "rated", "game": GAME, "variant": "blitz"}


def numbers(rating: float) -> dict[str, float]:
    return {"rating": rating, "deviation": 200.0}


class Told:
    """A whole game as two clients saw it, and what the cluster says of it."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.record: Record = {
            "players": {"blue": {"id": ADA}, "red": {"id": BOB}},
            "settings": {"variant": "blitz", "rated": True},
            "moves": [
                {"by": "blue", "kind": "place", "cell": "c2", "tile": 4, "hit": True},
                {"by": "red", "kind": "exchange"},
                {"by": "blue", "kind": "claim", "cell": "a1"},
            ],
            "end": {"result": "blue", "reason": "resign"},
        }
        self.archive = Archive({GAME: self.record}, games={ADA: [GAME], BOB: [GAME]})
        for player, won in ((ADA, 1), (BOB, 0)):
            self.archive.profiles[player] = {
                "ratings": {"blitz": {**numbers(1600 if won else 1400), "games": 1}},
                "games": {"won": won, "lost": 1 - won, "drawn": 0},
            }
        self.ledger.seated(ADA, {"ev": "seated", "game": GAME, "color": "blue", "opponent": {"id": BOB}}, 1.0)
        for viewer in (ADA, BOB):
            for event in ({**PLACED, "hit": True}, SWAPPED, CLAIMED, OVER):
                self.heard(viewer, event)
            after = numbers(1600 if viewer == ADA else 1400)
            self.heard(viewer, {**RATED, "before": numbers(1500), "after": after})
        self.sent = [
            self.sends(ADA, 0, 1, kind="place", cell="c2", tile=4),
            self.sends(BOB, 1, 2, kind="exchange"),
            self.sends(ADA, 2, 3, kind="claim", cell="a1", tile=5),
            self.sends(BOB, 3, 4, kind="resign"),
        ]

    def heard(self, viewer: str, event: Event) -> None:
        self.ledger.heard(viewer, event, json.dumps(event), 1.0)

    def sends(self, player: str, seen: int, answered: int, **action: Any) -> Attempt:
        attempt = Attempt(player, GAME, f"r{len(self.ledger.attempts)}", seen, Action(action), 1.0)
        attempt.fate, attempt.version, attempt.ended = Fate.ACKNOWLEDGED, answered, 1.1
        self.ledger.attempts.append(attempt)
        return attempt

    def findings(self) -> set[str]:
        return {finding.kind for finding in judge(self.ledger, self.archive)}


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert judge(Told().ledger, Told().archive) == []


def test_an_action_left_open_may_have_counted_or_not() -> None:
    told = Told()
    told.sent[2].fate = Fate.UNKNOWN
    told.sends(BOB, 3, 0, kind="place", cell="c2", tile=1).fate = Fate.UNKNOWN
    told.sends(BOB, 3, 0, kind="claim", cell="a1").fate = Fate.REFUSED
    assert told.findings() == set()


def forget_a_move(told: Told) -> None:
    del told.record["moves"][1]


def acknowledge_what_nobody_saw(told: Told) -> None:
    told.sends(ADA, 4, 5, kind="exchange")


def acknowledge_another_cell(told: Told) -> None:
    told.sent[0].action["cell"] = "c3"


def write_a_move_twice(told: Told) -> None:
    told.record["moves"].insert(1, dict(told.record["moves"][1]))


def write_what_was_refused(told: Told) -> None:
    told.sent[2].fate = Fate.REFUSED


def acknowledge_one_move_twice(told: Told) -> None:
    told.sends(BOB, 1, 2, kind="exchange")


def swap_two_moves(told: Told) -> None:
    told.record["moves"][:2] = told.record["moves"][1::-1]


def end_otherwise(told: Told) -> None:
    told.record["end"] = {"result": "red", "reason": "time"}


def tell_one_viewer_otherwise(told: Told) -> None:
    told.heard("watcher", {**SWAPPED, "kind": "pie"})


def tell_the_same_viewer_otherwise(told: Told) -> None:
    told.heard(ADA, {**SWAPPED, "bag": 3})


def tell_nobody_of_a_version(told: Told) -> None:
    for texts in told.ledger.texts.values():
        del texts[2]
    told.sent[1].fate = Fate.UNKNOWN


def lose_a_game(told: Told) -> None:
    told.ledger.seated(ADA, {"game": "08-lost", "color": "red", "opponent": {"id": BOB}}, 2.0)


def count_a_game_twice(told: Told) -> None:
    told.archive.profiles[ADA]["ratings"]["blitz"]["games"] = 2


def count_no_result(told: Told) -> None:
    told.archive.profiles[BOB]["games"]["lost"] = 0


def rate_two_games_from_one_number(told: Told) -> None:
    told.ledger.seats["09-other"] = {"blue": ADA, "red": BOB}
    told.ledger.rated[ADA, "09-other"] = {**RATED, "before": numbers(1500), "after": numbers(1550)}
    told.archive.running.add("09-other")


def break_the_chain(told: Told) -> None:
    told.ledger.seats["09-other"] = {"blue": ADA, "red": BOB}
    told.ledger.rated[ADA, "09-other"] = {**RATED, "before": numbers(1580), "after": numbers(1620)}
    told.archive.running.add("09-other")
    told.archive.profiles[ADA]["ratings"]["blitz"].update(rating=1620, games=2)


def show_another_rating(told: Told) -> None:
    told.archive.profiles[ADA]["ratings"]["blitz"]["rating"] = 1700


def list_a_game_that_nobody_was_told_of(told: Told) -> None:
    told.archive.games[ADA].append("0a-silent")


def seat_somebody_else(told: Told) -> None:
    told.ledger.seated("eve", {"game": GAME, "color": "blue", "opponent": {"id": BOB}}, 2.0)


@pytest.mark.parametrize(
    ("harm", "finding"),
    [
        (forget_a_move, "lost"),
        (acknowledge_what_nobody_saw, "lost"),
        (acknowledge_another_cell, "lost"),
        (write_a_move_twice, "doubled"),
        (write_what_was_refused, "doubled"),
        (acknowledge_one_move_twice, "doubled"),
        (swap_two_moves, "fork"),
        (end_otherwise, "fork"),
        (tell_one_viewer_otherwise, "fork"),
        (tell_the_same_viewer_otherwise, "fork"),
        (tell_nobody_of_a_version, "gap"),
        (lose_a_game, "missing"),
        (count_a_game_twice, "rating"),
        (count_no_result, "rating"),
        (rate_two_games_from_one_number, "rating"),
        (break_the_chain, "rating"),
        (show_another_rating, "rating"),
        (list_a_game_that_nobody_was_told_of, "seat"),
        (seat_somebody_else, "seat"),
    ],
)
def test_what_is_wrong_is_found(harm: Callable[[Told], None], finding: str) -> None:
    told = Told()
    harm(told)
    assert finding in told.findings()
