"""The same public history with another secret.

`other_tiles`   one or more tiles that a player drew and never placed had another digit: in his hand, paid for a claim,
                or exchanged. The bag held the other digit all the while.
`other_field`   two cells that nobody has solved have each other's digits.

Both are as legal as the history they come from; nobody but the tiles' owner can tell them from it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random

from tablesvc.engine.events import Event, Moved, Opened
from tablesvc.engine.evolve import evolve
from tablesvc.engine.position import given_back
from tablesvc.engine.seats import BLUE
from tablesvc.engine.seats import Seat as Side
from tablesvc.engine.settings import Deal
from tablesvc.engine.state import State


@dataclass(slots=True)
class Tile:
    """A tile's stay in a hand: drawn as the `place`-th of event `since`, given back in event `until`."""

    digit: int
    since: int
    place: int
    until: int | None = None
    paid: int | None = None
    """Its place among the tiles paid in event `until`."""
    shown: bool = False
    """It was placed: everybody has seen its digit."""


def states(events: list[Event]) -> list[State]:
    """The state after each event."""
    found: list[State] = []
    for event in events:
        found.append(evolve(found[-1] if found else None, event))
    return found


def stays(events: list[Event], owner: Side) -> list[Tile]:
    """All stays of tiles in the owner's hand."""
    opened = events[0]
    assert isinstance(opened, Opened)
    first = opened.blue_hand if owner == BLUE else opened.red_hand
    hand = [Tile(digit, 0, place) for place, digit in enumerate(first)]
    found = list(hand)
    for at, event in enumerate(events):
        if not isinstance(event, Moved) or event.by != owner:
            continue
        if event.kind == "place":
            assert event.tile is not None
            _take(hand, event.tile, at).shown = True
        for place, digit in enumerate(event.paid):
            _take(hand, digit, at).paid = place
        if event.kind == "exchange":
            for tile in hand:
                tile.until = at
            hand = []
        drawn = [Tile(digit, at, place) for place, digit in enumerate(event.drew)]
        hand += drawn
        found += drawn
    return found


def _take(hand: list[Tile], digit: int, at: int) -> Tile:
    tile = next(tile for tile in hand if tile.digit == digit)
    hand.remove(tile)
    tile.until = at
    return tile


def other_tiles(events: list[Event], owner: Side, random: Random) -> list[Event] | None:
    """Another history that only the owner can tell from this one; None where there is none."""
    changed = events
    for _ in range(random.choice((1, 1, 2, 4))):
        changed = _one_other_tile(changed, owner, random) or changed
    return None if changed is events else changed


def _one_other_tile(events: list[Event], owner: Side, random: Random) -> list[Event] | None:
    bags = [state.position.bag for state in states(events)]
    hidden = [tile for tile in stays(events, owner) if not tile.shown]
    random.shuffle(hidden)
    for tile in hidden:
        during = bags[tile.since : len(bags) if tile.until is None else tile.until]
        digits = [
            digit for digit in range(1, len(bags[0])) if digit != tile.digit and all(bag[digit] > 0 for bag in during)
        ]
        if digits:
            return _with(events, owner, tile, random.choice(digits))
    return None


def _with(events: list[Event], owner: Side, tile: Tile, digit: int) -> list[Event]:
    changed = list(events)
    drawn = changed[tile.since]
    if isinstance(drawn, Opened):
        blue, red = drawn.blue_hand, drawn.red_hand
        changed[tile.since] = (
            replace(drawn, blue_hand=_put(blue, tile.place, digit))
            if owner == BLUE
            else replace(drawn, red_hand=_put(red, tile.place, digit))
        )
    else:
        assert isinstance(drawn, Moved)
        changed[tile.since] = replace(drawn, drew=_put(drawn.drew, tile.place, digit))
    if tile.until is not None and tile.paid is not None:
        paid = changed[tile.until]
        assert isinstance(paid, Moved)
        changed[tile.until] = replace(paid, paid=_put(paid.paid, tile.paid, digit))
    return changed


def _put(digits: tuple[int, ...], place: int, digit: int) -> tuple[int, ...]:
    return (*digits[:place], digit, *digits[place + 1 :])


def other_field(events: list[Event], random: Random) -> list[Event] | None:
    """The same history over another solution; None where no two cells can change places."""
    opened = events[0]
    assert isinstance(opened, Opened)
    solution, last = opened.deal.solution, states(events)[-1]
    open_cells = [
        cell for cell, given in enumerate(opened.deal.givens) if given == "." and not last.position.solved >> cell & 1
    ]
    tried = {(e.cell, str(e.tile)) for e in events if isinstance(e, Moved) and e.kind == "place"}
    pairs = [
        (here, there)
        for here in open_cells
        for there in open_cells
        if solution[here] != solution[there]
        and (here, solution[there]) not in tried
        and (there, solution[here]) not in tried
    ]
    if not pairs:
        return None
    here, there = random.choice(pairs)
    digits = list(solution)
    digits[here], digits[there] = digits[there], digits[here]
    deal = Deal(opened.deal.blocks, "".join(digits), opened.deal.givens)
    return [replace(opened, deal=deal), *events[1:]]


class Loaded:
    """Dice that fall so that a history comes out as it is written."""

    def __init__(self, events: list[Event]) -> None:
        self._falls = iter(list(_falls(events)))

    def below(self, n: int, /) -> int:
        fall = next(self._falls)
        assert 0 <= fall < n
        return fall


def _falls(events: list[Event]) -> Iterable[int]:
    after = states(events)
    for before, event in zip(after, events[1:], strict=False):
        if not isinstance(event, Moved):
            continue
        position = before.position
        if len(event.paid) == 2:
            rest = list(position.hands[event.by])
            rest.remove(event.paid[0])
            yield rest.index(event.paid[1])
        _, bag = given_back(position, event.kind, event.by, event.tile, event.hit, event.paid)
        for digit in event.drew:
            yield sum(bag[:digit])
            bag[digit] -= 1
