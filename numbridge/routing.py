"""Which table worker owns which shard, as everyone in the cluster may know it.

    workers   <name>  -> WorkerEntry   a worker's own lease: renewed by compare-and-set as long as it lives
    shards    <shard> -> ShardEntry    who owns the shard, since which epoch; changed by compare-and-set when it moves

A shard is owned by the worker *run* (one life of one process) that its entry names, as long as that run's own
lease is renewed. Gateways and lobbies read this through `Routes`; workers write it.
"""

import asyncio
from collections.abc import Callable

import msgspec
from nats.js import JetStreamContext

from numbridge import names
from numbridge.clock import monotonic
from numbridge.ids import shard_of
from numbridge.kv_mirror import Held, Mirror
from numbridge.nats_io import bucket


class WorkerEntry(msgspec.Struct, frozen=True):
    """A live table worker."""

    name: str
    run: str
    """One life of the process; a restarted worker of the same name is another run."""
    addr: str
    """host:port of its gRPC server."""
    draining: bool
    tables: int
    """Unfinished games: what the lobby balances by."""
    ttl_ms: int
    """The lease is over when the entry has not changed for this long by the observer's clock."""
    beat: int
    """Counts up, so that each renewal is a change."""


class ShardEntry(msgspec.Struct, frozen=True):
    """Who owns a shard. `owner` empty: nobody, the last one has given it up."""

    owner: str
    run: str
    epoch: int
    """One more with each new owner; every log record carries it."""
    addr: str


class Owner(msgspec.Struct, frozen=True):
    """Where a shard's games are served."""

    worker: str
    addr: str
    epoch: int


_workers = msgspec.json.Decoder(WorkerEntry)
_shards = msgspec.json.Decoder(ShardEntry)
encode_entry = msgspec.json.Encoder().encode


def decode_worker(value: bytes) -> WorkerEntry | None:
    """An entry of the `workers` bucket; None if it is none (another release's)."""
    try:
        return _workers.decode(value)
    except msgspec.MsgspecError:
        return None


def decode_shard(value: bytes) -> ShardEntry | None:
    """An entry of the `shards` bucket; None if it is none."""
    try:
        return _shards.decode(value)
    except msgspec.MsgspecError:
        return None


def fresh(held: Held, entry: WorkerEntry, now: float) -> bool:
    """Whether a worker's lease still runs, by the observer's own clock."""
    return now - held.changed_at <= entry.ttl_ms / 1000


class Routes:
    """The shard map, watched. One per process; start it after the NATS connection."""

    def __init__(self, shards: int, mirror_shards: Mirror, mirror_workers: Mirror) -> None:
        self.count = shards
        self._shards = mirror_shards
        self._workers = mirror_workers
        self._callbacks: list[Callable[[int], None]] = []
        self._changed = asyncio.Event()
        mirror_shards.on_change(self._shard_changed)
        mirror_workers.on_change(self._worker_changed)
        self._runs: dict[str, str] = {}

    @classmethod
    async def open(cls, js: JetStreamContext, shards: int, replicas: int) -> "Routes":
        """Makes the buckets if they are not there. Raises nats errors while JetStream is away."""
        return cls(
            shards,
            Mirror(await bucket(js, names.KV_SHARDS, replicas), names.KV_SHARDS),
            Mirror(await bucket(js, names.KV_WORKERS, replicas), names.KV_WORKERS),
        )

    async def start(self) -> None:
        """Reads both buckets whole. Raises TimeoutError if they can't be read."""
        await self._workers.start()
        await self._shards.start()

    async def stop(self) -> None:
        """Stops watching."""
        await self._shards.stop()
        await self._workers.stop()

    def refresh(self) -> None:
        """Call it when the NATS connection came back."""
        self._workers.refresh()
        self._shards.refresh()

    def on_change(self, callback: Callable[[int], None]) -> None:
        """`callback(shard)` runs in the loop whenever a shard's owner changed; it must not block."""
        self._callbacks.append(callback)

    def workers(self) -> list[WorkerEntry]:
        """Workers whose lease runs, draining ones included."""
        now = monotonic()
        found = []
        for _, held in self._workers.entries():
            entry = decode_worker(held.value)
            if entry is not None and fresh(held, entry, now):
                found.append(entry)
        return found

    def owner(self, shard: int) -> Owner | None:
        """Who serves the shard, as far as this process knows. None: nobody, or a run that is over.

        A wrong answer is no harm: that worker says `moved`. Ask `wait_owner` then.
        """
        held = self._shards.get(str(shard))
        entry = decode_shard(held.value) if held is not None else None
        if entry is None or not entry.owner:
            return None
        seen = self._workers.get(entry.owner)
        worker = decode_worker(seen.value) if seen is not None else None
        if worker is None or worker.run != entry.run:
            return None
        return Owner(entry.owner, entry.addr, entry.epoch)

    def owner_of(self, game: str) -> Owner | None:
        """Who serves the game. Raises ValueError if it is no game id of this cluster."""
        return self.owner(shard_of(game, self.count))

    async def wait_owner(self, shard: int, timeout_s: float, unlike: Owner | None = None) -> Owner | None:
        """Waits until the shard has an owner other than `unlike` (the one that said `moved` or did not answer).

        None after `timeout_s`. A worker that takes its own shard back counts as another owner: the epoch differs.
        """
        end = monotonic() + timeout_s
        while True:
            changed = self._changed
            owner = self.owner(shard)
            if owner is not None and owner != unlike:
                return owner
            left = end - monotonic()
            if left <= 0:
                return None
            try:
                async with asyncio.timeout(left):
                    await changed.wait()
            except TimeoutError:
                return None

    def shards_by_worker(self) -> dict[str, list[int]]:
        """Shards each worker serves."""
        found: dict[str, list[int]] = {}
        for shard in range(self.count):
            owner = self.owner(shard)
            if owner is not None:
                found.setdefault(owner.worker, []).append(shard)
        return found

    def _shard_changed(self, key: str) -> None:
        if key.isdigit():
            self._tell([int(key)])

    def _worker_changed(self, key: str) -> None:
        held = self._workers.get(key)
        entry = decode_worker(held.value) if held is not None else None
        run = entry.run if entry is not None else ""
        if self._runs.get(key, "") == run:  # a renewal
            return
        if run:
            self._runs[key] = run
        else:
            self._runs.pop(key, None)
        touched = []
        for shard, value in self._shards.entries():
            entry_of = decode_shard(value.value)
            if shard.isdigit() and entry_of is not None and entry_of.owner == key:
                touched.append(int(shard))
        self._tell(touched)

    def _tell(self, shards: list[int]) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
        for shard in shards:
            for callback in self._callbacks:
                callback(shard)
