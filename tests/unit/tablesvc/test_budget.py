"""Old frames are made again only so often; beyond it a viewer gets a fresh state, and nobody's move waits."""

from tablesvc.budget import Budget
from tablesvc.story import Story
from tablesvc.table import Table
from tablesvc.works import Accepted, Join, Joined
from tablesvc.world import World
from tests.helpers.memory_tables import Cluster
from tests.helpers.tables import act, ask, mover


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_budget_fills_up_again() -> None:
    clock = Seconds()
    budget = Budget(2, 10.0, clock)
    assert [budget.take() for _ in range(3)] == [True, True, False]
    clock.now = 0.1
    assert [budget.take() for _ in range(2)] == [True, False]
    clock.now = 100.0
    assert [budget.take() for _ in range(3)] == [True, True, False]


async def test_who_asks_for_old_frames_too_often_gets_a_state(table: Table, world: World) -> None:
    for _ in range(20):
        assert isinstance(await ask(table, act(table, mover(table.state), "exchange")), Accepted)
    clock = Seconds()
    world.remakes = Budget(3, 1.0, clock)
    answers = [await ask(table, Join("eve", 0, arrive=False)) for _ in range(5)]
    assert [isinstance(a, Joined) and len(a.frames) == 20 and a.state is None for a in answers] == [True] * 3 + [
        False
    ] * 2
    late = answers[-1]
    assert isinstance(late, Joined)
    assert late.state is not None
    assert late.version == table.state.version
    recent = await ask(table, Join("eve", table.state.version - 3, arrive=False))
    assert isinstance(recent, Joined)
    assert len(recent.frames) == 3, "what is still held costs nothing, and is not counted"
    clock.now = 1.0
    again = await ask(table, Join("eve", 0, arrive=False))
    assert isinstance(again, Joined)
    assert len(again.frames) == 20


async def test_a_rebuilt_tables_latest_frames_are_made_once(table: Table, cluster: Cluster) -> None:
    for _ in range(20):
        await ask(table, act(table, mover(table.state), "exchange"))
    rebuilt = Story(table.game, [message.data for _, message in cluster.messages if message.game == table.game])
    asked = 0

    def may() -> bool:
        nonlocal asked
        asked += 1
        return True

    version = table.state.version
    told = cluster.told(table.game, "watch")
    for _ in range(5):
        assert rebuilt.since(version - 3, version, "watch", may) == told[-3:]
    assert asked == 1
    assert rebuilt.since(0, version, "watch", may) == told
