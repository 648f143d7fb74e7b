"""Deals: exactly one solution, exactly the asked givens, the same from the same seed."""

import json
import subprocess
import sys
from hashlib import sha256

import pytest

from tablesvc.dealing.cover import REGULAR
from tablesvc.dealing.dealer import Deal, deal
from tablesvc.dealing.errors import CannotDeal, DealingError, NoSuchDeal
from tablesvc.dealing.layout import is_connected_layout
from tablesvc.dealing.solver import is_solution
from tests.unit.dealing.oracle import solutions

CLUB: list[tuple[int, str, int]] = [
    *((9, blocks, givens) for blocks in ("regular", "irregular") for givens in range(22, 35)),
    *((6, "regular", givens) for givens in range(8, 13)),
    *((6, "irregular", givens) for givens in range(7, 13)),
]
BEYOND: list[tuple[int, str, int]] = [
    (9, "regular", 81),
    (9, "regular", 60),
    (9, "irregular", 81),
    (9, "irregular", 18),
    (6, "regular", 36),
    (6, "regular", 20),
    (6, "irregular", 36),
    (6, "irregular", 6),
]
PINNED = {
    (9, "regular", 30): "d42639f415493f33aec512db0bb1a15def29562df2e5149c62e1033692fa8434",
    (9, "regular", 22): "2e79b1ba727fe3d1bc97d94d18e407595c5478df7e0acd2bb4e8c8b5904ccb50",
    (9, "irregular", 30): "bc9ff51000f58fc1f68efe1cb02efae3c35ad87ef68b36f00b8519f601796c70",
    (6, "regular", 8): "8f9d7c7779fdeb5adbff98fa8fd98df3af4398f4bdffb118817af0a55d4beed0",
    (6, "irregular", 7): "f65b634ef06ae6e2a7ec0b8831c7ce88a304cca49991bdcb4c0b0b5ce5730d50",
}


def digest(made: Deal) -> str:
    return sha256(f"{made.blocks}{made.solution}{made.givens}".encode()).hexdigest()


@pytest.mark.parametrize(("side", "blocks", "givens"), CLUB + BEYOND)
def test_a_deal_is_what_was_asked_for(side: int, blocks: str, givens: int) -> None:
    for seed in range(3):
        made = deal(side, blocks, givens, seed)
        assert len(made.givens) == side * side
        assert len(made.givens) - made.givens.count(".") == givens
        assert is_connected_layout(side, made.blocks)
        assert (made.blocks == REGULAR[side]) == (blocks == "regular")
        assert is_solution(side, made.blocks, made.solution)
        assert solutions(side, made.blocks, made.givens) == [made.solution]


def test_the_same_seed_gives_the_same_deal_and_another_seed_another() -> None:
    one, again, other = (deal(9, "irregular", 30, seed) for seed in (7, 7, 8))
    assert one == again
    assert other.solution != one.solution
    assert other.blocks != one.blocks


def test_settings_are_mixed_into_the_seed() -> None:
    fields = {deal(9, "regular", givens, 7).solution for givens in range(28, 35)}
    assert len(fields) == 7


def test_any_whole_number_is_a_seed() -> None:
    assert deal(6, "regular", 10, -1) != deal(6, "regular", 10, 1)
    assert deal(6, "regular", 10, 2**200) == deal(6, "regular", 10, 2**200)


@pytest.mark.parametrize("setting", PINNED)
def test_deals_are_pinned(setting: tuple[int, str, int]) -> None:
    """A change here is a change of every deal: raise the dealer's VERSION with it."""
    assert digest(deal(*setting, 20)) == PINNED[setting]


def test_hash_order_plays_no_part() -> None:
    program = (
        "import json, sys; from tablesvc.dealing.dealer import deal;"
        "print(json.dumps([[d.blocks, d.solution, d.givens] for d in (deal(*s) for s in json.loads(sys.argv[1]))]))"
    )
    settings = [(9, "irregular", 24, 3), (6, "regular", 9, 3)]
    heard = [
        subprocess.run(
            [sys.executable, "-c", program, json.dumps(settings)],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert heard[0] == heard[1]
    made = [deal(side, blocks, givens, seed) for side, blocks, givens, seed in settings]
    assert json.loads(heard[0]) == [[one.blocks, one.solution, one.givens] for one in made]


@pytest.mark.parametrize(
    ("side", "blocks", "givens", "reason"),
    [
        (6, "regular", 7, "8 to 36 givens, not 7"),
        (9, "regular", 16, "17 to 81 givens, not 16"),
        (9, "irregular", 7, "8 to 81 givens, not 7"),
        (9, "regular", 82, "17 to 81 givens, not 82"),
        (6, "irregular", 0, "5 to 36 givens, not 0"),
        (6, "irregular", -3, "5 to 36 givens, not -3"),
        (7, "regular", 12, "no field has side 7"),
        (9, "any", 30, "any blocks"),
    ],
)
def test_what_cannot_exist_is_refused_at_once(side: int, blocks: str, givens: int, reason: str) -> None:
    with pytest.raises(NoSuchDeal, match=reason):
        deal(side, blocks, givens, 1)


def test_what_may_exist_but_is_not_found_ends_in_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablesvc.dealing.dealer.FIELDS", {6: 1, 9: 1})
    with pytest.raises(CannotDeal, match="17 givens") as refused:
        deal(9, "regular", 17, 1)
    assert isinstance(refused.value, DealingError)


def test_a_search_without_end_is_cut_off_by_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablesvc.dealing.dealer.DEAD_ENDS", 500)
    with pytest.raises(CannotDeal, match="10 givens"):
        deal(9, "irregular", 10, 1)
