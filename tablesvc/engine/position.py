"""The board, the bag and the hands, and how a move changes them. No clocks, no offers.

The invariant: digit by digit, bag and both hands together are the solution's digits of the empty cells.
"""

from msgspec import Struct

from tablesvc.engine import goals
from tablesvc.engine.decided import FIRST_MOVER, OPENING_MOVES, PAIR_SIZE
from tablesvc.engine.events import Moved
from tablesvc.engine.field import Field
from tablesvc.engine.seats import BLUE, Seat

HAND_SIZE = 3


class Position(Struct, frozen=True):
    """A position. Pairs are indexed by seat."""

    to_move: Seat
    """The mover; after the winning move, who would have been."""
    moves_left: int
    """Moves left in the running turn: 1, or up to 2 in Domains."""
    owned: tuple[int, int]
    """Each seat's cells."""
    solved: int
    """Cells that were empty and show their digit now."""
    hands: tuple[tuple[int, ...], tuple[int, ...]]
    """Tiles in the order in which they came."""
    bag: tuple[int, ...]
    """`bag[digit]`: how many tiles of it; index 0 is unused. There is no order: each draw is even."""
    bag_size: int
    mistakes: tuple[int, int]
    pie: int | None
    """The cell that the mover may take instead of moving."""
    winner: Seat | None
    """Who has reached the goal."""
    ply: int
    """Moves made so far, burns and passes included."""


def full_bag(field: Field) -> list[int]:
    """The bag before anyone draws: one tile for each empty cell; `[digit]` is how many."""
    bag = [0] * (field.geometry.side + 1)
    for cell, digit in enumerate(field.solution):
        if not field.givens >> cell & 1:
            bag[digit] += 1
    return bag


def starting(field: Field, blue_hand: tuple[int, ...], red_hand: tuple[int, ...]) -> Position:
    """The position before the first move. Trusts that the bag held those tiles."""
    bag = full_bag(field)
    for tile in blue_hand + red_hand:
        bag[tile] -= 1
    return Position(
        to_move=FIRST_MOVER,
        moves_left=OPENING_MOVES if field.domains else 1,
        owned=(0, 0),
        solved=0,
        hands=(red_hand, blue_hand),
        bag=tuple(bag),
        bag_size=sum(bag),
        mistakes=(0, 0),
        pie=None,
        winner=None,
        ply=0,
    )


def given_back(
    position: Position, kind: str, by: Seat, tile: int | None, hit: bool | None, paid: tuple[int, ...]
) -> tuple[list[int], list[int]]:
    """The mover's hand and the bag when all is done but the refill. Trusts that the hand holds the tiles."""
    hand = list(position.hands[by])
    bag = list(position.bag)
    if kind == "place" and tile is not None:
        hand.remove(tile)
        if not hit:
            bag[tile] += 1
    elif kind == "claim":
        for coin in paid:
            hand.remove(coin)
            bag[coin] += 1
    elif kind == "exchange":
        for coin in hand:
            bag[coin] += 1
        hand = []
    return hand, bag


def refill_size(hand: list[int], bag: list[int], paid: tuple[int, ...]) -> int:
    """How many tiles the mover draws: up to three in hand, as the bag allows; none after paying two."""
    return 0 if len(paid) == 2 else min(HAND_SIZE - len(hand), sum(bag))


def apply(field: Field, position: Position, move: Moved) -> Position:
    """The position after a move, burn or pass. Trusts that it is legal and that its draws are in the bag."""
    hand, bag = given_back(position, move.kind, move.by, move.tile, move.hit, move.paid)
    for tile in move.drew:
        bag[tile] -= 1
    return with_tiles(field, position, move, (*hand, *move.drew), tuple(bag))


def with_tiles(field: Field, position: Position, move: Moved, tiles: tuple[int, ...], bag: tuple[int, ...]) -> Position:
    """The same for who knows already what the mover and the bag hold after the refill."""
    kind, by, cell = move.kind, move.by, move.cell
    owned, solved, mistakes = position.owned, position.solved, position.mistakes
    pie = winner = None
    if kind == "place" and not move.hit:
        red, blue = mistakes
        mistakes = (red, blue + 1) if by == BLUE else (red + 1, blue)
    elif cell is not None:
        gained = 1 << cell
        red, blue = owned
        if field.pie and not red | blue:
            pie = cell
        owned = (red & ~gained, blue | gained) if by == BLUE else (red | gained, blue & ~gained)
        if kind == "place":
            solved |= gained
        if goals.reached(field, owned[by], cell, by):
            winner = by
    if position.moves_left > 1 and kind != "burn" and kind != "pass":
        to_move, moves_left = by, position.moves_left - 1
    else:
        to_move, moves_left = 1 - by, PAIR_SIZE if field.domains else 1
    return Position(
        to_move,
        moves_left,
        owned,
        solved,
        (position.hands[0], tiles) if by == BLUE else (tiles, position.hands[1]),
        bag,
        sum(bag),
        mistakes,
        pie,
        winner,
        position.ply + 1,
    )
