"""A pool owner's loop: what happens to the seeks of one room goes into the pure pool, pairs come out, Redis decides.

    changes ─► feed ─► pool ─► pairs ─► take (Lua) ─┬─► seating stream
                │                                   └─► gone: the other waits on, its age kept
                └─► seek list (deltas)

Another replica may match the same room for a moment while a lease moves: no
harm, for only the script decides.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

import structlog

from lobby import notices
from lobby.adapters.redis_seating import RedisSeating, Side, Taken, Took
from lobby.adapters.redis_seeks import Change, RedisSeeks
from lobby.gate import Gate
from lobby.matching.pool import Pair, Pool
from lobby.matching.settle import Coin, colors, settle
from lobby.metrics import Metrics
from lobby.ports import Announcer, Workers
from lobby.rooms import LobbyRoom
from lobby.seek_ending import end_seek
from lobby.seek_list import SeekList
from lobby.stored import Match, StoredSeek
from numbridge.clock import monotonic, now_ms
from numbridge.ids import new_game_id
from numbridge.redis_io import AWAY
from numbridge.tasks import delays

log = structlog.get_logger("lobby.matcher")

_LOOKS = 256  # seeks looked at before the loop turns
_AT_ONCE = 64  # pairs put to Redis in one round trip
_IDLE_S = 1.0  # longest pause without a look at the plan
_HELD_S = 0.05
_MOST_BACKLOG = 20_000  # changes kept while the pool is read; beyond, it is read again
_MOST_BLOCKS = 10_000  # fresh blocks remembered for seeks that were posted on their eve


class Matcher:
    """Matches one room while this replica owns its pool."""

    def __init__(
        self,
        room: LobbyRoom,
        seeks: RedisSeeks,
        seating: RedisSeating,
        workers: Workers,
        gate: Gate,
        announcer: Announcer,
        seek_list: SeekList,
        metrics: Metrics,
        coin: Coin,
        new_id: Callable[[int], str] = new_game_id,
    ) -> None:
        self._room = room
        self._seeks = seeks
        self._seating = seating
        self._workers = workers
        self._gate = gate
        self._announcer = announcer
        self._list = seek_list
        self._metrics = metrics
        self._coin = coin
        self._new_id = new_id
        self._pool = Pool(room.tolerance)
        self._stored: dict[str, StoredSeek] = {}
        self._misfits: list[tuple[StoredSeek, StoredSeek | None]] = []  # as they lie in Redis, and as the room allows
        self._blocks: OrderedDict[tuple[str, str], bool] = OrderedDict()
        self._backlog: list[Change] | None = []
        self._wake = asyncio.Event()
        self._lost = True
        self._loaded = False

    @property
    def open(self) -> int:
        """Seeks in the pool."""
        return len(self._pool)

    def reload(self) -> None:
        """Changes were lost: the pool is read afresh."""
        self._lost = True
        self._backlog = []
        self._wake.set()

    def feed(self, change: Change) -> None:
        """Something happened to a seek of this room, or to a block list."""
        if self._backlog is not None:
            self._backlog.append(change)
            if len(self._backlog) > _MOST_BACKLOG:
                self._metrics.overflowed("pool_backlog")
                self.reload()
            return
        self._apply(change)
        self._wake.set()

    def _apply(self, change: Change) -> None:
        if change.what == "block":
            self._block(change.room, change.seek, change.on)
        elif change.what == "drop":
            self._pool.remove(change.seek)
            if self._stored.pop(change.seek, None) is not None:
                self._list.removed(change.seek)
        elif change.stored is not None:
            known = change.seek in self._stored
            self._enter(change.stored)
            if not known:
                self._list.added(change.stored)

    def _enter(self, stored: StoredSeek) -> None:
        fitting = self._room.refit(stored)
        if fitting is not stored:  # posted before the rooms file changed, or by a replica that has yet to read it
            self._misfits.append((stored, fitting))
        if fitting is None:
            self._stored[stored.seek] = stored
            return
        self._stored[stored.seek] = fitting
        seek = fitting.to_core(self._room.limits)
        touched = {pair: on for pair, on in self._blocks.items() if seek.player in pair} if self._blocks else {}
        for (player, other), on in touched.items():
            who = frozenset({other if seek.player == player else player})
            seek = replace(seek, avoid=seek.avoid | who if on else seek.avoid - who)
        self._pool.add(seek)

    def _block(self, player: str, other: str, on: bool) -> None:
        # Lifting one direction leaves the other: the stored seek is amended with the whole truth right after.
        if on:
            self._blocks[player, other] = on
            while len(self._blocks) > _MOST_BLOCKS:
                self._blocks.popitem(last=False)
        else:
            self._blocks.pop((player, other), None)
        for one, two in ((player, other), (other, player)):
            seek = self._pool.of(one)
            if seek is not None and on:
                self._pool.avoid(one, seek.avoid | {two})

    async def run(self) -> None:
        """Matches until cancelled. Begins with a fresh reading, also after a fault."""
        self.reload()
        pauses = delays(0.05, 1.0)
        while True:
            try:
                await self._turn()
            except AWAY as error:
                log.warning("redis_away", room=self._room.id, error=type(error).__name__)
                self.reload()
                await asyncio.sleep(next(pauses))
            else:
                pauses = delays(0.05, 1.0)

    async def _turn(self) -> None:
        if self._lost:
            await self._load()
        if self._misfits:
            await self._mend()
        self._metrics.open.labels(self._room.id).set(len(self._pool))
        if not self._gate.open or not self._workers.any:
            await self._pause(_HELD_S)
            return
        self._wake.clear()
        started = monotonic()
        pairs = self._pool.pairs(now_ms(), _LOOKS)
        self._metrics.pass_seconds.observe(monotonic() - started)
        for at in range(0, len(pairs), _AT_ONCE):
            await self._propose(pairs[at : at + _AT_ONCE])
        due = self._pool.next_due()
        if due == 0:
            await asyncio.sleep(0)
        elif not self._wake.is_set():
            await self._pause(_IDLE_S if due is None else min(_IDLE_S, max(0.001, (due - now_ms()) / 1000)))

    async def _pause(self, seconds: float) -> None:
        self._wake.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass

    async def _load(self) -> None:
        """Reads the pool from Redis. Changes that come meanwhile are applied after: each of them leads to where
        the reading may have got already."""
        self._lost = False
        self._backlog = []
        self._pool = Pool(self._room.tolerance)
        self._stored = {}
        self._misfits = []
        async for page in self._seeks.all_of(self._room.id):
            for stored in page:
                self._enter(stored)
            await asyncio.sleep(0)
        if self._lost:
            return
        if self._loaded:  # watchers have heard of another list so far
            self._list.restart()
            self._metrics.reloaded("lost_changes")
        else:
            self._metrics.reloaded("taken")
        self._loaded = True
        backlog, self._backlog = self._backlog or [], None
        for change in backlog:
            self._apply(change)
        log.info("pool_read", room=self._room.id, seeks=len(self._pool))

    async def _mend(self) -> None:
        """Brings seeks in line with what the room allows now; those that can't be end."""
        while self._misfits:  # those that Redis has not heard of stay here
            some = self._misfits[:_AT_ONCE]
            await asyncio.gather(*(self._mend_one(stored, fitting) for stored, fitting in some))
            del self._misfits[: len(some)]

    async def _mend_one(self, stored: StoredSeek, fitting: StoredSeek | None) -> None:
        if fitting is None:
            await end_seek(self._seeks, self._announcer, self._metrics, stored, notices.ENDED_ROOM_CHANGED)
        elif await self._seeks.amend(fitting, stored) and stored.seek in self._stored:
            self._list.removed(stored.seek)
            self._list.added(fitting)

    async def _propose(self, pairs: list[Pair]) -> None:
        matches = []
        for at, pair in enumerate(pairs):
            if pair.first.id not in self._stored or pair.second.id not in self._stored:
                self._put_back(pair)  # one has gone while earlier pairs were put to Redis
                continue
            shard = self._workers.pick()
            if shard is None:
                for unserved in pairs[at:]:
                    self._put_back(unserved)
                break
            matches.append((pair, self._match(pair, shard)))
        if not matches:
            return
        try:
            answers = await self._seating.take([(match, _side(pair, 0), _side(pair, 1)) for pair, match in matches])
        except AWAY:
            for pair, _ in matches:
                self._put_back(pair)
            raise
        for (pair, match), answer in zip(matches, answers, strict=True):
            self._metrics.took(answer.code.name.lower())
            await self._answered(pair, match, answer)

    def _match(self, pair: Pair, shard: int) -> Match:
        first, second = self._stored[pair.first.id], self._stored[pair.second.id]
        settled = settle(pair.first.profile, pair.second.profile, self._room.limits.default, self._coin)
        people = {seek.player: seek.person for seek in (first, second)}
        blue, red = colors(first.player, second.player, self._coin)
        return Match(
            self._new_id(shard),
            self._room.id,
            self._room.settings(settled),
            people[blue],
            people[red],
            (first, second),
            "pool",
            now_ms(),
        )

    def _put_back(self, pair: Pair) -> None:
        self._pool.put_back(pair.first.id)
        self._pool.put_back(pair.second.id)

    async def _answered(self, pair: Pair, match: Match, answer: Taken) -> None:
        match answer.code:
            case Took.TAKEN | Took.TAKEN_BEFORE:
                self._pool.drop(pair.first.id)
                self._pool.drop(pair.second.id)
                waits = [match.at - pair.first.since, match.at - pair.second.since]
                self._metrics.matched(self._room.id, waits, abs(pair.first.rating - pair.second.rating))
                taken = {pair.first.id, pair.second.id}
                fell = [(player, seek) for player, seek in answer.fell if seek not in taken]
                self._metrics.ended(notices.ENDED_MATCHED, len(fell))
                await self._announcer.tell(
                    [notices.seek_ended(player, seek, notices.ENDED_MATCHED) for player, seek in fell]
                )
            case Took.FIRST_GONE | Took.SECOND_GONE:
                gone, left = (pair.first, pair.second) if answer.code is Took.FIRST_GONE else (pair.second, pair.first)
                self._pool.drop(gone.id)
                self._pool.put_back(left.id)
            case Took.FIRST_HAS_GAME | Took.SECOND_HAS_GAME:
                busy, left = (
                    (pair.first, pair.second) if answer.code is Took.FIRST_HAS_GAME else (pair.second, pair.first)
                )
                self._pool.drop(busy.id)
                self._pool.put_back(left.id)
                await self._seeks.end(busy.id, busy.player)
                self._metrics.ended(notices.ENDED_PLAYING)
                await self._announcer.tell([notices.seek_ended(busy.player, busy.id, notices.ENDED_PLAYING)])
            case Took.HELD:
                self._put_back(pair)
                await self._gate.look()


def _side(pair: Pair, number: int) -> Side:
    seek = pair.second if number else pair.first
    return Side(seek.player, seek.id)
