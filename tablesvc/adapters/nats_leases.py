"""Leases in NATS KV: reads come from mirrors that watch, changes go by compare-and-set."""

from collections.abc import Callable, Mapping

from nats.aio.client import Client
from nats.js.errors import APIError, KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from numbridge.clock import monotonic
from numbridge.kv_mirror import AWAY, Mirror
from numbridge.routing import ShardEntry, WorkerEntry, decode_shard, decode_worker, encode_entry
from tablesvc.ports import Lease, LeaseAway, LeaseTaken, Sign

_WRONG_LAST = (10071, 10164)


class NatsLeases:
    """See ports.Leases."""

    def __init__(self, client: Client, workers: KeyValue, shards: KeyValue) -> None:
        self._client = client
        self._worker_bucket = workers
        self._shard_bucket = shards
        self._workers = Mirror(workers, "workers")
        self._shards = Mirror(shards, "shards")
        self._signs: dict[str, Sign] = {}
        self._leases: dict[int, Lease] = {}
        self._callbacks: list[Callable[[], None]] = []
        self._workers.on_change(self._worker_changed)
        self._shards.on_change(self._shard_changed)

    async def start(self) -> None:
        """Reads both buckets whole. Raises TimeoutError."""
        await self._workers.start()
        await self._shards.start()

    async def stop(self) -> None:
        """Stops watching."""
        await self._shards.stop()
        await self._workers.stop()

    def refresh(self) -> None:
        """See ports.Leases; also when the connection came back."""
        self._workers.refresh()
        self._shards.refresh()

    def _worker_changed(self, key: str) -> None:
        held = self._workers.get(key)
        entry = decode_worker(held.value) if held is not None else None
        if held is None or entry is None:
            self._signs.pop(key, None)
        else:
            self._signs[key] = Sign(entry, held.revision, held.changed_at)
        self._tell()

    def _shard_changed(self, key: str) -> None:
        if not key.isdigit():
            return
        held = self._shards.get(key)
        entry = decode_shard(held.value) if held is not None else None
        if held is None or entry is None:
            self._leases.pop(int(key), None)
        else:
            self._leases[int(key)] = Lease(entry, held.revision)
        self._tell()

    def _tell(self) -> None:
        for callback in self._callbacks:
            callback()

    def shards(self) -> Mapping[int, Lease]:
        """See ports.Leases."""
        return self._leases

    def workers(self) -> Mapping[str, Sign]:
        """See ports.Leases."""
        return self._signs

    async def put_worker(self, entry: WorkerEntry, revision: int) -> int:
        """See ports.Leases."""
        return await self._put(self._worker_bucket, self._workers, entry.name, encode_entry(entry), revision)

    async def put_shard(self, shard: int, entry: ShardEntry, revision: int) -> int:
        """See ports.Leases."""
        return await self._put(self._shard_bucket, self._shards, str(shard), encode_entry(entry), revision)

    async def _put(self, bucket: KeyValue, mirror: Mirror, key: str, value: bytes, revision: int) -> int:
        self._check()
        try:
            # create() knows how to write over what a removed key leaves behind
            new = await (bucket.update(key, value, last=revision) if revision else bucket.create(key, value))
        except KeyWrongLastSequenceError as error:
            raise LeaseTaken(f"{key} has changed") from error
        except AWAY as error:
            raise LeaseAway(f"{type(error).__name__}: {error}") from error
        mirror.note(key, value, new)
        return new

    async def remove_worker(self, name: str, revision: int) -> None:
        """See ports.Leases."""
        self._check()
        try:
            await self._worker_bucket.delete(name, last=revision)
        except AWAY as error:
            if isinstance(error, APIError) and error.err_code in _WRONG_LAST:
                raise LeaseTaken(f"{name} has changed") from error
            raise LeaseAway(f"{type(error).__name__}: {error}") from error

    async def reread_worker(self, name: str) -> Sign | None:
        """See ports.Leases."""
        self._check()
        try:
            found = await self._worker_bucket.get(name)
        except KeyNotFoundError:
            return None
        except AWAY as error:
            raise LeaseAway(f"{type(error).__name__}: {error}") from error
        entry = decode_worker(found.value or b"")
        return None if entry is None else Sign(entry, found.revision or 0, monotonic())

    def _check(self) -> None:
        if not self._client.is_connected:  # what is buffered now would be sent when it is out of date
            raise LeaseAway("not connected")

    def watched(self) -> int:
        """See ports.Leases."""
        return self._workers.watched

    def on_change(self, callback: Callable[[], None]) -> None:
        """See ports.Leases."""
        self._callbacks.append(callback)
