"""What a service sets of the garbage collector, in a process of its own."""

import json
import subprocess
import sys

PROGRAM = """
import gc, json
from numbridge import collecting

class Ring:
    pass

collecting.settle()
frozen = gc.get_freeze_count()
for _ in range(3 * collecting.YOUNG):
    ring = Ring()
    ring.self = ring
del ring
left = sum(isinstance(one, Ring) for one in gc.get_objects())
print(json.dumps([frozen, gc.get_threshold(), left]))
"""


def test_what_was_loaded_is_not_looked_at_again_and_cycles_are_still_collected() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    frozen, thresholds, left = json.loads(done.stdout)
    assert frozen > 1_000
    assert thresholds[0] > 700
    assert left <= thresholds[0] + 1
