"""One whole cluster for all system tests of a process: two workers, two gateways, real servers."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.helpers.client import Club
from tests.helpers.client import club as open_club
from tests.helpers.cluster import Cluster, arguments, running

ROOMS = Path(__file__).with_name("rooms.toml")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The cluster, with the limits that a club would have."""
    with running(tmp_path_factory.mktemp("cluster") / "data", *arguments(ROOMS, workers=2, gateways=2)) as up:
        yield up


@pytest_asyncio.fixture
async def club(cluster: Cluster) -> AsyncIterator[Club]:
    """The club as its guests see it; both gateways in turn."""
    async with open_club(*cluster.urls) as opened:
        yield opened
