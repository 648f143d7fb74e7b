"""Placing, claiming, exchanging, refilling, passing: the worked cases of the rules and what is near them."""

import pytest

from tablesvc.engine.commands import Claim, Command, Exchange, Place, Tick
from tablesvc.engine.decided import MARK_MS
from tablesvc.engine.errors import Illegal
from tablesvc.engine.events import Ended, Moved
from tablesvc.engine.legal import kinds
from tablesvc.engine.seats import BLUE, RED
from tests.unit.engine.playing import Game, LowDice, SeededDice, empty_cells, late, mask


def only(events: object) -> Moved:
    """The one event, a move."""
    assert isinstance(events, tuple)
    (event,) = events
    assert isinstance(event, Moved)
    return event


def test_blue_draws_first_and_moves_first() -> None:
    game = Game("blitz", "blitz-a", dice=LowDice())
    # with these dice blue takes the three lowest tiles, red the next three
    tiles = sorted(game.state.table.field.solution[cell] for cell in empty_cells(game.state))
    assert game.state.position.hands[BLUE] == tuple(tiles[:3])
    assert game.state.position.hands[RED] == tuple(tiles[3:6])
    assert game.mover == BLUE


def test_the_bag_holds_a_tile_for_each_empty_cell() -> None:
    game = Game("bridge", "nine-a")
    assert game.state.position.bag_size == 81 - 30 - 6


def test_a_right_placement_takes_the_cell_and_the_tile_leaves_the_game() -> None:
    game = Game("bridge", "nine-a")
    bag = game.state.position.bag_size
    place = game.hit()
    move = only(game.do(place))
    position = game.state.position
    assert (move.hit, len(move.drew)) == (True, 1)
    assert position.owned[BLUE] == position.solved == 1 << place.cell
    assert (position.bag_size, position.to_move) == (bag - 1, RED)
    assert position.mistakes == (0, 0)


def test_a_miss_leaves_the_cell_empty_counts_and_refills() -> None:
    game = Game("bridge", "nine-a")
    bag, place = game.state.position.bag_size, game.miss()
    move = only(game.do(place))
    position = game.state.position
    assert (move.hit, len(move.drew)) == (False, 1)
    assert (position.owned, position.solved, position.bag_size) == ((0, 0), 0, bag)
    assert position.mistakes == (0, 1)
    assert len(position.hands[BLUE]) == 3
    assert position.to_move == RED


def test_a_digit_that_clashes_in_plain_sight_is_a_miss() -> None:
    game = Game("bridge", "nine-a")
    field = game.state.table.field
    cell, tile = next(
        (cell, tile)
        for cell in empty_cells(game.state)
        for tile in game.hand
        for given in range(81)
        if field.givens >> given & 1 and field.solution[given] == tile and given // 9 == cell // 9
    )
    assert only(game.do(Place(BLUE, cell, tile))).hit is False


def test_a_miss_marks_the_cell_for_ten_seconds() -> None:
    game = Game("bridge", "nine-a")
    first = game.miss()
    game.do(first)
    game.now += MARK_MS - 1
    game.do(game.miss())
    assert [mark.by for mark in game.state.marks] == [BLUE, RED]
    game.now += 1
    game.do(game.miss())
    assert [mark.by for mark in game.state.marks] == [RED, BLUE]


def test_a_mark_goes_when_its_cell_is_solved() -> None:
    game = Game("bridge", "nine-a")
    miss = game.miss()
    game.do(miss)
    field = game.state.table.field
    right = field.solution[miss.cell]
    hand = (right, *[tile for tile in game.hand if tile != right][:2])
    bag = list(game.state.position.bag)
    for tile in game.hand:
        bag[tile] += 1
    for tile in hand:
        bag[tile] -= 1
    game.set(hands=(hand, game.state.position.hands[BLUE]), bag=tuple(bag))
    game.do(Place(RED, miss.cell, right))
    assert game.state.marks == ()


@pytest.mark.parametrize(
    ("cell", "tile", "rule"),
    [
        ("given", "held", "empty cell"),
        ("solved", "held", "empty cell"),
        ("empty", "not held", "in the mover's hand"),
        ("off", "held", "not on the field"),
        ("negative", "held", "not on the field"),
    ],
)
def test_illegal_placements(cell: str, tile: str, rule: str) -> None:
    game = Game("bridge", "nine-a")
    game.do(game.hit())
    cells = {
        "given": game.unowned()[0],
        "solved": game.state.position.solved.bit_length() - 1,
        "empty": empty_cells(game.state)[0],
        "off": 81,
        "negative": -1,
    }
    missing = next(digit for digit in range(1, 10) if digit not in game.hand)
    with pytest.raises(Illegal, match=rule):
        game.do(Place(RED, cells[cell], game.hand[0] if tile == "held" else missing))


def test_a_claim_at_price_one_puts_the_tile_back_and_refills() -> None:
    game = Game("bridge", "nine-a")
    bag, claim = game.state.position.bag_size, game.claim()
    move = only(game.do(claim))
    assert (move.paid, len(move.drew)) == ((claim.tile,), 1)
    assert game.state.position.owned[BLUE] == 1 << claim.cell
    assert game.state.position.bag_size == bag
    assert game.state.position.solved == 0


