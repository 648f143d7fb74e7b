"""Block layouts: n connected shapes of n cells each, by random spanning trees.

Draw a uniform spanning tree of the cells that are left (Wilson's walks), cut an edge that leaves a multiple
of n cells on both sides, and do the same with both halves. Every layout is drawn afresh, independent of the
last.

Connected means by the six neighbours a hexagon has (decided); the relation is `neighbours`, and nothing else
here knows it.
"""

from functools import lru_cache
from random import Random

from tablesvc.dealing.dice import below

TREES_PER_CUT = 10  # some shapes have no equal cut at all: then the layout starts over
LETTERS = "abcdefghi"


@lru_cache(maxsize=4)
def neighbours(side: int) -> tuple[tuple[int, ...], ...]:
    """The cells that touch each cell: left and right, two above, two below."""
    steps = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0))
    return tuple(
        tuple(
            (row + down) * side + column + right
            for down, right in steps
            if 0 <= row + down < side and 0 <= column + right < side
        )
        for row in range(side)
        for column in range(side)
    )


def is_connected_layout(side: int, blocks: str) -> bool:
    """Whether the letters divide the field into n connected shapes of n cells."""
    if len(blocks) != side * side:
        return False
    near = neighbours(side)
    seen: set[str] = set()
    for first, letter in enumerate(blocks):
        if letter in seen:
            continue
        seen.add(letter)
        shape = {first}
        edge = [first]
        while edge:
            for cell in near[edge.pop()]:
                if blocks[cell] == letter and cell not in shape:
                    shape.add(cell)
                    edge.append(cell)
        if len(shape) != side or blocks.count(letter) != side:
            return False
    return len(seen) == side


def draw_layout(side: int, rng: Random) -> str:
    """A layout whose blocks are lettered from "a" in the order in which they are met, row by row.

    A block that is a whole row or a whole column would only say again what that line says, so such a layout
    is drawn again.
    """
    while True:
        shapes = _divide(side, rng)
        if shapes is not None and not any(_is_line(side, shape) for shape in shapes):
            break
    blocks = [""] * (side * side)
    for letter, shape in zip(LETTERS, sorted(map(sorted, shapes)), strict=False):
        for cell in shape:
            blocks[cell] = letter
    return "".join(blocks)


def _is_line(side: int, shape: list[int]) -> bool:
    return len({cell // side for cell in shape}) == 1 or len({cell % side for cell in shape}) == 1


def _divide(side: int, rng: Random) -> list[list[int]] | None:
    """Shapes of `side` cells, None when some shape on the way could not be cut."""
    near = neighbours(side)
    waiting, done = [list(range(side * side))], []
    while waiting:
        shape = waiting.pop()
        if len(shape) == side:
            done.append(shape)
            continue
        member = set(shape)
        inside = {cell: [other for other in near[cell] if other in member] for cell in shape}
        for _ in range(TREES_PER_CUT):
            under = _cut(side, shape, inside, rng)
            if under:
                waiting.append([cell for cell in shape if cell not in under])
                waiting.append([cell for cell in shape if cell in under])
                break
        else:
            return None
    return done


def _cut(side: int, shape: list[int], inside: dict[int, list[int]], rng: Random) -> set[int]:
    """One side of an edge of a fresh tree that leaves a multiple of n cells on either, nothing when the tree
    has no such edge."""
    parent, order = _spanning_tree(shape, inside, rng)
    weight = dict.fromkeys(shape, 1)
    cuts = []
    for cell in reversed(order):
        share = weight[cell]
        weight[parent[cell]] += share
        if not share % side:
            cuts.append(cell)
    if not cuts:
        return set()
    under = {cuts[below(rng, len(cuts))]}
    for cell in order:
        if parent[cell] in under:
            under.add(cell)
    return under


def _spanning_tree(shape: list[int], inside: dict[int, list[int]], rng: Random) -> tuple[dict[int, int], list[int]]:
    """A uniform spanning tree: the parent of each cell but the root, and those cells, each after its parent.

    Wilson's way gives every tree the same chance whatever the root; one in the middle is met soonest.
    """
    random = rng.random
    root = shape[len(shape) // 2]
    parent: dict[int, int] = {}
    order: list[int] = []
    outside = set(shape)
    outside.discard(root)
    for first in shape:
        if first not in outside:
            continue
        cell = first
        while cell in outside:
            around = inside[cell]
            parent[cell] = cell = around[int(random() * len(around))]
        path = []
        cell = first
        while cell in outside:
            outside.discard(cell)
            path.append(cell)
            cell = parent[cell]
        path.reverse()
        order += path
    return parent, order
