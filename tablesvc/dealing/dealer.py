"""Deals with exactly one solution and exactly the asked number of givens, from a seed, the same on every
machine.

Every limit counts steps, none counts time, so that a slow machine deals what a fast one deals.
"""

from dataclasses import dataclass
from random import Random

from tablesvc.dealing.cover import REGULAR, Cover, cover
from tablesvc.dealing.dice import seeded
from tablesvc.dealing.digging import Dig
from tablesvc.dealing.errors import CannotDeal, NoSuchDeal, Undecided
from tablesvc.dealing.field import draw_field
from tablesvc.dealing.layout import draw_layout
from tablesvc.dealing.search import Steps
from tablesvc.dealing.solver import EMPTY, as_text

VERSION = 1  # part of every seed: raise it when a change makes other deals of the same seeds
FIELDS = {6: 60, 9: 30}  # full fields tried for one deal, by side
DEAD_ENDS = 50_000  # of all searches for one deal, a second or two; from 22 givens on, no deal has needed 1,000
LAYOUTS = 400  # irregular layouts tried for one full field

FEWEST_REGULAR = {6: 8, 9: 17}
"""The fewest givens that any field with regular blocks can have and be uniquely solvable: searched through
for six, and known since 2012 for nine."""


@dataclass(frozen=True, slots=True)
class Deal:
    """blocks: n*n letters, n different ones. solution: n*n digits. givens: n*n digits, "." for an empty
    cell."""

    blocks: str
    solution: str
    givens: str


def fewest_givens(side: int, blocks: str) -> int:
    """Below this number of givens no deal can exist. With irregular blocks only the plain bound is known: two
    digits that no given shows could be exchanged."""
    return FEWEST_REGULAR[side] if blocks == "regular" else side - 1


def deal(side: int, blocks: str, givens: int, seed: int) -> Deal:
    """A deal for a field of side 6 or 9, with blocks "regular" or "irregular". Any whole number is a seed.

    The same arguments give the same deal on every machine, within one VERSION. Raises NoSuchDeal for what
    cannot exist, CannotDeal when a few dozen fields, or 50,000 dead ends, did not give one with so few givens.
    """
    if side not in REGULAR or blocks not in ("regular", "irregular"):
        raise NoSuchDeal(f"no field has side {side} and {blocks} blocks")
    fewest = fewest_givens(side, blocks)
    if not fewest <= givens <= side * side:
        raise NoSuchDeal(
            f"a field of side {side} with {blocks} blocks has {fewest} to {side * side} givens, not {givens}"
        )
    rng = seeded("numbridge.deal", VERSION, side, blocks, givens, seed)
    steps = Steps(DEAD_ENDS)
    for _ in range(FIELDS[side]):
        tables, field = _full_field(side, blocks, rng)
        try:
            given = Dig(tables, field, rng, steps).down_to(givens)
        except Undecided:
            break
        if given is not None:
            shown = [EMPTY] * (side * side)
            solution = as_text(side, field)
            for cell in given:
                shown[cell] = solution[cell]
            return Deal(tables.blocks, solution, "".join(shown))
    raise CannotDeal(f"no deal of side {side} with {blocks} blocks and {givens} givens was found")


def _full_field(side: int, blocks: str, rng: Random) -> tuple[Cover, list[int]]:
    for _ in range(LAYOUTS):
        tables = cover(side, REGULAR[side]) if blocks == "regular" else Cover(side, draw_layout(side, rng))
        field = draw_field(tables, rng)
        if field is not None:
            return tables, field
    raise CannotDeal(f"{LAYOUTS} layouts of side {side} could not be filled")
