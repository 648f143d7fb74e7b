"""A world on memory, with a clock moved by hand."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tablesvc.table import Table
from tablesvc.world import World
from tests.helpers.memory_tables import Cluster
from tests.helpers.tables import HandClock, OurShard, make_world, opened_table


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def shard() -> OurShard:
    return OurShard()


@pytest_asyncio.fixture
async def world(cluster: Cluster, clock: HandClock) -> AsyncIterator[World]:
    world = make_world(cluster, clock, answer_ms=300, append_timeout_ms=100)
    yield world
    world.clocks.stop()
    await world.tasks.close()


@pytest_asyncio.fixture
async def table(world: World, cluster: Cluster, shard: OurShard) -> Table:
    """A 6x6 game just made; nobody has come yet."""
    return opened_table(world, cluster, shard)
