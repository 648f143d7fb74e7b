"""Every reason for which a record is refused, each on a record that is good but for that."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tablesvc.dealing.solver import has_unique_solution
from tablesvc.engine.commands import Pie, Resign, Tick
from tablesvc.engine.errors import IllegalRecord
from tablesvc.engine.record import as_dict, from_events
from tablesvc.engine.record_check import check, walk
from tablesvc.engine.record_shape import parse
from tests.unit.engine.playing import Game, SeededDice, deals
from tests.unit.engine.test_whole_games import play_out, play_slowly

Json = dict[str, Any]


def bridge() -> Json:
    """claim (red may take it), pie, hit, miss, exchange, burn; unfinished."""
    game = Game("bridge", "nine-a", dice=SeededDice(3))
    game.do(game.claim())
    game.do(Pie(game.mover))
    game.do(game.hit())
    game.do(game.miss())
    game.do(game.claim())
    game.now += 60_000
    game.do(Tick())
    return written(game)


def blitz() -> Json:
    """Price 2: claim, hit; blue with one tile to move."""
    game = Game("blitz", "blitz-a", price=2, dice=SeededDice(3))
    game.do(game.claim())
    game.do(game.hit())
    return written(game)


def finished() -> Json:
    """Bridge, won by blue's connection."""
    for seed in range(100):
        record = written(play_out("bridge", "nine-a", 1, seed, 0.9))
        if record["end"]["result"] == "blue":
            return record
    raise AssertionError


def passed() -> Json:
    """Domains, with a pass in it."""
    for seed in range(100):
        record = written(play_slowly("domains", "nine-c", 1, seed))
        if any(move["kind"] == "pass" for move in record["moves"]):
            return record
    raise AssertionError


def written(game: Game) -> Json:
    record: Json = json.loads(json.dumps(as_dict(from_events("g", game.events))))
    return record


def verdict(record: Json) -> tuple[int, str]:
    """Ply and rule of the refusal."""
    with pytest.raises(IllegalRecord) as refused:
        check(parse(json.dumps(record).encode()), has_unique_solution)
    assert str(refused.value) == f"ply {refused.value.ply}: {refused.value.rule}"
    return refused.value.ply, refused.value.rule


def change(*path: str | int, to: object) -> Callable[[Json], None]:
    """A mutation that sets the value at `path`."""

    def mutate(record: Json) -> None:
        place: Any = record
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = to

    return mutate


def swap_digits(record: Json) -> None:
    """Two digits of the solution's first row change places."""
    solution = record["deal"]["solution"]
    record["deal"]["solution"] = solution[1] + solution[0] + solution[2:]


def add_given(record: Json) -> None:
    deal = record["deal"]
    at = deal["givens"].index(".")
    deal["givens"] = deal["givens"][:at] + deal["solution"][at] + deal["givens"][at + 1 :]


def few_givens(record: Json) -> None:
    """Only five givens are left, and the settings say so."""
    deal, kept = record["deal"], 0
    givens = ""
    for given in deal["givens"]:
        kept += given != "."
        givens += given if kept <= 5 else "."
    deal["givens"] = givens
    record["settings"]["givens"] = 5


def wrong_given(record: Json) -> None:
    deal = record["deal"]
    at = next(cell for cell, given in enumerate(deal["givens"]) if given != ".")
    other = str(int(deal["givens"][at]) % 9 + 1)
    deal["givens"] = deal["givens"][:at] + other + deal["givens"][at + 1 :]


def torn_block(record: Json) -> None:
    """Opposite corners change blocks."""
    blocks = record["deal"]["blocks"]
    record["settings"]["blocks"] = "irregular"
    record["deal"]["blocks"] = blocks[-1] + blocks[1:-1] + blocks[0]


def irregular_layout(record: Json) -> None:
    record["deal"]["blocks"] = deals()["nine-irregular-a"][1].blocks


DEAL: list[tuple[Callable[[Json], None], str]] = [
    (swap_digits, "no valid sudoku"),
    (change("deal", "solution", to="1" * 81), "no valid sudoku"),
    (few_givens, "more than one solution"),
    (wrong_given, "a given contradicts"),
    (torn_block, "not connected"),
    (change("deal", "blocks", to="a" * 81), "1 blocks, not 9"),
    (change("deal", "blocks", to="aaabbbccc" * 2 + "aabbbbccc" + "dddeeefff" * 3 + "ggghhhiii" * 3), "8 cells, not 9"),
    (irregular_layout, "regular blocks"),
    (change("settings", "blocks", to="round"), "regular or irregular"),
    (add_given, "31 givens, and the settings say 30"),
    (change("settings", "givens", to=29), "30 givens, and the settings say 29"),
    (change("hands", "blue", to=[1, 1]), "blue's opening hand has 2 tiles, not 3"),
    (change("hands", "red", to=[1, 2, 3, 4]), "red's opening hand has 4 tiles, not 3"),
]


