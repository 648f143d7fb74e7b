"""Seek lists of rooms, kept while somebody here watches them.

The list is read once and then follows the deltas. A gap in their numbers, a
new run, or possible loss: it is read again, and watchers get the difference.
"""

import asyncio

import msgspec
import structlog

from gateway import shapes
from gateway.fanout import Fanout
from gateway.ports import Lobby, Notices, Subscription, Watcher
from numbridge import wire
from numbridge.errors import Reason, Rejected
from numbridge.tasks import Tasks
from numbridge.v1 import lobby_pb2 as pb

log = structlog.get_logger("numbridge.gateway.seekboard")

RETRY_S = 1.0  # between tries to read a list again while the lobby is away


class _Event(msgspec.Struct):
    ev: str
    seek: msgspec.Raw


class _Id(msgspec.Struct):
    seek: str


_event = msgspec.json.Decoder(_Event)
_id = msgspec.json.Decoder(_Id)
_text = msgspec.json.Decoder(str)


class _Room:
    """One room's list and who watches it."""

    def __init__(self, room: str, tasks: Tasks) -> None:
        self.room = room
        self.seeks: dict[str, bytes] = {}  # id -> the seek's JSON text, oldest first
        self.run = ""
        self.seq = 0
        self.watchers: set[Watcher] = set()
        self.held: list[pb.SeekDelta] | None = []  # deltas that came while the list was read; None: it is up to date
        self.opening: asyncio.Task[None] | None = None
        self.subscription: Subscription | None = None
        self._fanout = Fanout(self.watchers, self.whole, tasks)

    def whole(self) -> bytes:
        """The list as an event."""
        return wire.event("seeks", room=self.room, seeks=[msgspec.Raw(text) for text in self.seeks.values()])

    def tell(self, texts: list[bytes]) -> None:
        """Changes for all who watch."""
        self._fanout.tell(texts)

    def load(self, reply: pb.ListSeeksReply) -> None:
        """Takes a whole list; watchers are told how it differs from what they have."""
        fresh = {seek.seek: wire.encode(shapes.seek(seek)) for seek in reply.seeks}
        texts = [removed(seek) for seek in self.seeks if seek not in fresh]
        texts += [added(text) for seek, text in fresh.items() if seek not in self.seeks]
        self.seeks = fresh
        mark = reply.marks[self.room]
        self.run, self.seq = mark.run, mark.seq
        self.tell(texts)

    def apply(self, delta: pb.SeekDelta) -> bool:
        """Takes a delta; False if one is missing before it."""
        if delta.run == self.run and delta.seq <= self.seq:
            return True
        if delta.run != self.run or delta.seq != self.seq + 1:
            return False
        self.seq = delta.seq
        texts: list[bytes] = []
        for text in delta.events:
            event = _event.decode(text)
            if event.ev == "seek_added":
                seek = _id.decode(event.seek).seek
                if self.seeks.get(seek) is None:
                    texts.append(text)
                self.seeks[seek] = bytes(event.seek)
            elif self.seeks.pop(_text.decode(event.seek), None) is not None:
                texts.append(text)
        self.tell(texts)
        return True


class SeekBoard:
    """Lists by room."""

    def __init__(self, lobby: Lobby, notices: Notices) -> None:
        self._lobby = lobby
        self._notices = notices
        self._rooms: dict[str, _Room] = {}
        self._tasks = Tasks()
        notices.on_loss(self._lost)

    async def stop(self) -> None:
        """Ends what runs."""
        await self._tasks.close()

    async def watch(self, watcher: Watcher, room: str | None) -> bytes:
        """From now on `watcher` is told of changes. A `seeks` event as things stand. Rejected: not_found."""
        names = [room] if room is not None else [entry.id for entry in (await self._lobby.rooms()).rooms]
        opened = [await self._open(watcher, name) for name in names]
        return wire.event(
            "seeks", room=room, seeks=[msgspec.Raw(text) for entry in opened for text in entry.seeks.values()]
        )

    def unwatch(self, watcher: Watcher, room: str | None) -> None:
        """The watcher is told no more; fine if he was not."""
        for name in [room] if room is not None else list(self._rooms):
            entry = self._rooms.get(name)
            if entry is not None:
                entry.watchers.discard(watcher)
                self._release(entry)

    async def _open(self, watcher: Watcher, room: str) -> _Room:
        entry = self._rooms.get(room)
        if entry is None:
            entry = self._rooms[room] = _Room(room, self._tasks)
        if entry.opening is None:
            entry.opening = asyncio.ensure_future(self._begin(entry))
        entry.watchers.add(watcher)
        try:
            await asyncio.shield(entry.opening)
        except BaseException:
            entry.watchers.discard(watcher)
            self._release(entry)
            raise
        return entry

    async def _begin(self, entry: _Room) -> None:
        entry.subscription = await self._notices.seeks(entry.room, lambda delta: self._delta(entry, delta))
        await self._read(entry)

    async def _read(self, entry: _Room) -> None:
        """Reads the list and then applies what came in the meantime, until nothing is missing."""
        strangers: set[str] = set()
        while entry.held is not None:
            entry.load(await self._lobby.seeks(entry.room))
            held, entry.held = entry.held, None
            for number, delta in enumerate(held):
                if delta.run != entry.run:
                    if delta.run not in strangers:  # older than the list, or newer? reading once more tells
                        strangers.add(delta.run)
                        entry.held = held[number:]
                        break
                elif not entry.apply(delta):
                    entry.held = held[number:]
                    break

    def _delta(self, entry: _Room, delta: pb.SeekDelta) -> None:
        if entry.held is not None:
            entry.held.append(delta)
            del entry.held[:-1_000]  # far more than come while a list is read; a lost one shows as a gap
            return
        try:
            complete = entry.apply(delta)
        except msgspec.MsgspecError as error:
            log.warning("bad_seek_delta", room=entry.room, error=str(error))
            complete = False
        if not complete:
            self._reread(entry, [delta])

    def _reread(self, entry: _Room, held: list[pb.SeekDelta]) -> None:
        entry.held = held
        self._tasks.spawn(self._keep_reading(entry), "seek_list")

    async def _keep_reading(self, entry: _Room) -> None:
        while self._rooms.get(entry.room) is entry:
            try:
                await self._read(entry)
            except Rejected as rejected:
                if rejected.reason is Reason.NOT_FOUND:
                    return
                await asyncio.sleep(RETRY_S)
            else:
                return

    def _lost(self) -> None:
        for entry in self._rooms.values():
            if entry.held is None:
                self._reread(entry, [])

    def _release(self, entry: _Room) -> None:
        if entry.watchers or self._rooms.get(entry.room) is not entry:
            return
        del self._rooms[entry.room]
        if entry.opening is not None and not entry.opening.done():
            entry.opening.cancel()
        if entry.subscription is not None:
            entry.subscription.end()


def added(seek: bytes) -> bytes:
    """A `seek_added` event from a seek's JSON text."""
    return wire.event("seek_added", seek=msgspec.Raw(seek))


def removed(seek: str) -> bytes:
    """A `seek_removed` event."""
    return wire.event("seek_removed", seek=seek)
