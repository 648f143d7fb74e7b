"""Who is here: shards and tables of this worker, and the way from a game's id to its table."""

import asyncio
from collections.abc import Iterator

from numbridge.clock import monotonic
from numbridge.errors import Rejected, moved
from numbridge.ids import shard_of
from tablesvc.metrics import Metrics
from tablesvc.shard import Shard, no_game
from tablesvc.table import Table
from tablesvc.works import KIND, Ask, Outcome, Work


class Registry:
    """The shards that this worker owns."""

    def __init__(self, shards: int, metrics: Metrics) -> None:
        self.count = shards
        self._metrics = metrics
        self.shards: dict[int, Shard] = {}

    def shard(self, game: str) -> Shard:
        """The game's shard. Raises Rejected: not_found for no game id, moved for another worker's."""
        try:
            number = shard_of(game, self.count)
        except ValueError:
            raise no_game() from None
        shard = self.shards.get(number)
        if shard is None or shard.gone:
            raise moved()
        return shard

    def submit(self, game: str, work: Work) -> None:
        """Passes work to the game's table; it is answered in any case."""
        try:
            shard = self.shard(game)
        except Rejected as refusal:
            work.answered = True
            self._metrics.answered(KIND[type(work.ask)], str(refusal.reason), monotonic() - work.at)
            work.reply(refusal)
        else:
            shard.submit(game, work)

    async def ask(self, game: str, ask: Ask) -> Outcome:
        """The answer to one question. Raises Rejected."""

        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def reply(outcome: Outcome) -> None:
            if not future.done():
                future.set_result(outcome)

        self.submit(game, Work(ask, reply))
        outcome = await future
        if isinstance(outcome, Rejected):
            raise outcome.with_traceback(None)  # it may be raised again and again, and would keep every way it went
        return outcome

    def tables(self) -> Iterator[Table]:
        """All tables, finished ones too."""
        for shard in self.shards.values():
            yield from shard.tables.values()

    def unfinished(self) -> int:
        """Games that go on."""
        return sum(not table.state.over for table in self.tables())

    def count_status(self) -> dict[str, int]:
        """Games by status."""
        counts = {"playing": 0, "adjourned": 0, "over": 0}
        for table in self.tables():
            counts[table.state.status] += 1
        return counts
