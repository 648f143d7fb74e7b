"""Whole games at random: every one ends with a winner, and a second, naive referee agrees with every position."""

from random import Random

import pytest

from tablesvc.dealing.solver import has_unique_solution
from tablesvc.engine.commands import Tick
from tablesvc.engine.field import Field
from tablesvc.engine.goals import reached
from tablesvc.engine.legal import moves, pass_due
from tablesvc.engine.position import Position
from tablesvc.engine.record import Record, as_dict, from_events
from tablesvc.engine.record_check import check
from tablesvc.engine.summary import summary
from tests.unit.engine.naive import Json, Naive
from tests.unit.engine.playing import Game, SeededDice, command, deal_names

CASES = [
    (variant, name, price)
    for variant in ("bridge", "blitz", "domains")
    for name in deal_names(variant)
    for price in (1, 2)
]


def play_out(variant: str, name: str, price: int, seed: int, skill: float) -> Game:
    """A game between players who know the right cell with probability `skill` and else move at random."""
    random = Random(seed)
    game = Game(variant, name, price, SeededDice(seed))
    while not game.state.over:
        field, position = game.state.table.field, game.state.position
        assert not pass_due(field, position)
        options = list(moves(field, position))
        assert options
        game.now += random.randrange(100)
        if random.random() < 0.03:
            game.now += 60_000
            game.do(Tick())
        elif game.hand and random.random() < skill:
            game.do(game.hit())
        else:
            game.do(command(random.choice(options), game.mover))
    return game


@pytest.mark.parametrize(("variant", "name", "price"), CASES)
def test_every_game_ends_with_a_winner_and_the_referees_agree(variant: str, name: str, price: int) -> None:
    for seed, skill in ((1, 0.9), (2, 0.4)):
        game = play_out(variant, name, price, seed, skill)
        assert game.state.result in ("blue", "red")
        assert game.state.reason == ("blocks" if variant == "domains" else "connection")
        game.check_replay()
        record = from_events("g", game.events)
        checked = check(record, has_unique_solution)
        assert (checked.result, checked.reason) == (game.state.result, game.state.reason)
        assert checked.positions[-1] == game.state.position
        naive = Naive(as_dict(record))
        for ply, move in enumerate([None, *moves_of(record)]):
            if move is not None:
                naive.play(move)
            said, expected = summary(record, checked, ply), naive.summary()
            assert {field: said[field] for field in expected} == expected


def play_slowly(variant: str, name: str, price: int, seed: int) -> Game:
    """A game between players who put off winning as long as there is anything else to close or to claim."""
    random = Random(seed)
    game = Game(variant, name, price, SeededDice(seed))
    while not game.state.over:
        field, position = game.state.table.field, game.state.position
        options = list(moves(field, position))
        random.shuffle(options)
        closing = [move for move in options if move[0] == "claim" or (move[0] == "place" and is_hit(field, move))]
        quiet = [move for move in closing if not wins(field, position, move)]
        misses = [move for move in options if move[0] == "place" and not is_hit(field, move)]
        tired = position.ply > 150
        choice = quiet or ((closing or options) if tired else misses or options)
        game.do(command(choice[0], game.mover))
    return game


def is_hit(field: Field, move: tuple[str, int | None, int | None]) -> bool:
    return move[1] is not None and field.solution[move[1]] == move[2]


def wins(field: Field, position: Position, move: tuple[str, int | None, int | None]) -> bool:
    assert move[1] is not None
    owned = position.owned[position.to_move] | 1 << move[1]
    return reached(field, owned, move[1], position.to_move)


@pytest.mark.parametrize(("variant", "name"), [("domains", "nine-c"), ("bridge", "nine-a"), ("blitz", "blitz-c")])
def test_a_player_who_is_out_of_everything_passes_and_the_game_still_ends(variant: str, name: str) -> None:
    passes = 0
    for seed in range(12):
        game = play_slowly(variant, name, 1 + seed % 2, seed)
        assert game.state.reason in ("connection", "blocks")
        record = from_events("g", game.events)
        checked = check(record, has_unique_solution)
        assert checked.result == game.state.result
        naive = Naive(as_dict(record))
        for move in moves_of(record):
            naive.play(move)
        passes += sum(move.kind == "pass" for move in record.moves)
    assert passes > 0


def moves_of(record: Record) -> list[Json]:
    written = as_dict(record)["moves"]
    assert isinstance(written, list)
    return written