@pytest.mark.parametrize(("mutate", "rule"), DEAL)
def test_what_is_wrong_with_the_deal_or_the_hands_is_ply_0(mutate: Callable[[Json], None], rule: str) -> None:
    record = bridge()
    mutate(record)
    ply, said = verdict(record)
    assert ply == 0
    assert rule in said


def test_a_hand_holds_a_tile_that_the_bag_does_not() -> None:
    record = bridge()
    solution, givens = record["deal"]["solution"], record["deal"]["givens"]
    in_bag = {
        str(d): sum(s == str(d) and g == "." for s, g in zip(solution, givens, strict=True)) for d in range(1, 10)
    }
    scarce = min(in_bag, key=lambda digit: in_bag[digit])
    assert in_bag[scarce] < 6
    record["hands"] = {"blue": [int(scarce)] * 3, "red": [int(scarce)] * 3}
    assert verdict(record) == (0, f"red's opening hand holds a {scarce} that the bag does not")


# moves of bridge(): 0 claim by blue, 1 pie by red, 2 hit by blue, 3 miss by red, 4 claim by blue, 5 burn by red
MOVES: list[tuple[Callable[[Json], None], int, str]] = [
    (change("moves", 0, "by", to="red"), 1, "blue is to move, not red"),
    (change("moves", 2, "by", to="red"), 3, "blue is to move, not red"),
    (change("moves", 0, "drew", to=[]), 1, "0 tiles were drawn, and the refill rule says 1"),
    (change("moves", 3, "drew", to=[1, 1]), 4, "2 tiles were drawn, and the refill rule says 1"),
    (change("moves", 5, "drew", to=[1]), 6, "1 tiles were drawn, and the refill rule says 0"),
    (change("moves", 2, "hit", to=False), 3, "hit contradicts the solution"),
    (change("moves", 3, "hit", to=True), 4, "hit contradicts the solution"),
    (change("moves", 0, "paid", to=[]), 1, "costs 1 tiles, and 0 were paid"),
    (change("moves", 1, "kind", to="pass"), 2, "a pass was not due"),
    (change("moves", 5, "kind", to="pass"), 6, "a pass was not due"),
    (change("moves", 5, to={"by": "red", "kind": "pie", "cell": "a1", "drew": []}), 6, "right after it got its owner"),
]


@pytest.mark.parametrize(("mutate", "ply", "rule"), MOVES)
def test_what_is_wrong_with_a_move(mutate: Callable[[Json], None], ply: int, rule: str) -> None:
    record = bridge()
    mutate(record)
    said = verdict(record)
    assert said[0] == ply
    assert rule in said[1]


def test_the_unchanged_records_are_good() -> None:
    for record in (bridge(), blitz(), finished(), passed()):
        check(parse(json.dumps(record).encode()), has_unique_solution)


def test_a_tile_that_the_hand_does_not_hold() -> None:
    record = bridge()
    missing = next(digit for digit in range(1, 10) if digit not in record["hands"]["blue"])
    record["moves"][0]["paid"] = [missing]
    assert verdict(record) == (1, f"there is no {missing} in the mover's hand to pay with")
    record = bridge()
    place = record["moves"][3]
    checked = walk(parse(json.dumps(record).encode()), has_unique_solution)
    place["tile"] = next(digit for digit in range(1, 10) if digit not in checked.positions[3].hands[0])
    assert verdict(record) == (4, f"there is no {place['tile']} in the mover's hand")


def test_cells_that_cannot_be_played() -> None:
    record = bridge()
    hit, claimed = record["moves"][2]["cell"], record["moves"][0]["cell"]
    record["moves"][3]["cell"] = hit
    assert verdict(record) == (4, "a tile can only be placed on an empty cell")
    record = bridge()
    record["moves"][4]["cell"] = claimed
    assert verdict(record) == (5, "a given that has an owner cannot be claimed")
    record["moves"][4]["cell"] = hit
    assert verdict(record) == (5, "only a given can be claimed")


def test_the_pie_takes_no_other_cell() -> None:
    record = bridge()
    record["moves"][1]["cell"] = record["moves"][2]["cell"]
    assert verdict(record) == (2, "the pie takes the first cell that got an owner, no other")


def test_a_draw_holds_a_tile_that_the_bag_does_not() -> None:
    record = finished()
    checked = check(parse(json.dumps(record).encode()), has_unique_solution)
    for at, move in enumerate(record["moves"]):
        bag = checked.positions[at].bag
        absent = [digit for digit in range(1, 10) if not bag[digit]]
        if move["kind"] == "place" and move["hit"] and len(move["drew"]) == 1 and absent:
            move["drew"] = absent[:1]
            assert verdict(record) == (at + 1, f"the draw holds a {absent[0]} that the bag does not")
            break
    else:
        raise AssertionError


