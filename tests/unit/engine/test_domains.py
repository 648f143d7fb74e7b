"""Domains: pairs of moves, and majorities."""

from tablesvc.engine.commands import Place, Tick
from tablesvc.engine.events import Ended, Moved
from tablesvc.engine.geometry import cells_of
from tablesvc.engine.goals import has_majority
from tablesvc.engine.seats import BLUE, RED
from tests.unit.engine.playing import Game, empty_cells, late


def turns(game: Game, count: int) -> list[tuple[int, int]]:
    """(mover, moves left) before each of `count` misses."""
    seen = []
    for _ in range(count):
        seen.append((game.mover, game.state.position.moves_left))
        game.do(game.miss())
    return seen


def test_blue_opens_with_one_move_then_each_makes_two() -> None:
    game = Game("domains", "nine-a")
    assert turns(game, 7) == [(BLUE, 1), (RED, 2), (RED, 1), (BLUE, 2), (BLUE, 1), (RED, 2), (RED, 1)]


def test_each_move_of_a_pair_has_its_refill_and_its_move_clock() -> None:
    game = Game("domains", "nine-a")
    game.do(game.hit())
    game.now += 50_000
    (first,) = game.do(game.hit())
    assert isinstance(first, Moved)
    assert len(first.drew) == 1
    game.now += 50_000
    assert game.do(Tick()) == ()
    (second,) = game.do(game.hit())
    assert isinstance(second, Moved)
    assert (first.used_ms, second.used_ms) == (50_000, 50_000)
    assert game.state.banks[RED] == 900_000 - 100_000


def test_a_burn_ends_the_pair() -> None:
    game = Game("domains", "nine-a")
    game.do(game.hit())
    game.now += 60_000
    game.do(Tick())
    assert (game.mover, game.state.position.moves_left) == (BLUE, 2)


def test_five_cells_hold_a_block_and_four_do_not() -> None:
    field = Game("domains", "nine-irregular-a").state.table.field
    five = [sum(1 << cell for cell in cells_of(block)[:5]) for block in field.blocks]
    assert has_majority(field.blocks, sum(five[:5]))
    assert not has_majority(field.blocks, sum(five[:4]))
    without_one = five[4] & (five[4] - 1)
    assert not has_majority(field.blocks, sum(five[:4]) + without_one)


def test_the_fifth_block_ends_the_game_in_the_middle_of_a_pair() -> None:
    game = Game("domains", "nine-a")
    field = game.state.table.field
    held = sum(sum(1 << cell for cell in cells_of(block)[:5]) for block in field.blocks[:4])
    # the fifth block: four for blue, four for red, the ninth is blue's to take
    last = field.blocks[4]
    hole = next(cell for cell in empty_cells(game.state) if last >> cell & 1)
    rest = cells_of(last & ~(1 << hole))
    blue = held | sum(1 << cell for cell in rest[:4])
    red = sum(1 << cell for cell in rest[4:])
    names = field.geometry.names
    holes = [names[hole], *[names[cell] for cell in empty_cells(game.state) if field.blocks[8] >> cell & 1]]
    tiles = [field.solution[game.cell(name)] for name in holes]
    late(game, holes, blue=tuple(tiles[:2]), red=tuple(tiles[2:4]), owned=(red, blue), moves_left=2)
    events = game.do(Place(BLUE, hole, tiles[0]))
    assert [type(event) for event in events] == [Moved, Ended]
    ended = events[1]
    assert isinstance(ended, Ended)
    assert (ended.result, ended.reason, ended.chain) == ("blue", "blocks", ())
    assert game.state.over


def test_a_connection_is_no_goal_in_domains() -> None:
    game = Game("domains", "nine-a")
    field = game.state.table.field
    place = game.hit()
    column = field.geometry.columns[place.cell % 9] & ~(1 << place.cell)
    names = [field.geometry.names[cell] for cell in empty_cells(game.state) if not column >> cell & 1]
    tiles = [field.solution[game.cell(name)] for name in names if game.cell(name) != place.cell]
    late(game, names, blue=(place.tile, *tiles[:2]), red=tuple(tiles[2:5]), owned=(0, column))
    (move,) = game.do(place)
    assert isinstance(move, Moved)
    assert not game.state.over
