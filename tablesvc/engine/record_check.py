"""A record against the rules, move by move."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tablesvc.engine import blocks, legal
from tablesvc.engine.decided import FIRST_MOVER
from tablesvc.engine.errors import Illegal, IllegalRecord
from tablesvc.engine.events import Moved
from tablesvc.engine.field import Field, make_field
from tablesvc.engine.position import HAND_SIZE, Position, apply, full_bag, given_back, refill_size, starting
from tablesvc.engine.record import Record
from tablesvc.engine.seats import COLOR, other

Unique = Callable[[int, str, str, str], bool]
"""(side, blocks, givens, solution) -> whether the field has exactly one solution, and that is it. Asked only of
valid layouts and of solutions that agree with the givens."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a record shows. `fault` is the first rule it breaks, None when it breaks none."""

    field: Field
    positions: tuple[Position, ...]
    """`positions[ply]`, up to the fault; none when the deal or the opening hands are at fault."""
    fault: IllegalRecord | None
    result: str | None
    """Of the game, as the moves or else the record's end say; None while it is not over, or with a fault."""
    reason: str | None


def check(record: Record, unique: Unique) -> Checked:
    """Plays a record under the rules. Raises IllegalRecord with the ply and the first rule that it breaks."""
    checked = walk(record, unique)
    if checked.fault is not None:
        raise checked.fault
    return checked


def walk(record: Record, unique: Unique) -> Checked:
    """The same as `check`, but it returns what it has seen before a fault together with the fault."""
    field = make_field(record.settings, record.deal)
    positions: list[Position] = []
    result = reason = None
    try:
        for position in _positions(record, field, unique):
            positions.append(position)  # noqa: PERF402 - what was appended before a fault is wanted
        result, reason = _end(record, field, positions[-1])
    except IllegalRecord as fault:
        return Checked(field, tuple(positions), fault, None, None)
    return Checked(field, tuple(positions), None, result, reason)


def _positions(record: Record, field: Field, unique: Unique) -> Iterator[Position]:
    try:
        _check_deal(record, field, unique)
        _check_opening(record, field)
    except Illegal as broken:
        raise IllegalRecord(0, broken.rule) from None
    position = starting(field, record.blue_hand, record.red_hand)
    yield position
    for ply, move in enumerate(record.moves, 1):
        try:
            _check_turn(field, position, move)
            _check_move(field, position, move)
            _check_draw(position, move)
        except Illegal as broken:
            raise IllegalRecord(ply, broken.rule) from None
        position = apply(field, position, move)
        yield position


def _check_deal(record: Record, field: Field, unique: Unique) -> None:
    deal, settings = record.deal, record.settings
    side = settings.side
    if settings.blocks not in ("regular", "irregular"):
        raise Illegal("blocks are regular or irregular")
    fault = blocks.fault(side, deal.blocks)
    if fault is not None:
        raise Illegal(fault)
    if settings.blocks == "regular" and not blocks.is_regular(side, deal.blocks):
        raise Illegal("the settings say regular blocks, and the layout is another")
    cells_with = [0] * (side + 1)
    for cell, digit in enumerate(field.solution):
        cells_with[digit] |= 1 << cell
    for name, areas in (("row", field.geometry.rows), ("column", field.geometry.columns), ("block", field.blocks)):
        for area in areas:
            if not all(cells & area for cells in cells_with[1:]):
                raise Illegal(f"the solution is no valid sudoku: a {name} lacks a digit")
    for given, right in zip(deal.givens, deal.solution, strict=True):
        if given not in (".", right):
            raise Illegal("a given contradicts the solution")
    if field.givens.bit_count() != settings.givens:
        raise Illegal(f"there are {field.givens.bit_count()} givens, and the settings say {settings.givens}")
    if not unique(side, deal.blocks, deal.givens, deal.solution):
        raise Illegal("the deal has more than one solution")


def _check_opening(record: Record, field: Field) -> None:
    bag = full_bag(field)
    hands = (record.red_hand, record.blue_hand)
    for seat in (FIRST_MOVER, other(FIRST_MOVER)):
        name, hand = COLOR[seat], hands[seat]
        wanted = min(HAND_SIZE, sum(bag))
        if len(hand) != wanted:
            raise Illegal(f"{name}'s opening hand has {len(hand)} tiles, not {wanted}")
        _take(bag, hand, f"{name}'s opening hand")


def _check_turn(field: Field, position: Position, move: Moved) -> None:
    if position.winner is not None:
        raise Illegal("a move follows the end of the game")
    due = legal.pass_due(field, position)
    if due and move.kind != "pass":
        raise Illegal("a pass was due and is missing")
    if move.by != position.to_move:
        raise Illegal(f"{COLOR[position.to_move]} is to move, not {COLOR[move.by]}")
    if move.kind == "pass" and not due:
        raise Illegal("a pass was not due")


def _check_move(field: Field, position: Position, move: Moved) -> None:
    by, cell, tile = move.by, move.cell, move.tile
    if move.kind == "place" and cell is not None and tile is not None:
        legal.check_place(field, position, by, cell, tile)
        if move.hit != (field.solution[cell] == tile):
            raise Illegal("hit contradicts the solution")
    elif move.kind == "claim" and cell is not None:
        legal.check_claim(field, position, by, cell)
        hand = list(position.hands[by])
        price = field.claim_price if hand else 0
        if len(move.paid) != price:
            raise Illegal(f"the claim costs {price} tiles, and {len(move.paid)} were paid")
        for coin in move.paid:
            if coin not in hand:
                raise Illegal(f"there is no {coin} in the mover's hand to pay with")
            hand.remove(coin)
    elif move.kind == "exchange":
        legal.check_exchange(position)
    elif move.kind == "pie":
        legal.check_pie(position)
        if cell != position.pie:
            raise Illegal("the pie takes the first cell that got an owner, no other")


def _check_draw(position: Position, move: Moved) -> None:
    hand, bag = given_back(position, move.kind, move.by, move.tile, move.hit, move.paid)
    wanted = refill_size(hand, bag, move.paid)
    if len(move.drew) != wanted:
        raise Illegal(f"{len(move.drew)} tiles were drawn, and the refill rule says {wanted}")
    _take(bag, move.drew, "the draw")


def _take(bag: list[int], tiles: tuple[int, ...], what: str) -> None:
    for tile in tiles:
        if not bag[tile]:
            raise Illegal(f"{what} holds a {tile} that the bag does not")
        bag[tile] -= 1


def _end(record: Record, field: Field, position: Position) -> tuple[str | None, str | None]:
    """Result and reason of the game. Raises IllegalRecord when the record's end is not what the moves lead to."""
    end = (record.result, record.reason)
    if position.winner is not None:
        reached = (COLOR[position.winner], "blocks" if field.domains else "connection")
        if record.result is not None and end != reached:
            raise IllegalRecord(position.ply, f"the moves lead to {reached[0]} winning by {reached[1]}")
        return reached
    if record.result is None:
        return None, None
    if legal.pass_due(field, position):
        raise IllegalRecord(position.ply, "a pass was due before the end and is missing")
    allowed = {
        "resign": ("blue", "red"),
        "time": (COLOR[other(position.to_move)],),
        "agreement": ("draw",),
        "no_show": ("none",),
        "operator": ("none",),
    }.get(record.reason or "", ())
    if not allowed:
        raise IllegalRecord(position.ply, f"the moves do not lead to an end by {record.reason}")
    if record.result not in allowed:
        raise IllegalRecord(position.ply, f"an end by {record.reason} here cannot have the result {record.result}")
    return end
