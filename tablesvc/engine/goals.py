"""The goals: a chain from side to side, or a majority of blocks."""

from tablesvc.engine.field import Field
from tablesvc.engine.geometry import Geometry
from tablesvc.engine.seats import BLUE, Seat


def reached(field: Field, owned: int, cell: int, seat: Seat) -> bool:
    """Whether `seat`, owning `owned` and having just gained `cell` of it, has reached the goal."""
    if field.domains:
        return has_majority(field.blocks, owned)
    start, finish = sides(field.geometry, seat)
    if not (owned & start and owned & finish):
        return False
    group = field.geometry.spread(1 << cell, owned)
    return bool(group & start and group & finish)


def sides(geometry: Geometry, seat: Seat) -> tuple[int, int]:
    """The two sides a seat connects: top and bottom for blue, left and right for red."""
    return (geometry.top, geometry.bottom) if seat == BLUE else (geometry.left, geometry.right)


def has_majority(blocks: tuple[int, ...], owned: int) -> bool:
    """Whether `owned` holds more than half of the blocks, a block being held by more than half of its cells."""
    held = 0
    for block in blocks:
        held += 2 * (owned & block).bit_count() > block.bit_count()
    return 2 * held > len(blocks)


def chain(geometry: Geometry, owned: int, seat: Seat) -> tuple[int, ...]:
    """A shortest chain of own cells from the seat's first side to its second, in order; empty when there is none."""
    start, finish = sides(geometry, seat)
    layers: list[int] = []
    seen = front = owned & start
    while front and not front & finish:
        layers.append(front)
        near = 0
        for cell in range(geometry.cells):
            if front >> cell & 1:
                near |= geometry.neighbour_mask[cell]
        front = near & owned & ~seen
        seen |= front
    if not front:
        return ()
    last = front & finish
    cell = (last & -last).bit_length() - 1
    path = [cell]
    for layer in reversed(layers):
        back = geometry.neighbour_mask[cell] & layer
        cell = (back & -back).bit_length() - 1
        path.append(cell)
    return tuple(reversed(path))
