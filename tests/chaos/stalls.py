"""How long players waited for an answer, and which fault it was for."""

from collections import defaultdict
from dataclasses import dataclass
from statistics import median

from tests.chaos.faults import Fault
from tests.chaos.ledger import Attempt

AFTER_S = 2.0  # what happens so soon after a fault may still be its doing


@dataclass(frozen=True, slots=True)
class Stalls:
    """Seconds; of each touched game, the longest wait during the fault."""

    games: int
    median_s: float
    worst_s: float


def by_game(fault: Fault, attempts: list[Attempt]) -> dict[str, float]:
    """Game -> the longest wait during a fault, of the games it touched."""
    longest: dict[str, float] = defaultdict(float)
    for attempt in attempts:
        if attempt.game in fault.touched and attempt.began < fault.ended and attempt.ended > fault.began:
            # What was waited before the fault is another's.
            longest[attempt.game] = max(longest[attempt.game], attempt.ended - max(attempt.began, fault.began))
    return longest


def of(faults: list[Fault], attempts: list[Attempt]) -> Stalls:
    """Over all these faults."""
    waits = [wait for fault in faults for wait in by_game(fault, attempts).values()]
    return Stalls(len(waits), median(waits) if waits else 0.0, max(waits, default=0.0))


def quiet(faults: list[Fault], attempts: list[Attempt]) -> Stalls:
    """Waits during none of the faults: what this machine does by itself."""
    waits = [
        attempt.ended - attempt.began
        for attempt in attempts
        if attempt.ended
        and not any(fault.began < attempt.ended and attempt.began < fault.ended + AFTER_S for fault in faults)
    ]
    return Stalls(len(waits), median(waits) if waits else 0.0, max(waits, default=0.0))