def test_only_unowned_givens_are_claimed() -> None:
    game = Game("bridge", "nine-a")
    claimed = game.claim().cell
    game.do(game.claim())
    tile = game.hand[0]
    with pytest.raises(Illegal, match="has an owner"):
        game.do(Claim(RED, claimed, tile))
    with pytest.raises(Illegal, match="only a given"):
        game.do(Claim(RED, empty_cells(game.state)[0], tile))
    with pytest.raises(Illegal, match="not on the field"):
        game.do(Claim(RED, 81, tile))
    with pytest.raises(Illegal, match="choose the tile"):
        game.do(Claim(RED, game.unowned()[0], None))
    missing = next(digit for digit in range(1, 10) if digit not in game.hand)
    with pytest.raises(Illegal, match="in the mover's hand"):
        game.do(Claim(RED, game.unowned()[0], missing))


def test_a_solved_cell_is_no_given() -> None:
    game = Game("bridge", "nine-a")
    solved = game.hit()
    game.do(solved)
    with pytest.raises(Illegal, match="only a given"):
        game.do(Claim(RED, solved.cell, game.hand[0]))


def test_an_exchange_renews_the_whole_hand() -> None:
    game = Game("bridge", "nine-a")
    bag = game.state.position.bag_size
    move = only(game.do(Exchange(BLUE)))
    assert len(move.drew) == 3
    assert game.state.position.hands[BLUE] == move.drew
    assert game.state.position.bag_size == bag


def test_a_miss_with_an_empty_bag_draws_the_tile_again() -> None:
    game = Game("domains", "nine-a")
    field = game.state.table.field
    holes = [field.geometry.names[cell] for cell in empty_cells(game.state)[:4]]
    digits = [field.solution[field.geometry.index[name]] for name in holes]
    late(game, holes, blue=tuple(digits[:2]), red=tuple(digits[2:]))
    wrong = next(name for name in holes if field.solution[game.cell(name)] != digits[0])
    move = only(game.do(Place(BLUE, game.cell(wrong), digits[0])))
    assert (move.hit, move.drew) == (False, (digits[0],))
    assert sorted(game.state.position.hands[BLUE]) == sorted(digits[:2])
    assert game.state.position.bag_size == 0


def test_a_price_one_claim_with_an_empty_bag_costs_only_the_turn() -> None:
    game = Game("bridge", "nine-a", price=1)
    names = game.state.table.field.geometry.names
    holes = [names[cell] for cell in empty_cells(game.state)[:4]]
    digits = [game.state.table.field.solution[game.cell(name)] for name in holes]
    late(game, holes, blue=tuple(digits[:2]), red=tuple(digits[2:]), owned=(mask(9, "a9"), mask(9, "i1")))
    move = only(game.do(Claim(BLUE, game.unowned()[0], digits[0])))
    assert move.paid == move.drew == (digits[0],)
    assert sorted(game.state.position.hands[BLUE]) == sorted(digits[:2])


def test_price_two_of_a_hand_of_three_leaves_one_tile_until_the_end_of_the_next_move() -> None:
    game = Game("blitz", "blitz-a", price=2)
    bag, hand = game.state.position.bag_size, game.hand
    move = only(game.do(game.claim()))
    assert move.paid[0] == hand[0]
    assert len(move.paid) == 2
    assert move.drew == ()
    assert len(game.state.position.hands[BLUE]) == 1
    assert game.state.position.bag_size == bag + 2
    game.do(game.miss())
    assert len(game.state.position.hands[BLUE]) == 1
    assert len(only(game.do(game.hit())).drew) == 3
    assert len(game.state.position.hands[BLUE]) == 3


@pytest.mark.parametrize("how", ["miss", "exchange", "burn"])
def test_after_a_paid_price_two_claim_any_next_move_fills_the_hand(how: str) -> None:
    game = Game("blitz", "blitz-a", price=2)
    game.do(game.claim())
    game.do(game.miss())
    if how == "burn":
        game.now += 60_000
    commands: dict[str, Command] = {"miss": game.miss(), "exchange": Exchange(BLUE), "burn": Tick()}
    move = only(game.do(commands[how]))
    assert len(move.drew) == {"miss": 3, "exchange": 3, "burn": 2}[how]
    assert len(game.state.position.hands[BLUE]) == 3


def test_the_second_tile_is_taken_from_the_rest_of_the_hand() -> None:
    taken = set()
    for seed in range(40):
        game = Game("blitz", "blitz-b", price=2, dice=SeededDice(5))
        game.dice = SeededDice(seed)
        first, second, third = game.hand
        assert second != third
        move = only(game.do(Claim(BLUE, game.unowned()[0], first)))
        taken.add(move.paid[1])
    assert taken == {second, third}


