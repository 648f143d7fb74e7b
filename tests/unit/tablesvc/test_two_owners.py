"""Two owners that both believe in themselves, a log that loses acks and appends, clients that repeat themselves.

The real tables, the real takeover, the in-memory log. Whatever the schedule: what a client was told is in the log,
once, at the version it was told; the history never forks; nobody was told two things of one version.
"""

import asyncio
import random
from collections import defaultdict

import pytest

from numbridge.names import SEATS
from tablesvc.codec import write_record
from tablesvc.engine.evolve import evolve
from tablesvc.engine.opening import open_game
from tablesvc.opening import open_shard
from tablesvc.recovery import Replay
from tablesvc.shard import Phase, Shard
from tablesvc.works import Accepted, Outcome, Play, Work
from tablesvc.world import World
from tests.helpers.memory_tables import Cluster, MemoryLog, some_deal
from tests.helpers.tables import ADA, BLITZ, BOB, FirstDice, HandClock, make_world, others_turn

GAMES = [f"07-{n:016d}" for n in range(4)]


class Owner:
    """A worker reduced to one shard; its lease is a flag that nobody keeps in step with the other's."""

    def __init__(self, number: int, cluster: Cluster, clock: HandClock) -> None:
        self.world: World = make_world(cluster, clock, answer_ms=200)
        self.world.run = f"run{number}"
        self.shard: Shard | None = None

    @property
    def log(self) -> MemoryLog:
        log = self.world.log
        assert isinstance(log, MemoryLog)
        return log

    async def take_over(self, epoch: int) -> None:
        """As after winning the lease; the other one is not told."""
        shard = Shard(7, epoch, self.world, lambda: True, lambda _: None)
        self.shard = shard
        await open_shard(shard, self.world)

    async def ask(self, game: str, play: Play) -> Outcome:
        shard = self.shard
        if shard is None or shard.gone or shard.phase is Phase.OPENING:
            return None
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        shard.submit(game, Work(play, lambda outcome: None if future.done() else future.set_result(outcome)))
        return await future


@pytest.mark.parametrize("seed", range(12))
async def test_no_schedule_forks_or_loses_anything(seed: int) -> None:
    luck = random.Random(seed)
    cluster, clock = Cluster(), HandClock()
    for game in GAMES:
        deal = some_deal(6, "regular", 12)
        opened = open_game("blitz", BLITZ, ADA, BOB, deal, clock(), FirstDice())
        cluster.store(7, game, write_record(game, 0, 1, f"open-{game}", clock(), [opened]), f"open-{game}")
        assert evolve(None, opened).version == 0
    owners = [Owner(number, cluster, clock) for number in range(2)]
    await owners[0].take_over(2)
    epoch = 2
    acked: dict[tuple[str, str], int] = {}
    played = 0

    async def client(game: str, number: int) -> None:
        """Sends exchanges for whoever is to move, each again until accepted, to whichever owner."""
        nonlocal played
        for turn in range(15):
            player = ("ada", "bob")[turn % 2]
            ref = f"{number}.{turn}"
            version = turn
            while True:
                play = Play(player, ref, version, "exchange", None, None, 0)
                outcome = await luck.choice(owners).ask(game, play)
                if isinstance(outcome, Accepted):
                    acked[game, ref] = outcome.version
                    played += 1
                    break
                await others_turn()

    async def trouble() -> None:
        nonlocal epoch
        while played < len(GAMES) * 15:
            owner = luck.choice(owners)
            match luck.randrange(6):
                case 0 | 1:
                    owner.log.lose_acks += luck.randrange(3)
                case 2:
                    owner.log.lose_appends += luck.randrange(2)
                case 3 | 4:
                    epoch += 1
                    await owner.take_over(epoch)
                case _:
                    owner.world.changed.fire()  # pauses between tries end early
            for _ in range(luck.randrange(1, 5)):
                await others_turn()

    troubling = asyncio.create_task(trouble())
    async with asyncio.timeout(60):
        await asyncio.gather(*(client(game, number) for number, game in enumerate(GAMES)))
        await troubling
    for owner in owners:
        await owner.world.tasks.close()

    replay = Replay(epoch)
    replay.take_all(message for _, message in cluster.messages if message.game in GAMES)
    assert not replay.damaged
    for game in GAMES:
        records = cluster.of_game(game)
        refs = [record.ref for record in records if record.ref]
        assert len(refs) == len(set(refs)) == 15
        assert replay.games[game].state.version == 15
        for record in records:
            if record.ref:
                assert acked[game, record.ref] == record.version
        epochs = [record.epoch for record in records]
        assert epochs == sorted(epochs)
        for seat in SEATS:
            said = defaultdict(set)
            for version, text in cluster.told(game, seat):
                said[version].add(text)
            assert all(len(texts) == 1 for texts in said.values())
    assert epoch > 2
