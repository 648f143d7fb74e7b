"""A short run of the chaos: some faults of several kinds under load, and the whole audit."""

from pathlib import Path

import pytest

from tests.chaos.run import ROOMS, Wishes, run
from tests.helpers.cluster import arguments, running


@pytest.mark.timeout(400)
async def test_nothing_is_lost_or_doubled_under_faults(tmp_path: Path) -> None:
    said: list[str] = []
    with running(tmp_path / "data", *arguments(ROOMS, workers=3, gateways=2)) as cluster:
        report = await run(cluster, Wishes(seconds=30, seed=1074, players=12, watchers=2), said.append)
        assert report.kept, "\n".join([*said, report.text(), cluster.logs()])
    assert len(report.faults) >= 4
    assert len({fault.kind for fault in report.faults}) == len(report.faults)
    assert report.games >= 6
    assert report.acknowledged