def price_two_endgame(blue_tiles: int, bag: int) -> Game:
    """A blitz game late on: blue to move with so many tiles, red with one, so many in the bag."""
    game = Game("blitz", "blitz-a", price=2)
    names = game.state.table.field.geometry.names
    holes = [names[cell] for cell in empty_cells(game.state)[: blue_tiles + 1 + bag]]
    digits = [game.state.table.field.solution[game.cell(name)] for name in holes]
    late(
        game,
        holes,
        blue=tuple(digits[:blue_tiles]),
        red=(digits[blue_tiles],),
        owned=(mask(6, "a6"), mask(6, "f1")),
    )
    return game


def test_price_two_with_a_hand_of_two_leaves_none() -> None:
    game = price_two_endgame(blue_tiles=2, bag=0)
    move = only(game.do(game.claim()))
    assert (len(move.paid), move.drew) == (2, ())
    assert game.state.position.hands[BLUE] == ()
    assert game.state.position.bag_size == 2


def test_with_an_empty_hand_a_claim_is_free_and_refills() -> None:
    game = price_two_endgame(blue_tiles=0, bag=3)
    field, position = game.state.table.field, game.state.position
    assert kinds(field, position) == {"exchange": True, "claim": True, "place": False, "pie": False}
    with pytest.raises(Illegal, match="in the mover's hand"):
        game.do(Place(BLUE, empty_cells(game.state)[0], 1))
    with pytest.raises(Illegal, match="in the mover's hand"):
        game.do(Claim(BLUE, game.unowned()[0], 1))
    free = only(game.do(Claim(BLUE, game.unowned()[0], None)))
    assert (free.paid, len(free.drew)) == ((), 3)


def test_an_exchange_with_an_empty_hand_draws_from_the_bag() -> None:
    game = price_two_endgame(blue_tiles=0, bag=2)
    assert len(only(game.do(Exchange(BLUE))).drew) == 2


def test_one_tile_and_an_empty_bag_at_price_two_leaves_only_placing() -> None:
    game = price_two_endgame(blue_tiles=1, bag=0)
    field, position = game.state.table.field, game.state.position
    assert kinds(field, position) == {"exchange": False, "claim": False, "place": True, "pie": False}
    with pytest.raises(Illegal, match="no paying half"):
        game.do(game.claim())
    with pytest.raises(Illegal, match="bag is empty"):
        game.do(Exchange(BLUE))
    assert only(game.do(game.hit())).hit is True


def test_a_mover_without_tile_bag_and_given_passes_at_once() -> None:
    game = Game("domains", "nine-a")
    field = game.state.table.field
    names = field.geometry.names
    hole, other_hole = empty_cells(game.state)[:2]
    everything_open = field.givens
    late(
        game,
        [names[hole], names[other_hole]],
        blue=(field.solution[hole],),
        red=(field.solution[other_hole],),
        owned=(everything_open, 0),
        to_move=RED,
        moves_left=2,
    )
    # red misses and keeps the tile, then closes the cell and is out of everything
    wrong = hole if field.solution[hole] != field.solution[other_hole] else other_hole
    game.do(Place(RED, wrong, field.solution[other_hole]))
    assert (game.mover, game.state.position.moves_left) == (RED, 1)
    events = game.do(Place(RED, other_hole, field.solution[other_hole]))
    assert [getattr(event, "kind", "end") for event in events] == ["place"]
    # blue burns, and red's pair is passed
    game.now += 60_000
    events = game.do(Tick())
    assert [(event.kind, event.by) for event in events if isinstance(event, Moved)] == [("burn", BLUE), ("pass", RED)]
    assert (game.mover, game.state.position.moves_left) == (BLUE, 2)


def test_the_rest_of_a_pair_is_passed() -> None:
    game = Game("domains", "nine-a")
    field = game.state.table.field
    names = field.geometry.names
    hole, other_hole = empty_cells(game.state)[:2]
    late(
        game,
        [names[hole], names[other_hole]],
        blue=(field.solution[hole],),
        red=(field.solution[other_hole],),
        owned=(field.givens, 0),
        moves_left=2,
    )
    events = game.do(Place(BLUE, hole, field.solution[hole]))
    assert [(event.kind, event.by) for event in events if isinstance(event, Moved)] == [("place", BLUE), ("pass", BLUE)]
    assert (game.mover, game.state.position.moves_left) == (RED, 2)


def test_the_winning_move_refills_too() -> None:
    game = Game("blitz", "blitz-a")
    field = game.state.table.field
    place = game.hit()
    column = place.cell % 6
    line = field.geometry.columns[column] & ~(1 << place.cell)
    red, blue = game.state.position.hands
    rest = [field.geometry.names[cell] for cell in empty_cells(game.state) if not line >> cell & 1]
    tiles = [field.solution[game.cell(name)] for name in rest if game.cell(name) != place.cell]
    late(game, rest, blue=(place.tile, *tiles[:2]), red=tuple(tiles[2:5]), owned=(0, line))
    events = game.do(place)
    assert [type(event) for event in events] == [Moved, Ended]
    assert isinstance(events[0], Moved)
    assert len(events[0].drew) == 1
    assert isinstance(events[1], Ended)
    assert (events[1].result, events[1].reason) == ("blue", "connection")
    assert len(events[1].chain) == 6
    assert {*events[1].chain} == {*range(column, 36, 6)}
    assert (red, blue) != game.state.position.hands
    assert game.state.to_move is None
