"""Under what a figure was measured: a line that every benchmark prints, for figures mean nothing without it."""

import os
import platform
import time
from pathlib import Path

import psutil

from numbridge import RELEASE


def _model() -> str:
    """The processor's name, where the kernel tells."""
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


class Conditions:
    """From its making to `line()`: what else the machine did meanwhile."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._before = psutil.cpu_times()

    def line(self) -> str:
        """One line of text; `busy` is of all cores together, what was measured included."""
        now, before = psutil.cpu_times(), self._before
        spent = sum(now) - sum(before)
        idle = now.idle + getattr(now, "iowait", 0.0) - before.idle - getattr(before, "iowait", 0.0)
        busy = 100 * (1 - idle / spent) if spent > 0 else 0.0
        return (
            f"Numbridge {RELEASE}, Python {platform.python_version()}, {os.cpu_count()} cores ({_model()}), "
            f"{psutil.virtual_memory().total / 2**30:.0f} GiB, {platform.system()} {platform.release()}; "
            f"{time.monotonic() - self._started:.0f} s, cores {busy:.0f} % busy"
        )
