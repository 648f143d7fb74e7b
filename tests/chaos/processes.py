"""The cluster's processes from outside: ids, signals, readiness. `numbridge up` starts again whatever has ended."""

import asyncio
import os
import signal
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path

from numbridge.cli.child import Child
from numbridge.cli.plan import Spec
from tests.helpers.cluster import Cluster

_LOOK_S = 0.05
_SAID = 100  # pieces of what `numbridge up` says that are kept


class Processes:
    """Those of one running cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._said: deque[bytes] = deque(maxlen=_SAID)
        entries = cluster.facts()["processes"]
        self.names: dict[str, list[str]] = {}
        """Kind -> names."""
        self._specs: dict[str, Spec] = {}
        self.urls: dict[str, str] = {}
        """A gateway's address -> its name."""
        for entry in entries:
            self.names.setdefault(entry["kind"], []).append(entry["name"])
            self._specs[entry["name"]] = Spec(
                name=entry["name"], kind=entry["kind"], argv=[], env={}, port=entry["port"],
                metrics_port=entry["metrics_port"],
            )  # fmt: skip
            if entry["url"]:
                self.urls[entry["url"]] = entry["name"]

    def pid(self, name: str) -> int | None:
        """Its id now; None while it does not run."""
        try:
            entries = self._cluster.facts()["processes"]
        except FileNotFoundError:
            said = b"".join(self._said).decode(errors="replace")
            raise AssertionError(f"`numbridge up` has given up:\n{said[-4000:]}") from None
        pid: int | None = next(entry["pid"] for entry in entries if entry["name"] == name)
        return pid

    def listen(self) -> None:
        """From now on reads what `numbridge up` says, lest it waits for a reader some day."""
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._cluster.process.stdout is not None
        try:
            while text := os.read(self._cluster.process.stdout.fileno(), 4096):
                self._said.append(text)
        except (OSError, ValueError):  # closed, for the cluster is being stopped
            pass

    def signal(self, name: str, number: signal.Signals) -> int:
        """Sends a signal; the id of the process that got it."""
        pid = self.pid(name)
        if pid is None:
            raise ProcessLookupError(f"{name} does not run")
        os.kill(pid, number)
        return pid

    async def ready(self, name: str) -> bool:
        """Whether it says that it is."""
        return await Child(self._specs[name], Path(os.devnull)).ready()

    async def until_ready(self, name: str, after: int | None, within_s: float) -> bool:
        """Waits until it is ready, as another process than `after`. False if it takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while self.pid(name) in (None, after) or not await self.ready(name):  # noqa: ASYNC110 - others' state
                    await asyncio.sleep(_LOOK_S)
                return True
        return False

    async def until_all_ready(self, within_s: float) -> list[str]:
        """Waits for every process; those that are not ready in time."""
        names = [name for of_kind in self.names.values() for name in of_kind]
        ready = await asyncio.gather(*(self.until_ready(name, None, within_s) for name in names))
        return [name for name, is_ready in zip(names, ready, strict=True) if not is_ready]
