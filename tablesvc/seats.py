"""Word of who sits where: at each change, for whoever asks, and every now and then, so that lost word heals."""

import asyncio

from numbridge.v1 import log_pb2 as pb
from tablesvc import codec
from tablesvc.registry import Registry
from tablesvc.shard import Phase, Shard
from tablesvc.table import Table
from tablesvc.world import World

_GAMES = 500  # in one notice: NATS messages are limited to 1 MiB, and a summary has about 300 bytes


class Seats:
    """Says who sits where."""

    def __init__(self, world: World, registry: Registry) -> None:
        self._world = world
        self._registry = registry
        self._asked = asyncio.Event()

    def changed(self, table: Table) -> None:
        """A game was opened, put away, resumed or ended."""
        summary = codec.summary(table.game, table.state)
        notice = pb.SeatNotice(games=[summary], worker=self._world.settings.name)
        self._world.tasks.spawn(self._world.views.seats(table.shard.number, notice), "seat_notice")

    def asked(self) -> None:
        """Somebody wants to know everything."""
        self._asked.set()

    async def run(self) -> None:
        """Says everything whenever asked, and every `seats_ms`."""
        while True:
            try:
                async with asyncio.timeout(self._world.settings.seats_ms / 1000):
                    await self._asked.wait()
            except TimeoutError:
                pass
            self._asked.clear()
            for shard in list(self._registry.shards.values()):
                await self.whole(shard)
                await asyncio.sleep(0)

    async def whole(self, shard: Shard) -> None:
        """All unfinished games of one shard; nothing while it is not wholly served."""
        if shard.phase is not Phase.SERVING or not shard.writable:
            return
        games = [codec.summary(table.game, table.state) for table in shard.tables.values() if not table.state.over]
        name = self._world.settings.name
        if len(games) <= _GAMES:
            notice = pb.SeatNotice(games=games, worker=name, whole_shard=True, shard=shard.number)
            await self._world.views.seats(shard.number, notice)
            return
        for start in range(0, len(games), _GAMES):  # too many to be called the whole in one message
            await self._world.views.seats(shard.number, pb.SeatNotice(games=games[start : start + _GAMES], worker=name))
