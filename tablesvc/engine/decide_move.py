"""Moves, burns and passes become events: what is drawn, what is due after them, whether they win."""

from tablesvc.engine import goals, legal
from tablesvc.engine.dice import Dice
from tablesvc.engine.draw import draw
from tablesvc.engine.ending import lapse
from tablesvc.engine.errors import Illegal
from tablesvc.engine.events import Ended, Event, Moved
from tablesvc.engine.position import apply, given_back, refill_size, with_tiles
from tablesvc.engine.seats import COLOR
from tablesvc.engine.state import State


def place(state: State, cell: int, tile: int, used_ms: int, at: int, dice: Dice) -> tuple[Event, ...]:
    """The mover places a tile. Raises Illegal."""
    field, by = state.table.field, state.position.to_move
    legal.check_place(field, state.position, by, cell, tile)
    hit = field.solution[cell] == tile
    return _moved(state, "place", cell, tile, hit, (), used_ms, at, dice)


def claim(state: State, cell: int, tile: int | None, used_ms: int, at: int, dice: Dice) -> tuple[Event, ...]:
    """The mover claims a given; a second tile to pay is drawn evenly from the rest of the hand. Raises Illegal."""
    position = state.position
    hand = position.hands[position.to_move]
    legal.check_claim(state.table.field, position, position.to_move, cell)
    if tile is None:
        if hand:
            raise Illegal("choose the tile that the claim costs")
        paid: tuple[int, ...] = ()
    elif tile not in hand:
        raise Illegal(f"there is no {tile} in the mover's hand")
    elif state.table.field.claim_price == 1:
        paid = (tile,)
    else:
        rest = list(hand)
        rest.remove(tile)
        paid = (tile, rest[dice.below(len(rest))])
    return _moved(state, "claim", cell, None, None, paid, used_ms, at, dice)


def exchange(state: State, used_ms: int, at: int, dice: Dice) -> tuple[Event, ...]:
    """The mover's hand goes into the bag, and as many as may be are drawn. Raises Illegal."""
    legal.check_exchange(state.position)
    return _moved(state, "exchange", None, None, None, (), used_ms, at, dice)


def pie(state: State, used_ms: int, at: int, dice: Dice) -> tuple[Event, ...]:
    """The mover takes the first cell of the game. Raises Illegal."""
    legal.check_pie(state.position)
    return _moved(state, "pie", state.position.pie, None, None, (), used_ms, at, dice)


def burn(state: State, used_ms: int, at: int, dice: Dice) -> tuple[Event, ...]:
    """The mover's time for the turn is up."""
    return _moved(state, "burn", None, None, None, (), used_ms, at, dice)


def _moved(
    state: State,
    kind: str,
    cell: int | None,
    tile: int | None,
    hit: bool | None,
    paid: tuple[int, ...],
    used_ms: int,
    at: int,
    dice: Dice,
) -> tuple[Event, ...]:
    """The move with its draws; before it an offer that falls, after it the passes that are due, or the end."""
    field, position = state.table.field, state.position
    by = position.to_move
    hand, bag = given_back(position, kind, by, tile, hit, paid)
    drew = draw(bag, refill_size(hand, bag, paid), dice)
    move = Moved(kind, by, cell, tile, hit, paid, drew, used_ms, at)
    events: list[Event] = [*lapse(state, at), move]
    after = with_tiles(field, position, move, (*hand, *drew), tuple(bag))
    if after.winner is not None:
        chain = () if field.domains else goals.chain(field.geometry, after.owned[by], by)
        events.append(Ended(COLOR[by], "blocks" if field.domains else "connection", chain, at))
        return tuple(events)
    # Both players out of tiles, bag and givens at once would mean a full board, and a full board has a winner.
    while legal.pass_due(field, after):
        skipped = Moved("pass", after.to_move, None, None, None, (), (), 0, at)
        events.append(skipped)
        after = apply(field, after, skipped)
    return tuple(events)
