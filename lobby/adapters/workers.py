"""Where the next table is made: a shard of the least loaded live worker."""

import random
from collections.abc import Callable

from numbridge.clock import monotonic
from numbridge.routing import Routes

_MAP_S = 0.25  # the map of shards is read so often; a stale one costs a "moved"


class RoutedWorkers:
    """Counts the tables it has sent since a worker's latest word, so that a burst is spread."""

    def __init__(self, routes: Routes, choose: Callable[[list[int]], int] = random.choice) -> None:
        self._routes = routes
        self._choose = choose
        self._map: dict[str, list[int]] = {}
        self._loads: dict[str, int] = {}
        self._sent: dict[str, tuple[int, int]] = {}
        self._read_at = float("-inf")

    def _read(self) -> None:
        if monotonic() - self._read_at < _MAP_S and self._loads:
            return
        self._read_at = monotonic()
        live = {worker.name: worker for worker in self._routes.workers() if not worker.draining}
        self._map = {name: shards for name, shards in self._routes.shards_by_worker().items() if name in live}
        self._loads = {}
        for name in self._map:
            worker = live[name]
            beat, sent = self._sent.get(name, (worker.beat, 0))
            self._sent[name] = (worker.beat, sent if beat == worker.beat else 0)
            self._loads[name] = worker.tables + self._sent[name][1]
        for name in self._sent.keys() - self._map.keys():
            del self._sent[name]

    def pick(self) -> int | None:
        """A shard of the least loaded live worker that owns any; None while there is none."""
        self._read()
        if not self._loads:
            return None
        least = min(self._loads, key=lambda name: (self._loads[name], name))
        self._loads[least] += 1
        beat, sent = self._sent[least]
        self._sent[least] = (beat, sent + 1)
        return self._choose(self._map[least])

    @property
    def any(self) -> bool:
        """Whether a live worker owns a shard."""
        self._read()
        return bool(self._loads)

    def idle(self) -> bool | None:
        """Whether no live worker has any table; None while no worker is known."""
        workers = self._routes.workers()
        return None if not workers else all(worker.tables == 0 for worker in workers)
