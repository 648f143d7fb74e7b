"""Full fields: a random completion of a layout.

Irregular layouts have a heavy tail: most orders of filling one finish at once or hardly ever, and a few
layouts cannot be completed at all. So a fill gives up early, is tried again a few times, and then the layout
goes.
"""

from random import Random

from tablesvc.dealing.cover import Cover
from tablesvc.dealing.dice import below
from tablesvc.dealing.search import choices, propagate

DEAD_ENDS = 10  # of one attempt
ATTEMPTS = 16  # at one layout


def draw_field(tables: Cover, rng: Random) -> list[int] | None:
    """A full field as the candidate of each cell, None when the layout seems hard or impossible to
    complete."""
    for _ in range(ATTEMPTS):
        chosen = _attempt(tables, rng)
        if chosen is not None:
            return sorted(chosen)
    return None


def _attempt(tables: Cover, rng: Random) -> list[int] | None:
    chosen: list[int] = []
    stack: list[tuple[int, int]] = []
    state, left = tables.start, DEAD_ENDS
    while state := propagate(tables, state, chosen):
        if state < 0:
            left -= 1
            if not stack or not left:
                return None
            state, length = stack.pop()
            state &= ~tables.bits(chosen[length])
            del chosen[length:]
            continue
        options = choices(tables, state)
        candidate = options[below(rng, len(options))]
        stack.append((state, len(chosen)))
        state &= tables.keep[candidate]
        chosen.append(candidate)
    return chosen
