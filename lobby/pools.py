"""Which replica matches which room.

    pools   replica.<name>  -> {run, beat}      a replica's own lease, renewed as long as it lives
            room.<room>     -> {owner, run}     who owns the room's pool, changed by compare-and-set

A room belongs to the replica *run* that its entry names, as long as that run
keeps beating by the observer's own clock. Who should own it is rendezvous
hashing over the live replicas: an owner that should not be gives the room up,
and the one that should takes it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from hashlib import blake2b

import msgspec
import structlog
from nats.js import JetStreamContext
from nats.js.errors import KeyWrongLastSequenceError

from numbridge import names
from numbridge.clock import monotonic
from numbridge.ids import random_token
from numbridge.kv_mirror import AWAY, Mirror
from numbridge.nats_io import bucket

log = structlog.get_logger("lobby.pools")

_FORGET_TTLS = 20  # entries of replicas that have been silent for so many leases are removed

Hook = Callable[[str], Awaitable[None]]


class ReplicaEntry(msgspec.Struct, frozen=True):
    """A live lobby replica."""

    name: str
    run: str
    beat: int


class RoomEntry(msgspec.Struct, frozen=True):
    """Whose pool it is; `owner` empty: given up."""

    owner: str
    run: str


_replicas = msgspec.json.Decoder(ReplicaEntry)
_rooms = msgspec.json.Decoder(RoomEntry)
_encode = msgspec.json.Encoder().encode


def preferred(room: str, replicas: Sequence[str]) -> str:
    """Which of the replicas should own the room."""
    return max(replicas, key=lambda name: blake2b(f"{room}|{name}".encode(), digest_size=8).digest())


class Pools:
    """This replica's part in it. `take(room)` and `give(room)` start and end the matching of a room."""

    def __init__(
        self,
        js: JetStreamContext,
        replicas: int,
        name: str,
        rooms: Sequence[str],
        ttl_ms: int,
        take: Hook,
        give: Hook,
    ) -> None:
        self._js = js
        self._stream_replicas = replicas
        self._name = name
        self._run = random_token(8)
        self._rooms = list(rooms)
        self._ttl = ttl_ms / 1000
        self._take = take
        self._give = give
        self._mirror: Mirror | None = None
        self._beat = 0
        self._beaten_at = float("-inf")
        self._again = asyncio.Event()
        self._leaving = False
        self._changing = asyncio.Lock()  # rooms do not change while they are settled
        self.owned: set[str] = set()

    async def start(self) -> None:
        """Joins the replicas. Raises TimeoutError or a NATS error while JetStream is away."""
        self._bucket = await bucket(self._js, names.KV_POOLS, self._stream_replicas)
        self._mirror = Mirror(self._bucket, names.KV_POOLS)
        self._mirror.on_change(lambda _key: self._again.set())
        await self._mirror.start()

    def refresh(self) -> None:
        """Call it when the NATS connection came back."""
        if self._mirror is not None:
            self._mirror.refresh()
        self._again.set()

    async def run(self) -> None:
        """Beats and settles until cancelled."""
        while not self._leaving:
            try:
                await self.step()
            except AWAY as error:
                log.warning("nats_away", error=f"{type(error).__name__}: {error}")
            if self.owned and monotonic() - self._beaten_at > self._ttl:
                log.warning("lease_lapsed", rooms=sorted(self.owned))
                for room in list(self.owned):
                    await self._let_go(room)
            self._again.clear()
            try:
                async with asyncio.timeout(self._ttl / 3):
                    await self._again.wait()
            except TimeoutError:
                pass

    def live(self) -> list[str]:
        """Names of the replicas whose lease runs, this one included."""
        return sorted({entry.name for entry in self._live_entries()} | {self._name})

    def owner(self, room: str) -> str | None:
        """The replica that matches the room now."""
        held = self._held().get(_room_key(room))
        if held is None:
            return None
        entry = _rooms.decode(held.value)
        alive = any(live.name == entry.owner and live.run == entry.run for live in self._live_entries())
        return entry.owner if alive or (entry.owner, entry.run) == (self._name, self._run) else None

    def _held(self) -> Mirror:
        if self._mirror is None:
            raise RuntimeError("not started")
        return self._mirror

    def _live_entries(self) -> list[ReplicaEntry]:
        now = monotonic()
        return [
            _replicas.decode(held.value)
            for key, held in self._held().entries()
            if key.startswith("replica.") and now - held.changed_at <= self._ttl
        ]

    async def change(self, rooms: Sequence[str], again: Collection[str]) -> None:
        """From now on there are these rooms. Of those owned here, what is no room any more is given up, and the
        matching of those in `again` begins anew."""
        async with self._changing:
            self._rooms = list(rooms)
            for room in sorted(self.owned - set(rooms)):
                try:
                    await self._give_up(room)
                except AWAY as error:  # let go it is; nobody else takes a room that is not there
                    log.warning("nats_away", error=f"{type(error).__name__}: {error}")
            for room in sorted(self.owned.intersection(again)):
                await self._give(room)
                await self._take(room)
        self._again.set()

    async def step(self) -> None:
        """One beat, if it is due, and one look at who should own what."""
        async with self._changing:
            await self._step()

    async def _step(self) -> None:
        mirror = self._held()
        started = monotonic()
        if started - self._beaten_at >= self._ttl / 3.5:
            self._beat += 1
            value = _encode(ReplicaEntry(self._name, self._run, self._beat))
            revision = await self._bucket.put(_replica_key(self._name), value)
            mirror.note(_replica_key(self._name), value, revision)
            self._beaten_at = started
        live = self.live()
        for room in self._rooms:
            should, owner = preferred(room, live), self.owner(room)
            if owner == self._name:
                if should != self._name:
                    await self._give_up(room)
                elif room not in self.owned:
                    await self._begin(room)
            elif not self._leaving:
                if room in self.owned:
                    await self._let_go(room)
                if owner is None and should == self._name:
                    await self._win(room)
        await self._forget_silent()

    async def _win(self, room: str) -> None:
        if await self._write(room, RoomEntry(self._name, self._run)):
            log.info("pool_taken", room=room)
            await self._begin(room)

    async def _begin(self, room: str) -> None:
        self.owned.add(room)
        await self._take(room)

    async def _let_go(self, room: str) -> None:
        self.owned.discard(room)
        await self._give(room)

    async def _give_up(self, room: str) -> None:
        await self._let_go(room)
        await self._write(room, RoomEntry("", ""))
        log.info("pool_given_up", room=room)

    async def _write(self, room: str, entry: RoomEntry) -> bool:
        """Writes the room's entry if it is still as we saw it."""
        key, value = _room_key(room), _encode(entry)
        held = self._held().get(key)
        try:
            revision = await self._bucket.update(key, value, last=held.revision if held is not None else 0)
        except KeyWrongLastSequenceError:
            return False
        self._held().note(key, value, revision)
        return True

    async def _forget_silent(self) -> None:
        now = monotonic()
        for key, held in self._held().entries():
            if key.startswith("replica.") and now - held.changed_at > self._ttl * _FORGET_TTLS:
                try:
                    await self._bucket.delete(key, last=held.revision)
                except KeyWrongLastSequenceError:
                    pass  # it has come back to life

    async def leave(self) -> None:
        """Gives every room up at once and takes none any more; raises nothing while NATS is away."""
        self._leaving = True
        try:
            for room in list(self.owned):
                await self._give_up(room)
            if self._beat:
                self._beat = 0
                await self._bucket.delete(_replica_key(self._name))
        except AWAY:
            for room in list(self.owned):
                await self._let_go(room)

    async def stop(self) -> None:
        """Stops watching."""
        if self._mirror is not None:
            await self._mirror.stop()


def _replica_key(name: str) -> str:
    return f"replica.{names.token(name)}"


def _room_key(room: str) -> str:
    return f"room.{names.token(room)}"
