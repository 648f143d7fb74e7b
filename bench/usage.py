"""CPU time of processes."""

from collections.abc import Mapping
from pathlib import Path

_CLOCK_TICKS = 100  # USER_HZ on Linux


def cpu_s(pids: Mapping[str, int]) -> dict[str, float]:
    """CPU seconds that each process has used so far, its threads included, its children not."""
    used = {}
    for name, pid in pids.items():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used[name] = (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS
    return used
