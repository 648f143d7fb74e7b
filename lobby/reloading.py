"""Reads the rooms file again while the lobby runs (SIGHUP).

    file ─► checked as a whole ─┬─► a problem: every one is logged, nothing changes
                                └─► rooms ─► pools: matching of changed rooms begins anew, and ends or narrows
                                      │      the seeks that do not fit any more
                                      └────► seeks of rooms that are gone end

Running games keep the settings they began with. Replicas need not read the
file at the same moment: a room's owner mends what others post by the old one,
and seeks in a room that no replica matches any more end a while later.
"""

import asyncio

import structlog

from lobby import notices
from lobby.adapters.redis_seeks import RedisSeeks
from lobby.metrics import Metrics
from lobby.pools import Pools
from lobby.ports import Announcer
from lobby.rooms import LobbyRooms, read_rooms
from lobby.seek_ending import end_seek
from lobby.seek_list import SeekList
from numbridge.clock import monotonic
from numbridge.redis_io import AWAY
from numbridge.rooms import RoomsError
from numbridge.tasks import delays

log = structlog.get_logger("lobby.reloading")

SWEEP_S = 5.0
_HOMELESS_S = 30.0  # replicas have read the same file by then
_MOST_ROUNDS = 50  # of emptying a room while Redis is away; the sweep does what is left


class Reloading:
    """One a replica."""

    def __init__(
        self,
        path: str,
        rooms: LobbyRooms,
        pools: Pools,
        lists: dict[str, SeekList],
        seeks: RedisSeeks,
        announcer: Announcer,
        metrics: Metrics,
    ) -> None:
        """`lists`: those that this replica tells, by room."""
        self._path = path
        self._rooms = rooms
        self._pools = pools
        self._lists = lists
        self._seeks = seeks
        self._announcer = announcer
        self._metrics = metrics
        self._turn = asyncio.Lock()
        self._homeless: dict[str, float] = {}  # rooms with seeks that nobody matches -> first seen so

    async def reload(self) -> bool:
        """Reads the file; False if it cannot be used. Raises nothing: what is wrong is logged, a line a problem."""
        async with self._turn:
            try:
                fresh = await asyncio.to_thread(read_rooms, self._path)
            except RoomsError as error:
                for problem in error.problems:
                    log.error("rooms_file_refused", file=self._path, problem=problem)  # noqa: TRY400 - no trace
            except OSError as error:
                log.error("rooms_file_refused", file=self._path, problem=str(error))  # noqa: TRY400 - no trace
            else:
                await self._become(fresh)
                return True
            self._metrics.rooms_read("refused")
            return False

    async def _become(self, fresh: LobbyRooms) -> None:
        lists = dict(self._lists)
        difference = self._rooms.become(fresh)
        log.info(
            "rooms_changed", rooms=self._rooms.ids, gone=sorted(difference.gone), changed=sorted(difference.changed)
        )
        await self._pools.change(self._rooms.ids, difference.changed | difference.gone)
        for room in sorted(difference.gone):
            await self._empty(room, lists.get(room))
        self._metrics.rooms_read("taken")

    async def sweep(self) -> None:
        """Ends what is open in rooms that this replica's file does not have and that no replica matches: posted
        or put back at the last moment, or by a replica that has read the file later. Raises one of redis_io.AWAY."""
        now = monotonic()
        homeless = {
            room for room in await self._seeks.rooms() if self._rooms.get(room) is None and not self._pools.owner(room)
        }
        self._homeless = {room: self._homeless.get(room, now) for room in homeless}
        for room, since in list(self._homeless.items()):
            if now - since >= _HOMELESS_S:
                await self._empty(room, None)

    async def _empty(self, room: str, told: SeekList | None) -> None:
        """Ends every seek of a room; whoever told its list says so for the last time."""
        pauses = delays(0.05, 1.0)
        ended = []
        for _ in range(_MOST_ROUNDS):
            try:
                async for page in self._seeks.all_of(room):
                    for seek in page:
                        await end_seek(self._seeks, self._announcer, self._metrics, seek, notices.ENDED_ROOM_GONE)
                        ended.append(seek.seek)
            except AWAY as error:
                log.warning("redis_away", room=room, error=type(error).__name__)
                await asyncio.sleep(next(pauses))
            else:
                break
        if told is not None and self._lists.get(room) is not told:
            for name in ended:
                told.removed(name)
            await told.send()
