"""The generator's own health: a run in which it was the limit is invalid, and ends with exit code 3."""

import time
from typing import Any

import gevent
import psutil
from locust import events
from locust.runners import WorkerRunner

TICK_S = 0.05
LATE_P99_S = 0.05
CPU_SHARE = 0.8  # of one core: a gevent process has no more
INVALID = 3


class Health:
    """Watches one process from the start of a run to its end."""

    def __init__(self) -> None:
        self._late: list[float] = []
        self._own = psutil.Process()
        self._cpu_s = 0.0
        self._started = 0.0
        self._watcher: gevent.Greenlet | None = None

    def start(self) -> None:
        """The run begins."""
        times = self._own.cpu_times()
        self._cpu_s, self._started, self._late = times.user + times.system, time.monotonic(), []
        self._watcher = gevent.spawn(self._watch)

    def _watch(self) -> None:
        while True:
            before = time.monotonic()
            gevent.sleep(TICK_S)
            self._late.append(time.monotonic() - before - TICK_S)
            if len(self._late) > 100_000:
                del self._late[::2]

    def end(self) -> tuple[float, float]:
        """CPU in cores, and how late the latest hundredth of its ticks was, in seconds."""
        if self._watcher is not None:
            self._watcher.kill()
        times = self._own.cpu_times()
        cpu = (times.user + times.system - self._cpu_s) / max(1e-9, time.monotonic() - self._started)
        late = sorted(self._late)
        return cpu, late[len(late) * 99 // 100] if late else 0.0


_HEALTH = Health()


def _start(environment: Any, **_: Any) -> None:
    _HEALTH.start()


def _stop(environment: Any, **_: Any) -> None:
    cpu, late = _HEALTH.end()
    valid = cpu <= CPU_SHARE and late <= LATE_P99_S
    verdict = "valid" if valid else "INVALID: the generator was the limit; use more workers or machines"
    print(f"generator: {cpu:.2f} cores, ticks {1e3 * late:.1f} ms late (99 %): {verdict}", flush=True)
    if not valid and not isinstance(environment.runner, WorkerRunner):
        environment.process_exit_code = INVALID


events.test_start.add_listener(_start)
events.test_stop.add_listener(_stop)
