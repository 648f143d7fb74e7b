"""Counts of legal move sequences, pinned: a change of any rule shows here. With dice that always show 0."""

from collections import Counter

import pytest

from tablesvc.engine.decide import decide
from tablesvc.engine.evolve import evolve
from tablesvc.engine.geometry import cells_of
from tablesvc.engine.legal import moves
from tablesvc.engine.seats import BLUE
from tablesvc.engine.state import State
from tests.unit.engine.playing import Game, LowDice, command, empty_cells, late


def count(state: State, depth: int) -> Counter[str]:
    """How many sequences of `depth` moves there are, by the kind of the first; a finished game has none."""
    found: Counter[str] = Counter()
    if state.over:
        return found
    for move in moves(state.table.field, state.position):
        if depth == 1:
            found[move[0]] += 1
            continue
        after = state
        for event in decide(state, command(move, state.position.to_move), state.last_at, LowDice()):
            after = evolve(after, event)
        found[move[0]] += count(after, depth - 1).total()
    return found


def endgame(variant: str, deal: str, price: int) -> Game:
    """Four cells empty, two tiles each; all else but two givens is blue's on the left and red's on the right."""
    game = Game(variant, deal, price, dice=LowDice())
    field = game.state.table.field
    side = field.geometry.side
    holes = empty_cells(game.state)[:4]
    tiles = [field.solution[cell] for cell in holes]
    taken = [cell for cell in range(side * side) if cell not in holes and cell not in cells_of(field.givens)[:2]]
    blue = sum(1 << cell for cell in taken if cell % side < side // 2)
    red = sum(1 << cell for cell in taken if cell % side >= side // 2)
    names = [field.geometry.names[cell] for cell in holes]
    late(game, names, blue=tuple(tiles[:2]), red=tuple(tiles[2:]), owned=(red, blue))
    return game


@pytest.mark.parametrize(
    ("variant", "deal", "price", "expected"),
    [
        ("bridge", "nine-a", 1, {"place": 4182, "claim": 2460, "exchange": 82}),
        ("blitz", "blitz-a", 2, {"place": 1894, "claim": 720, "exchange": 73}),
        ("domains", "nine-irregular-a", 1, {"place": 4176, "claim": 2430, "exchange": 82}),
    ],
)
def test_first_moves(variant: str, deal: str, price: int, expected: dict[str, int]) -> None:
    game = Game(variant, deal, price, dice=LowDice())
    tiles = len(set(game.state.position.hands[BLUE]))
    field = game.state.table.field
    empty = field.geometry.cells - field.givens.bit_count()
    assert count(game.state, 1) == {"place": empty * tiles, "claim": field.givens.bit_count() * tiles, "exchange": 1}
    assert count(game.state, 2) == expected


@pytest.mark.parametrize(
    ("variant", "deal", "price", "expected"),
    [
        ("bridge", "nine-a", 1, [(8, 4), (72, 40), (792, 368), (6288, 1952)]),
        ("bridge", "nine-a", 2, [(8, 4), (72, 44), (816, 72), (4896, 428)]),
        ("blitz", "blitz-a", 1, [(8, 4), (72, 0), (792, 0), (4272, 0)]),
        ("blitz", "blitz-a", 2, [(8, 4), (72, 0), (816, 0), (3072, 0)]),
        ("domains", "nine-a", 1, [(8, 4), (92, 40), (512, 240), (2752, 1440)]),
        ("domains", "nine-irregular-b", 2, [(8, 4), (72, 22), (516, 276), (5664, 416)]),
    ],
)
def test_late_moves(variant: str, deal: str, price: int, expected: list[tuple[int, int]]) -> None:
    game = endgame(variant, deal, price)
    counts = [count(game.state, depth) for depth in (1, 2, 3, 4)]
    assert [(found["place"], found["claim"]) for found in counts] == expected
