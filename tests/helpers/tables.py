"""Builders for tests of the table worker: a world on memory, a shard that is simply ours, a table in it."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import CollectorRegistry

from numbridge.errors import Rejected
from numbridge.tasks import Tasks
from tablesvc.clocks import Clocks
from tablesvc.codec import write_record
from tablesvc.engine.evolve import evolve
from tablesvc.engine.opening import open_game
from tablesvc.engine.settings import GameSettings, Player
from tablesvc.engine.state import State
from tablesvc.metrics import Metrics
from tablesvc.settings import TableSettings
from tablesvc.stalls import Stalls
from tablesvc.story import Story
from tablesvc.table import Table
from tablesvc.works import Ask, Outcome, Play, Work
from tablesvc.world import World
from tests.helpers.memory_tables import Cluster, MemoryHome, some_deal

ADA = Player("ada", "Ada", 1500)
BOB = Player("bob", "Bob", 1480)
GAME = "07-ABCDEFGHIJKLMNOP"

BLITZ = GameSettings("blitz", 6, "regular", 12, 2, highlight=True, rated=True, move_ms=30_000, game_ms=300_000)
BRIDGE = GameSettings("bridge", 9, "irregular", 30, 1, highlight=True, rated=True, move_ms=60_000, game_ms=900_000)
DOMAINS = GameSettings("domains", 9, "regular", 30, 1, highlight=True, rated=True, move_ms=45_000, game_ms=900_000)


class FirstDice:
    """Always the first."""

    def below(self, n: int, /) -> int:
        return 0


class HandClock:
    """A table clock moved by hand."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def pass_(self, ms: int) -> None:
        self.now += ms


@dataclass
class OurShard:
    """A shard that is ours until told otherwise; see table.Holder."""

    number: int = 7
    epoch: int = 1
    gone: bool = False
    writable: bool = True
    aside: list[str] = field(default_factory=list)

    def lost(self) -> None:
        self.gone = True
        self.writable = False

    def forget(self, game: str) -> None:
        """Nothing to do."""

    def set_aside(self, game: str) -> None:
        self.aside.append(game)


def settings_for(**changes: Any) -> TableSettings:
    """A table worker's settings."""
    return TableSettings(name="w1", **{"lease_ttl_ms": 600, "lease_beat_ms": 100, "presence_ms": 20, **changes})


def make_world(cluster: Cluster, clock: Callable[[], int], **changes: Any) -> World:
    """A world on memory. Its tasks are the test's to close."""
    home = MemoryHome(cluster)
    metrics = Metrics(CollectorRegistry())
    world = World(
        settings=settings_for(**changes),
        run="run1",
        log=home.log,
        views=home.views,
        dice=FirstDice(),
        clock=clock,
        clocks=Clocks(clock),
        stalls=Stalls(),
        metrics=metrics,
        tasks=Tasks(),
    )

    def fault(table: Table) -> None:
        table.shard.set_aside(table.game)

    world.on_fault = fault
    return world


def memory_log(world: World) -> Any:
    """The world's log, with its switches."""
    return world.log


def opened_table(
    world: World, cluster: Cluster, shard: OurShard, game: str = GAME, settings: GameSettings = BLITZ
) -> Table:
    """A table just made, its first record in the log."""
    deal = some_deal(settings.side, "regular" if settings.blocks == "regular" else "irregular", settings.givens)
    opened = open_game("room", settings, ADA, BOB, deal, world.clock(), world.dice)
    data = write_record(game, 0, shard.epoch, world.append_id(), world.clock(), [opened])
    seq = cluster.store(shard.number, game, data, f"open-{game}")
    table = Table(game, shard, world, evolve(None, opened), seq, Story(game, [data]))
    table.start()
    return table


async def ask(table: Table, what: Ask) -> Outcome:
    """Submits and waits; refusals are returned."""
    future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
    table.submit(Work(what, future.set_result))
    async with asyncio.timeout(10):
        return await future


_refs = itertools.count(1)


def act(table_or_state: Table | State, player: str, action: str, **fields: Any) -> Play:
    """A play at the current version."""
    state = table_or_state.state if isinstance(table_or_state, Table) else table_or_state
    return Play(
        player,
        fields.pop("ref", f"t{next(_refs)}"),
        fields.pop("version", state.version),
        action,
        fields.pop("cell", None),
        fields.pop("tile", None),
        fields.pop("lag_ms", 0),
    )


def mover(state: State) -> str:
    """Player id of who is to move."""
    to_move = state.to_move
    assert to_move is not None
    return state.table.player(to_move).id


def good_place(state: State) -> dict[str, Any]:
    """Cell and tile of a placement by the mover that hits, if its hand allows one; else one that misses."""
    to_move = state.to_move
    assert to_move is not None
    field_ = state.table.field
    hand = state.position.hands[to_move]
    empty = [c for c in range(field_.geometry.cells) if not (field_.givens | state.position.solved) >> c & 1]
    for cell in empty:
        if field_.solution[cell] in hand:
            return {"cell": field_.geometry.names[cell], "tile": field_.solution[cell]}
    return {"cell": field_.geometry.names[empty[0]], "tile": hand[0]}


def reason(outcome: Outcome) -> str:
    """Why something was refused."""
    assert isinstance(outcome, Rejected), outcome
    return str(outcome.reason)


async def others_turn() -> None:
    """Lets everybody else who is ready have the loop once."""
    loop = asyncio.get_running_loop()
    turn: asyncio.Future[None] = loop.create_future()
    loop.call_soon(turn.set_result, None)
    await turn