def test_price_two_rules() -> None:
    record = blitz()
    record["moves"][0]["drew"] = [1]
    assert verdict(record) == (1, "1 tiles were drawn, and the refill rule says 0")
    record = blitz()
    record["moves"][0]["paid"].pop()
    assert verdict(record) == (1, "the claim costs 2 tiles, and 1 were paid")
    record = blitz()
    left = list(record["hands"]["blue"])
    for tile in record["moves"][0]["paid"]:
        left.remove(tile)
    givens = [cell for cell, given in enumerate(record["deal"]["givens"]) if given != "."]
    free = f"{'abcdef'[givens[-1] % 6]}{givens[-1] // 6 + 1}"
    record["moves"].append({"by": "blue", "kind": "claim", "cell": free, "paid": left, "drew": []})
    assert verdict(record) == (3, "a claim costs 2 tiles, and there is no paying half")


def test_an_exchange_needs_a_bag() -> None:
    record = passed()
    at = next(at for at, move in enumerate(record["moves"]) if move["kind"] == "pass")
    record["moves"] = [*record["moves"][: at + 1], {"by": "blue", "kind": "exchange", "drew": []}]
    del record["end"]
    mover = "red" if record["moves"][at]["by"] == "blue" else "blue"
    record["moves"][-1]["by"] = mover
    assert verdict(record) == (at + 2, "there is nothing to exchange for: the bag is empty")


def test_a_due_pass_is_missing() -> None:
    record = passed()
    at = next(at for at, move in enumerate(record["moves"]) if move["kind"] == "pass")
    del record["moves"][at]
    assert verdict(record) == (at + 1, "a pass was due and is missing")
    record["moves"] = record["moves"][:at]
    record["end"] = {"result": "red", "reason": "resign"}
    assert verdict(record) == (at, "a pass was due before the end and is missing")
    del record["end"]
    checked = check(parse(json.dumps(record).encode()), has_unique_solution)
    assert (checked.result, len(checked.positions)) == (None, at + 1)


def test_no_move_follows_the_end() -> None:
    record = finished()
    count = len(record["moves"])
    record["moves"].append({"by": "blue", "kind": "burn", "drew": []})
    assert verdict(record) == (count + 1, "a move follows the end of the game")


def test_a_finished_game_needs_no_end() -> None:
    record = finished()
    expected = record.pop("end")
    checked = check(parse(json.dumps(record).encode()), has_unique_solution)
    assert {"result": checked.result, "reason": checked.reason} == expected


@pytest.mark.parametrize(
    "end",
    [("red", "connection"), ("blue", "resign"), ("draw", "agreement"), ("none", "operator"), ("blue", "blocks")],
)
def test_the_end_is_what_the_moves_lead_to(end: tuple[str, str]) -> None:
    record = finished()
    assert record["end"] == {"result": "blue", "reason": "connection"}
    record["end"] = dict(zip(("result", "reason"), end, strict=True))
    assert verdict(record) == (len(record["moves"]), "the moves lead to blue winning by connection")


GOOD_ENDS = [
    ("blue", "resign"),
    ("red", "resign"),
    ("red", "time"),
    ("draw", "agreement"),
    ("none", "no_show"),
    ("none", "operator"),
]


@pytest.mark.parametrize("reason", ["connection", "blocks", "resign", "time", "agreement", "no_show", "operator"])
@pytest.mark.parametrize("result", ["blue", "red", "draw", "none"])
def test_an_end_that_the_moves_do_not_show(result: str, reason: str) -> None:
    record = bridge()  # blue is to move after six moves
    record["end"] = {"result": result, "reason": reason}
    if (result, reason) in GOOD_ENDS:
        checked = check(parse(json.dumps(record).encode()), has_unique_solution)
        assert (checked.result, checked.reason) == (result, reason)
    else:
        ply, rule = verdict(record)
        assert ply == 6
        assert f"by {reason}" in rule


def test_the_positions_before_a_fault_are_kept() -> None:
    record = bridge()
    record["moves"][3]["hit"] = True
    checked = walk(parse(json.dumps(record).encode()), has_unique_solution)
    assert len(checked.positions) == 4
    assert checked.fault is not None
    assert checked.fault.ply == 4


def test_rooms_limits_do_not_matter() -> None:
    """Any number of givens, any price in any variant."""
    for price in (1, 2):
        game = Game("domains", "nine-b", price)
        game.do(game.claim())
        game.do(Resign(0))
        check(from_events("g", game.events), has_unique_solution)
