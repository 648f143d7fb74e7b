"""What load players play is legal at a real table, in each variant, from a new game to its resignation."""

from collections import Counter
from random import Random

import pytest

from numbridge.load.strategy import Board, choose
from tablesvc.engine.commands import Resign
from tablesvc.engine.decide import decide
from tablesvc.engine.events import Moved
from tablesvc.engine.evolve import evolve
from tests.unit.bots.playing import STEP_MS, SeededDice, command, opened, seen_by

VARIANTS = [("bridge", "irregular", 30, 1), ("blitz", "regular", 10, 2), ("domains", "regular", 30, 1)]


@pytest.mark.parametrize(("variant", "blocks", "givens", "price"), VARIANTS)
def test_every_choice_is_legal(variant: str, blocks: str, givens: int, price: int) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(5):
        state, rng, dice, now = opened(variant, blocks, givens, price, seed), Random(seed), SeededDice(seed), 0
        boards = {seat: Board.of(seen_by(state, seat, now)) for seat in (0, 1)}
        for _ in range(150):
            if state.over:
                break
            seat = state.position.to_move
            board = boards[seat]
            board.hand, board.bag = list(state.position.hands[seat]), state.position.bag_size
            action = choose(board, rng)
            kinds[action["kind"]] += 1
            now += STEP_MS
            act = Resign(seat) if action["kind"] == "resign" else command(state, action, seat)
            for event in decide(state, act, now, dice):
                state = evolve(state, event)
                if isinstance(event, Moved) and event.kind == "place":
                    kinds["hit" if event.hit else "miss"] += 1
                    if event.hit and event.cell is not None:
                        name = state.table.field.geometry.names[event.cell]
                        for other in boards.values():
                            other.closed(name)
    assert kinds["hit"] > 0
    assert kinds["miss"] > kinds["hit"]
    assert kinds["exchange"] > 0


def test_who_can_do_nothing_gives_up() -> None:
    assert choose(Board(9, set(), [], 0), Random(1)) == {"kind": "resign"}
    assert choose(Board(9, {4}, [], 3), Random(1)) == {"kind": "exchange"}


def test_cells_have_the_protocols_names() -> None:
    board = Board(9, {0, 22, 80})
    assert [board.name(cell) for cell in (0, 22, 80)] == ["a1", "e3", "i9"]
    board.closed("e3")
    assert board.empty == {0, 80}
