"""One world: a table on memory, its clock moved by hand, and a tap on every way out of the worker.

What is tapped, and who gets it:

    frames     `view.<game>.<seat>`, presence too           the seat
    answer     a command's answer as the link carries it    who sent it
    seats      `seats.<shard>`                              any service
    log        every line at debug                          operators
    metrics    all counters and gauges                      operators

Durations are left out: they differ between two runs of the same world.
"""

import json
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from numbridge.names import Seat
from tablesvc.codec import write_record
from tablesvc.engine.dice import Dice
from tablesvc.engine.events import Event, Opened
from tablesvc.engine.evolve import evolve
from tablesvc.link import answer_of
from tablesvc.metrics import Metrics
from tablesvc.reads import presence_text
from tablesvc.registry import Registry
from tablesvc.seats import Seats
from tablesvc.story import Story
from tablesvc.table import Table
from tablesvc.works import Ask, Outcome, Ring, Summary, Work
from tests.helpers.memory_tables import Cluster
from tests.helpers.tables import GAME, HandClock, OurShard, make_world, others_turn

ANYONE = "anyone"
_TIMES = ("_sum", "_bucket", "_created")


@dataclass(frozen=True, slots=True)
class Tapped:
    """Something that left the worker."""

    who: Seat | str
    """The seat that gets it, or ANYONE."""
    where: str
    what: bytes


class Hall:
    """A table and all that hears of it."""

    def __init__(self, opened: Opened, dice: Dice) -> None:
        self.taps: list[Tapped] = []
        self.cluster = Cluster()
        self.clock = HandClock(opened.at)
        self.registry = CollectorRegistry()
        self.world = make_world(self.cluster, self.clock)
        self.world.metrics = Metrics(self.registry)
        self.world.dice = dice
        shard = OurShard()
        data = write_record(GAME, 0, shard.epoch, self.world.append_id(), opened.at, [opened])
        seq = self.cluster.store(shard.number, GAME, data, "open")
        self.table = Table(GAME, shard, self.world, evolve(None, opened), seq, Story(GAME, [data]))
        self.world.on_status = Seats(self.world, Registry(256, self.world.metrics)).changed
        self.world.on_presence = lambda table: self.tap(ANYONE, "presence", presence_text(table))
        self.table.start()

    def tap(self, who: Seat | str, where: str, what: bytes) -> None:
        """Something has left."""
        self.taps.append(Tapped(who, where, what))

    async def do(self, who: Seat, ask: Ask) -> Outcome:
        """One thing asked, to its end. `who`: the seat that the answer goes to."""
        answers: list[Outcome] = []
        with capture_logs() as lines:
            if isinstance(ask, Ring):
                self.table.ring()
            else:
                self.table.submit(Work(ask, answers.append))
            while self.table.busy or not (answers or isinstance(ask, Ring)):
                await others_turn()
            await others_turn()  # seat notices are tasks of their own
        for outcome in answers:
            if isinstance(outcome, bytes) and self.table.state.over:
                continue  # the record of a game that is over tells everything, to anybody
            on_link = None if isinstance(ask, Summary) else answer_of(1, outcome)
            text = (outcome if on_link is None else on_link).SerializeToString(deterministic=True)  # type: ignore[union-attr]
            self.tap(who, "answer", text)
        self._drain(lines)
        return answers[0] if answers else None

    def _drain(self, lines: list[Any]) -> None:
        for _, seat, version, text in self.cluster.frames:
            self.tap(seat, "frames", b"%d %b" % (version, text))
        for notice in self.cluster.notices:
            self.tap(ANYONE, "seats", notice.SerializeToString(deterministic=True))
        for line in lines:
            self.tap(ANYONE, "log", json.dumps(line, default=repr, sort_keys=True).encode())
        self.cluster.frames.clear()
        self.cluster.notices.clear()

    def measure(self) -> None:
        """Taps the metrics, durations left out."""
        for family in self.registry.collect():
            for sample in family.samples:
                if not sample.name.endswith(_TIMES):
                    self.tap(ANYONE, "metrics", f"{sample.name}{sample.labels} {sample.value}".encode())

    def events(self) -> list[Event]:
        """All that has happened."""
        return self.table.story.events()

    async def close(self) -> None:
        """Ends what still runs."""
        self.world.clocks.stop()
        await self.world.tasks.close()
