"""What an operator asks of a cluster that runs: is all well, what goes on, which games were played."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.helpers.client import Club
from tests.helpers.cluster import Cluster, command
from tests.helpers.eventually import eventually


async def test_the_doctor_finds_a_healthy_cluster_healthy(cluster: Cluster) -> None:
    done = await asyncio.to_thread(command, "doctor", "--json", "--data", str(cluster.data))
    found = json.loads(done.stdout)
    assert [finding for finding in found if finding["level"] == "fail"] == []
    assert done.returncode == 0
    assert {"settings", "token key", "rooms", "disk", "nats", "TABLES", "RESULTS", "workers", "shards", "lobby",
            "ratings", "redis", "sql"} <= {finding["about"] for finding in found}  # fmt: skip


async def test_the_live_view_goes_on_until_it_is_interrupted(cluster: Cluster) -> None:
    argv = [sys.executable, "-m", "numbridge.cli.main", "status", "--watch", "--json", "--data", str(cluster.data)]
    process = await asyncio.create_subprocess_exec(*argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    async with asyncio.timeout(60):
        for _ in range(2):
            found = json.loads(await process.stdout.readline())
            assert len(found["workers"]) == 2
            assert found["moves_per_s"] >= 0
            assert sum(found["versions"]["numbridge"].values()) == 4
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
    assert errors == b""
    assert process.returncode == 0


async def test_a_finished_game_is_exported_and_replays(cluster: Cluster, club: Club, tmp_path: Path) -> None:
    game, blue, _ = await club.seat("study")
    await blue.play(game, "resign")
    out, record = tmp_path / "games.ndjson", tmp_path / "game.json"

    async def exported() -> bool:
        args = ("archive", "export", "--out", str(out), "--data", str(cluster.data))
        done = await asyncio.to_thread(command, *args)
        assert done.returncode == 0, done.stderr
        mine = [line for line in out.read_text().splitlines() if json.loads(line)["game"] == game]
        record.write_text("".join(mine))
        return len(mine) == 1

    await eventually(exported, timeout_s=30, every_s=0.2)
    replayed = await asyncio.to_thread(command, "replay", str(record))
    assert replayed.returncode == 0, replayed.stderr


async def test_a_move_is_found_by_its_ref_and_game_at_every_hop(cluster: Cluster, club: Club) -> None:
    game, blue, _ = await club.seat("study")
    ref = f"find-me-{game}"
    await blue.play(game, "resign", ref=ref)

    def hops() -> bool:
        found: dict[str, dict[str, Any]] = {}
        for path in (cluster.data / "logs").glob("*.log"):
            for line in path.read_text(encoding="utf-8").splitlines():
                if game in line and line.startswith("{"):
                    entry = json.loads(line)
                    found[f"{entry['service']} {entry['event']}"] = entry
        assert {"gateway play", "table play", "ratings result_recorded"} <= found.keys()
        for hop in ("gateway play", "table play"):
            entry = found[hop]
            assert (entry["game"], entry["ref"], entry["outcome"], entry["level"]) == (game, ref, "ok", "debug")
        assert found["gateway play"]["worker"] == found["table play"]["name"]
        return True

    await eventually(hops, timeout_s=30, every_s=0.2)
