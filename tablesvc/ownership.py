"""Which shards this worker owns: its own lease, the shards' entries, and moving shards in and out.

    beat      renew the worker's lease; after a lapse affirm every shard's entry by compare-and-set before going on
    plan      what should be owned, by what is known of the others (placement.py)
    acquire   compare-and-set the entry, epoch up; then open the shard (opening.py), the most waited-for first
    release   finish what is under way, clear the entry, give the next owner time to take it, then the next shard

The lease says who should write; that nobody else can is the log's business. A lease is judged by the observer's
own clock, and only while the observer's own beats come through: when NATS was away for all, nobody is dead.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import structlog

from numbridge.clock import monotonic
from numbridge.routing import ShardEntry, WorkerEntry
from numbridge.tasks import Tasks, forever
from tablesvc.opening import open_shard
from tablesvc.orphans import Orphans
from tablesvc.placement import assignment, plan
from tablesvc.ports import Lease, LeaseAway, LeaseError, Leases, LeaseTaken, Sign
from tablesvc.registry import Registry
from tablesvc.shard import Phase, Shard
from tablesvc.world import World

log = structlog.get_logger("numbridge.tablesvc.ownership")

_LOOK_S = 0.1  # how often leases are judged when nothing else happens
_BURIED_S = 60.0  # entries of workers that have been dead for so long are removed
_AT_ONCE = 32  # changes of entries in flight
_FINISH_S = 2.0  # a released shard's commands under way may take so long
_TRIES = 5  # of a change that this process's own beats may cross
_MARGIN = 0.9  # of the lease: this worker stops before others may begin
_ORPHAN_TTLS = 4  # a shard without an owner for so many leases should not be


Told = Callable[[Shard], None]


class Ownership:
    """This worker's leases."""

    def __init__(self, world: World, leases: Leases, registry: Registry, on_served: Told, on_gone: Told) -> None:
        """`on_served(shard)`: all of its tables are served. `on_gone(shard)`: it was given up or lost."""
        self._world = world
        self._leases = leases
        self._registry = registry
        self._on_served = on_served
        self._on_gone = on_gone
        self._name = world.settings.name
        self._addr = ""
        self._revision = 0
        self._beats = 0
        self._valid_until = 0.0
        self._healthy_since = 0.0
        self._blind_since: float | None = None
        self._beat_at = 0.0
        self._held: dict[int, int] = {}
        """Shard -> revision of the entry by which it is owned."""
        self._outdone: dict[int, int] = {}
        """Shard -> a later epoch found in its log."""
        self._busy: set[int] = set()
        """Shards with a change under way."""
        self._wake = asyncio.Event()
        self._openings = asyncio.Semaphore(0)
        """A token for each shard that was won: whoever gets one opens the most waited-for."""
        self._tasks = Tasks()
        self._moving = asyncio.Semaphore(world.settings.handover_parallel)
        self._changing = asyncio.Semaphore(_AT_ONCE)
        self._orphans = Orphans(registry.count, world.settings.lease_ttl_ms / 1000 * _ORPHAN_TTLS)
        self.draining = False
        self.name_taken = asyncio.Event()

    # --- life

    def alive(self) -> bool:
        """Whether this worker's lease runs, by its own clock, counted from before the beat was sent."""
        return monotonic() < self._valid_until

    async def start(self, addr: str) -> None:
        """Registers under `addr` and begins to take shards. Raises LeaseAway."""
        self._addr = addr
        known = self._leases.workers().get(self._name)
        self._revision = known.revision if known is not None else 0
        for _ in range(_TRIES):  # a former life's entry may have to be read first
            await self._beat()
            if self.alive():
                break
        else:
            raise LeaseAway("the worker's own entry keeps changing")
        self._leases.on_change(self._wake.set)
        settings = self._world.settings
        self._tasks.spawn(forever(self._beat_on, settings.lease_beat_ms / 1000, "lease_beat"), "lease_beat")
        self._tasks.spawn(forever(self._look, 0, "lease_look"), "lease_look")
        for _ in range(settings.takeover_parallel):
            self._tasks.spawn(forever(self._open_next, 0, "shard_opener"), "shard_opener")

    async def stop(self) -> None:
        """Ends all moving. Shards still owned stay so until the lease is over: a forced end is like a crash."""
        await self._tasks.close()
        for shard in list(self._registry.shards.values()):
            shard.end()

    async def drain(self) -> None:
        """Gives every shard up, some at a time while the next owners take them, and the name at the end."""
        self.draining = True
        await self._beat_on()
        self._wake.set()
        while self._held or self._busy:
            await self._world.changed.wait(_LOOK_S)
            self._wake.set()
        await self._tasks.close()
        await self._leave()

    async def _leave(self) -> None:
        """Takes the name off the list; where that fails it ends with the lease."""
        for _ in range(_TRIES):
            try:
                await self._leases.remove_worker(self._name, self._revision)
            except LeaseTaken:  # a beat was under way
                sign = await self._leases.reread_worker(self._name)
                if sign is None or sign.entry.run != self._world.run:
                    return
                self._revision = sign.revision
            except LeaseAway as failure:
                log.info("name_stays", error=str(failure))
                return
            else:
                return

    # --- this worker's lease

    async def _beat_on(self) -> None:
        try:
            await self._beat()
        except LeaseAway as failure:
            log.info("beat_missed", error=str(failure))

    async def _beat(self) -> None:
        ttl_ms = self._world.settings.lease_ttl_ms
        sent_at = monotonic()
        self._beats += 1
        entry = WorkerEntry(
            self._name, self._world.run, self._addr, self.draining, self._registry.unfinished(), ttl_ms, self._beats
        )
        try:
            self._revision = await self._leases.put_worker(entry, self._revision)
        except LeaseTaken:
            await self._adopt()
            return
        now = monotonic()
        if now - self._beat_at > ttl_ms / 2000:  # others may have beaten unseen meanwhile
            self._healthy_since = now
        self._beat_at = now
        if self._held and sent_at >= self._valid_until:
            await self._affirm()
        self._valid_until = sent_at + ttl_ms / 1000 * _MARGIN
        self._world.changed.fire()

    async def _adopt(self) -> None:
        """The entry is at another revision: this process's own lost write, a former life's, or another's."""
        sign = await self._leases.reread_worker(self._name)
        if sign is None:
            self._revision = 0
            return
        if sign.entry.run != self._world.run and self._valid_until > 0:
            log.error("name_taken", name=self._name)
            self._valid_until = 0.0
            self.name_taken.set()
            raise LeaseAway("another process bears this worker's name")
        self._revision = sign.revision

    async def _affirm(self) -> None:
        """After a lapse: keeps what nobody has taken, drops the rest. Raises LeaseAway."""
        log.warning("lease_lapsed", shards=len(self._held))

        async def one(number: int, revision: int) -> None:
            shard = self._registry.shards.get(number)
            if shard is None:
                return
            async with self._changing:
                try:
                    self._held[number] = await self._leases.put_shard(number, self._entry(shard.epoch), revision)
                except LeaseTaken:
                    shard.lost()

        results = await asyncio.gather(*(one(*item) for item in list(self._held.items())), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    def _entry(self, epoch: int) -> ShardEntry:
        return ShardEntry(self._name, self._world.run, epoch, self._addr)

    # --- looking around

    def _sees(self) -> bool:
        """Whether the watch is alive: it must bring this worker's own beats. A blind worker judges nobody."""
        now = monotonic()
        if self._leases.watched() >= self._revision:
            self._blind_since = None
            return True
        if self._blind_since is None:
            self._blind_since = now
        if now - self._blind_since <= self._world.settings.lease_ttl_ms / 3000:
            return True
        self._healthy_since = now
        self._blind_since = now
        self._leases.refresh()
        return False

    def _living(self, sign: Sign, now: float) -> bool:
        return now - max(sign.changed_at, self._healthy_since) <= sign.entry.ttl_ms / 1000

    async def _look(self) -> None:
        try:
            async with asyncio.timeout(_LOOK_S):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()
        if not self.alive() or not self._sees():
            self._orphans.blind()
            return
        now = monotonic()
        signs = self._leases.workers()
        living = {name: sign.entry for name, sign in signs.items() if self._living(sign, now)}
        mine = WorkerEntry(self._name, self._world.run, self._addr, self.draining, 0, 0, 0)
        living[self._name] = mine
        alive = {name: entry.run for name, entry in living.items()}
        willing = tuple(sorted(name for name, entry in living.items() if not entry.draining))
        leases = self._leases.shards()
        todo = plan(self._name, self._world.run, self._registry.count, leases, alive, willing, self._held)
        self._count_orphans(leases, alive, now)
        for number in todo.lost:
            if (shard := self._registry.shards.get(number)) is not None:
                shard.lost()
        for number in todo.acquire:
            self._change(number, self._acquire(number))
        for number in todo.release:
            shard = self._registry.shards.get(number)
            if shard is not None and shard.phase is Phase.SERVING:
                self._change(number, self._release(shard, assignment(willing, self._registry.count)[number]))
        for number in todo.disown:
            self._change(number, self._disown(number))
        await self._bury(signs, now)

    def _count_orphans(self, leases: Mapping[int, Lease], alive: Mapping[str, str], now: float) -> None:
        owned = [
            n for n, lease in leases.items() if lease.entry.owner and alive.get(lease.entry.owner) == lease.entry.run
        ]
        for number in self._orphans.look(owned, now):
            log.error("shard_without_owner", shard=number)
            self._world.metrics.ownerless.inc()

    def _change(self, number: int, change: Coroutine[Any, Any, None]) -> None:
        if number in self._busy:
            change.close()
            return
        self._busy.add(number)

        async def run() -> None:
            try:
                await change
            finally:
                self._busy.discard(number)

        self._tasks.spawn(run(), "shard_change")

    async def _bury(self, signs: Mapping[str, Sign], now: float) -> None:
        for name, sign in list(signs.items()):
            if name != self._name and now - max(sign.changed_at, self._healthy_since) > _BURIED_S:
                try:
                    await self._leases.remove_worker(name, sign.revision)
                except LeaseError:
                    pass  # somebody else has, or will

    # --- moving shards

    async def _acquire(self, number: int) -> None:
        known = self._leases.shards().get(number)
        # The log may know of later epochs than the entry, if the bucket was ever lost.
        epoch = max(known.entry.epoch if known is not None else 0, self._outdone.get(number, 0)) + 1
        async with self._changing:
            try:
                revision = await self._leases.put_shard(
                    number, self._entry(epoch), known.revision if known is not None else 0
                )
            except LeaseError as failure:
                log.info("shard_not_won", shard=number, error=f"{type(failure).__name__}: {failure}")
                return
        self._held[number] = revision
        shard = Shard(number, epoch, self._world, self.alive, self._gone)
        self._registry.shards[number] = shard
        self._world.metrics.shard("won")
        self._openings.release()

    async def _open_next(self) -> None:
        await self._openings.acquire()
        waiting = [s for s in self._registry.shards.values() if s.phase is Phase.OPENING and not s.under_way]
        if not waiting:
            return
        shard = max(waiting, key=lambda shard: shard.waiting)
        shard.under_way = True
        try:
            await open_shard(shard, self._world)
        finally:
            if shard.phase is Phase.OPENING:  # cut off, or a fault: let it be won again
                shard.end()
        if shard.phase is Phase.SERVING:
            self._on_served(shard)
        self._wake.set()

    def _gone(self, shard: Shard) -> None:
        self._on_gone(shard)
        if shard.outdone_by:
            self._outdone[shard.number] = shard.outdone_by
        if self._registry.shards.get(shard.number) is shard:
            del self._registry.shards[shard.number]
            self._held.pop(shard.number, None)
        self._wake.set()

    async def _release(self, shard: Shard, to: str | None) -> None:
        async with self._moving:
            if shard.gone:
                return
            revision = self._held[shard.number]
            await shard.close(_FINISH_S)
            if self._registry.shards.get(shard.number) is not shard:  # lost meanwhile
                return
            shard.end()
            self._world.metrics.shard("released")
            try:
                await self._leases.put_shard(shard.number, ShardEntry("", "", shard.epoch, ""), revision)
            except LeaseError as failure:
                log.info("release_unwritten", shard=shard.number, error=str(failure))
                return
            log.info("shard_released", shard=shard.number, to=to)
            end = monotonic() + self._world.settings.handover_wait_ms / 1000
            # One after the other, so that few tables stand still at once; no use if the next owner is leaving too.
            while to is not None and self._takes(to) and monotonic() < end:
                lease = self._leases.shards().get(shard.number)
                if lease is not None and lease.entry.owner:
                    return
                await self._world.changed.wait(0.02)

    def _takes(self, worker: str) -> bool:
        sign = self._leases.workers().get(worker)
        return sign is not None and not sign.entry.draining

    async def _disown(self, number: int) -> None:
        lease = self._leases.shards().get(number)
        if lease is None or lease.entry.owner != self._name or number in self._held:
            return
        try:
            await self._leases.put_shard(number, ShardEntry("", "", lease.entry.epoch, ""), lease.revision)
        except LeaseError as failure:
            log.info("release_unwritten", shard=number, error=str(failure))
