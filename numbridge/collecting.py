"""The cyclic garbage collector, set for a service that keeps many small objects for long.

Python's own thresholds look through the youngest objects every 700 allocations, which is several times a move, and
nearly everything a move allocates is freed by its reference count. What a service has loaded by its start stays for
its life, so that is not looked at again.
"""

import gc

YOUNG = 20_000  # objects more than there were before the youngest are looked through; Python's own: 700
MIDDLE = 50  # such looks before the next older ones are
OLD = 50


def settle() -> None:
    """Call it once, when a process has started."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
