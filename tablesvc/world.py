"""What all tables of a worker share, and what a table tells the worker. Built once, in wiring."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from numbridge.tasks import Tasks
from tablesvc.budget import Budget
from tablesvc.clocks import Clock, Clocks
from tablesvc.engine.dice import Dice
from tablesvc.metrics import Metrics
from tablesvc.ports import TableLog, Views
from tablesvc.settings import TableSettings
from tablesvc.stalls import Signal, Stalls

if TYPE_CHECKING:
    from tablesvc.table import Table

REMAKES_BURST, REMAKES_PER_S = 200, 25.0
"""Old frames made again by a worker, all tables: a long game's take five milliseconds, and anybody may ask for them."""

Told = Callable[["Table"], None]


def _nothing(_table: "Table") -> None:
    """Until wiring has set it."""


def _still() -> None:
    """Until wiring has set it."""


@dataclass(slots=True)
class World:
    """The surroundings of a table."""

    settings: TableSettings
    run: str
    """This life of the process: part of every append's id."""
    log: TableLog
    views: Views
    dice: Dice
    clock: Clock
    clocks: Clocks
    stalls: Stalls
    metrics: Metrics
    tasks: Tasks
    changed: Signal = field(default_factory=Signal)
    """Fires when a lease was renewed, a shard was lost, or the log went away or came back."""
    pulse: Callable[[], None] = _still
    """Looks whether the process itself stood still; cheap, for those who are about to judge a clock."""
    on_over: Told = _nothing
    """A game has ended (or was found ended at a takeover)."""
    on_status: Told = _nothing
    """A game was opened, put away, resumed or ended."""
    on_presence: Told = _nothing
    """Who is at the table, or its clock outside of a move, has changed."""
    on_fault: Told = _nothing
    """A table is set aside."""
    remakes: Budget = field(default_factory=lambda: Budget(REMAKES_BURST, REMAKES_PER_S))
    _appends: int = 0

    def may_remake(self) -> bool:
        """Whether frames that are no longer held may be made again now; else a viewer gets a fresh `state`."""
        if self.remakes.take():
            return True
        self.metrics.dropped("remakes")
        return False

    def append_id(self) -> str:
        """A fresh id for an append."""
        self._appends += 1
        return f"{self.run}.{self._appends}"
