"""Which moves a position allows. Checks raise Illegal with the rule; they say nothing of turns or of the end."""

from collections.abc import Iterator

from tablesvc.engine.errors import Illegal
from tablesvc.engine.field import Field
from tablesvc.engine.position import Position
from tablesvc.engine.seats import Seat


def check_place(field: Field, position: Position, by: Seat, cell: int, tile: int) -> None:
    """Raises Illegal unless the hand holds the tile and the cell is empty."""
    if not 0 <= cell < field.geometry.cells:
        raise Illegal("that cell is not on the field")
    if (field.givens | position.solved) >> cell & 1:
        raise Illegal("a tile can only be placed on an empty cell")
    if tile not in position.hands[by]:
        raise Illegal(f"there is no {tile} in the mover's hand")


def check_claim(field: Field, position: Position, by: Seat, cell: int) -> None:
    """Raises Illegal unless the cell is an unowned given and the hand can pay the price."""
    if not 0 <= cell < field.geometry.cells:
        raise Illegal("that cell is not on the field")
    if not field.givens >> cell & 1:
        raise Illegal("only a given can be claimed")
    if (position.owned[0] | position.owned[1]) >> cell & 1:
        raise Illegal("a given that has an owner cannot be claimed")
    if position.hands[by] and len(position.hands[by]) < field.claim_price:
        raise Illegal(f"a claim costs {field.claim_price} tiles, and there is no paying half")


def check_exchange(position: Position) -> None:
    """Raises Illegal when the bag is empty; an empty hand is no hindrance."""
    if not position.bag_size:
        raise Illegal("there is nothing to exchange for: the bag is empty")


def check_pie(position: Position) -> None:
    """Raises Illegal unless the first cell of the game got its owner in the move before."""
    if position.pie is None:
        raise Illegal("the first cell can only be taken right after it got its owner")


def pass_due(field: Field, position: Position) -> bool:
    """Whether the mover has nothing to play: no tile, an empty bag, no unowned given."""
    return (
        not position.bag_size
        and not position.hands[position.to_move]
        and not field.givens & ~(position.owned[0] | position.owned[1])
        and position.winner is None
    )


def kinds(field: Field, position: Position) -> dict[str, bool]:
    """Which kinds of move the mover has: `exchange`, `claim`, `place`, `pie`; all False once the goal is reached."""
    playing = position.winner is None
    tiles = len(position.hands[position.to_move])
    unowned = field.givens & ~(position.owned[0] | position.owned[1])
    return {
        "exchange": playing and position.bag_size > 0,
        "claim": playing and unowned != 0 and (tiles == 0 or tiles >= field.claim_price),
        "place": playing and tiles > 0,
        "pie": playing and position.pie is not None,
    }


def moves(field: Field, position: Position) -> Iterator[tuple[str, int | None, int | None]]:
    """Every different move the mover has: (kind, cell, tile), by kind, cell, tile ascending."""
    allowed = kinds(field, position)
    tiles = sorted(set(position.hands[position.to_move]))
    owned = position.owned[0] | position.owned[1]
    if allowed["place"]:
        shown = field.givens | position.solved
        for cell in range(field.geometry.cells):
            if not shown >> cell & 1:
                yield from (("place", cell, tile) for tile in tiles)
    if allowed["claim"]:
        for cell in range(field.geometry.cells):
            if field.givens >> cell & 1 and not owned >> cell & 1:
                if tiles:
                    yield from (("claim", cell, tile) for tile in tiles)
                else:
                    yield "claim", cell, None
    if allowed["exchange"]:
        yield "exchange", None, None
    if allowed["pie"]:
        yield "pie", position.pie, None
