"""Nothing that a viewer gets depends on what is kept from him.

Two worlds that differ only in what red may not see go through the same public commands: not a byte that red
or a spectator gets may differ.
"""

import json
from random import Random
from typing import cast

import pytest
from msgspec.structs import replace

from tablesvc.engine.commands import Claim, Command, Exchange, Offer, Place, Resign, Tick
from tablesvc.engine.decide import decide
from tablesvc.engine.errors import Refused
from tablesvc.engine.evolve import evolve
from tablesvc.engine.field import make_field
from tablesvc.engine.frames import frames
from tablesvc.engine.legal import moves
from tablesvc.engine.seats import BLUE, RED
from tablesvc.engine.settings import Deal
from tablesvc.engine.state import State, Table
from tablesvc.engine.views import view
from tests.unit.engine.playing import Game, SeededDice, command, deal_names, empty_cells


def swapped(state: State, random: Random) -> State | None:
    """The same position with one of blue's tiles exchanged for another digit of the bag; None when all are alike."""
    position = state.position
    hand = list(position.hands[BLUE])
    pairs = [(at, digit) for at in range(len(hand)) for digit, count in enumerate(position.bag) if count]
    pairs = [(at, digit) for at, digit in pairs if hand[at] != digit]
    if not pairs:
        return None
    at, digit = random.choice(pairs)
    bag = list(position.bag)
    bag[hand[at]] += 1
    bag[digit] -= 1
    hand[at] = digit
    return replace(state, position=replace(position, hands=(position.hands[RED], tuple(hand)), bag=tuple(bag)))


def in_the_other_world(move: Command, here: State, there: State) -> Command | None:
    """The command that looks the same from outside; None when there is none."""
    match move:
        case Claim(by=1, cell=cell, tile=int(tile)):
            return Claim(BLUE, cell, there.position.hands[BLUE][here.position.hands[BLUE].index(tile)])
        case Place(by=1, tile=tile) if tile not in there.position.hands[BLUE]:
            return None
        case _:
            return move


def outside(state: State, move: Command, now: int) -> tuple[str, State]:
    """All that red and a spectator get from a command, as text; and the state after it."""
    told = []
    for event in decide(state, move, now, SeededDice(now)):
        state = evolve(state, event)
        seen = frames("game", event, state)
        assert seen is not None
        told.append((seen.red, seen.watch))
    after = state
    red = view(after, RED, now) | {"hand": None}
    return json.dumps([told_without_hand(told), red, view(after, None, now)]), after


def told_without_hand(told: list[tuple[dict[str, object], dict[str, object]]]) -> list[object]:
    """Red's own draws come from the bag, whose contents differ between the worlds: only their number must agree."""
    return [
        (red | {"hand": len(cast("list[int]", red["hand"]))} if "hand" in red else red, watch) for red, watch in told
    ]


@pytest.mark.parametrize("variant", ["bridge", "blitz", "domains"])
@pytest.mark.parametrize("price", [1, 2])
def test_blues_tiles_and_the_bag_show_in_nothing_that_others_get(variant: str, price: int) -> None:
    random = Random(f"{variant}{price}")
    compared = 0
    for name in deal_names(variant)[:2]:
        game = Game(variant, name, price, SeededDice(price))
        while not game.state.over:
            game.now += random.randrange(500)
            here = game.state
            options: list[Command] = [command(move, game.mover) for move in moves(here.table.field, here.position)]
            move = random.choice(options)
            if random.random() < 0.4 and game.hand:
                move = game.hit()
            there = swapped(here, random)
            for tried in (move, random.choice(options), Exchange(game.mover), Offer(game.mover, "draw"), Tick()):
                same = in_the_other_world(tried, here, there) if there is not None else None
                if there is None or same is None:
                    continue
                now = game.now + (60_000 if isinstance(tried, Tick) else 0)
                try:
                    seen, _ = outside(here, tried, now)
                except Refused as refused:
                    with pytest.raises(type(refused), match=str(refused)):
                        outside(there, same, now)
                else:
                    assert outside(there, same, now)[0] == seen
                    compared += 1
            game.do(move)
    assert compared > 100


def test_a_refusal_says_nothing_of_the_opponents_hand_or_the_solution() -> None:
    game = Game("bridge", "nine-a")
    missing = next(digit for digit in range(1, 10) if digit not in game.hand)
    with pytest.raises(Refused) as refused:
        game.do(Place(BLUE, game.hit().cell, missing))
    assert str(refused.value) == f"there is no {missing} in the mover's hand"


def test_the_solution_shows_in_nothing_but_hits_and_misses() -> None:
    """Another solution in the cells that are still empty: same views, same frames of everything but placements."""
    game = Game("bridge", "nine-a")
    game.do(game.hit())
    game.do(game.miss())
    state = game.state
    table, field = state.table, state.table.field
    empty = set(empty_cells(state))
    solution = tuple(digit % 9 + 1 if cell in empty else digit for cell, digit in enumerate(field.solution))
    other_deal = Deal(table.deal.blocks, "".join(map(str, solution)), table.deal.givens)
    hidden = Table(
        table.room,
        table.settings,
        table.blue,
        table.red,
        other_deal,
        make_field(table.settings, other_deal),
        table.opened_at,
    )
    other = replace(state, table=hidden)
    for seat in (BLUE, RED, None):
        assert view(other, seat, game.now) == view(state, seat, game.now)
    for move in (game.claim(), Exchange(BLUE), Offer(BLUE, "draw"), Resign(RED)):
        assert outside(other, move, game.now)[0] == outside(state, move, game.now)[0]
