"""One whole cluster for all system tests of a process: two workers, two gateways, real servers."""

from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.helpers.client import Club
from tests.helpers.client import club as open_club
from tests.helpers.cluster import Cluster, arguments, running

ROOMS = Path(__file__).with_name("rooms.toml")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The cluster, with the limits that a club would have, and logs that tell all they ever tell."""
    data, debug = tmp_path_factory.mktemp("cluster") / "data", {"NUMBRIDGE_LOG_LEVEL": "debug"}
    with running(data, *arguments(ROOMS, workers=2, gateways=2), env=debug) as up:
        yield up


@pytest_asyncio.fixture
async def club(cluster: Cluster) -> AsyncIterator[Club]:
    """The club as its guests see it; both gateways in turn."""
    async with open_club(*cluster.urls) as opened:
        yield opened


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """A failed test shows the end of its cluster's logs."""
    report = yield
    clusters = [value for value in getattr(item, "funcargs", {}).values() if isinstance(value, Cluster)]
    if report.failed and clusters:
        report.sections.append(("logs of the cluster", clusters[0].logs()))
    return report
