"""A KV bucket held in memory, kept up to date by a watch that survives lost connections.

Whoever needs to know who owns what (table workers, gateways, lobbies) looks here
instead of asking the server for each command. A mirror may lag behind by a
round trip; what must be right is decided by compare-and-set, never by a mirror.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import nats.errors
import nats.js.errors
import structlog
from nats.js.kv import KV_DEL, KV_PURGE, KeyValue

from numbridge.clock import monotonic
from numbridge.tasks import Tasks, delays

log = structlog.get_logger("numbridge.kv")

AWAY = (nats.errors.Error, nats.js.errors.Error, TimeoutError, asyncio.TimeoutError, OSError)
"""What nats-py raises while the server or its JetStream can't be reached."""


@dataclass(frozen=True, slots=True)
class Held:
    """A key's latest value as this process has seen it."""

    value: bytes
    revision: int
    """For compare-and-set."""
    changed_at: float
    """When this process saw it change, its own monotonic seconds. A lease is judged by this and by no other clock."""


class Mirror:
    """One bucket in memory.

    `on_change(key)` callbacks run inside the loop for each key that changed or went; they must not block.
    """

    def __init__(self, bucket: KeyValue, name: str) -> None:
        self._bucket = bucket
        self._name = name
        self._held: dict[str, Held] = {}
        self._callbacks: list[Callable[[str], None]] = []
        self._again = asyncio.Event()
        self._tasks = Tasks()
        self.ready = asyncio.Event()
        """Set once the bucket has been read whole."""
        self.watched = 0
        """The latest revision that the watch itself has brought."""

    async def start(self, wait_s: float = 10.0) -> None:
        """Begins to watch and waits for the first whole read. Raises TimeoutError if it does not come."""
        self._tasks.spawn(self._run(), f"mirror_{self._name}")
        async with asyncio.timeout(wait_s):
            await self.ready.wait()

    async def stop(self) -> None:
        """Stops watching; what is held stays readable."""
        await self._tasks.close()

    def refresh(self) -> None:
        """Reads the bucket whole again and watches from there; call it when the connection came back."""
        self._again.set()

    def on_change(self, callback: Callable[[str], None]) -> None:
        """Adds a callback for changed keys."""
        self._callbacks.append(callback)

    def get(self, key: str) -> Held | None:
        """The key's latest value."""
        return self._held.get(key)

    def entries(self) -> list[tuple[str, Held]]:
        """All keys with their latest values."""
        return list(self._held.items())

    def note(self, key: str, value: bytes, revision: int) -> None:
        """Takes in what this process itself has just written, ahead of the watch."""
        self._take(key, value, revision)

    def _take(self, key: str, value: bytes | None, revision: int) -> None:
        before = self._held.get(key)
        if before is not None and revision <= before.revision:
            return
        if value is not None:
            self._held[key] = Held(value, revision, monotonic())
        elif before is None:
            return
        else:
            del self._held[key]
        for callback in self._callbacks:
            callback(key)

    async def _run(self) -> None:
        pauses = delays(0.05, 0.5)
        while True:
            self._again.clear()
            try:
                watcher = await self._bucket.watchall(inactive_threshold=30)
            except AWAY as error:
                log.warning("watch_failed", bucket=self._name, error=f"{type(error).__name__}: {error}")
                await asyncio.sleep(next(pauses))
                continue
            pauses = delays(0.05, 0.5)
            try:
                await self._follow(watcher)
            finally:
                try:
                    await watcher.stop()  # type: ignore[no-untyped-call]
                except AWAY:  # the server is away: it drops the consumer by itself
                    pass

    async def _follow(self, watcher: KeyValue.KeyWatcher) -> None:
        """Takes changes in until asked to begin again."""
        seen: set[str] | None = set()
        again = asyncio.create_task(self._again.wait())
        following: asyncio.Task[KeyValue.Entry | None] | None = None
        try:
            while True:
                following = asyncio.create_task(anext(watcher))
                await asyncio.wait({following, again}, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    return
                entry = following.result()
                if entry is None:  # the first whole read ends here
                    for key in self._held.keys() - (seen or set()):
                        self._take(key, None, 2**63)
                    seen = None
                    self.ready.set()
                    continue
                self.watched = max(self.watched, entry.revision or 0)
                gone = entry.operation in (KV_DEL, KV_PURGE)
                if seen is not None and not gone:
                    seen.add(entry.key)
                self._take(entry.key, None if gone else entry.value or b"", entry.revision or 0)
        finally:
            again.cancel()
            if following is not None:
                following.cancel()
