"""The pages of docs/operations, followed to the letter by a newcomer in an empty folder; games go on meanwhile.

WALK=all (`make walk`) follows all of them, some thirty processes; without it those that bring a club up and back.
"""

import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from numbridge.local_servers import free_port, nats_binary, redis_binary
from tests.helpers.client import club as open_club
from tests.helpers.shell import Shell, blocks, shell

PAGES = Path(__file__).parents[2] / "docs" / "operations"
ALL = os.environ.get("WALK") == "all"
PORTS = ("4222", "6379", "7100", "7200", "8080", "9101", "9102", "9103", "9104", "9105", "9106")


@pytest.fixture
def ports() -> dict[str, str]:
    """The pages' ports, and free ones in their place."""
    return {port: str(free_port()) for port in PORTS}


@pytest_asyncio.fixture
async def newcomer(tmp_path: Path, ports: dict[str, str]) -> AsyncIterator[Shell]:
    """Somebody with an empty folder and the programs that the page asks for."""
    programs, work = tmp_path / "bin", tmp_path / "club"
    programs.mkdir()
    work.mkdir()
    (programs / "numbridge").write_text(f'#!/bin/sh\nexec {sys.executable} -m numbridge.cli.main "$@"\n')
    (programs / "numbridge").chmod(0o755)
    (programs / "python3").symlink_to(shutil.which("python3") or sys.executable)
    (programs / "nats-server").symlink_to(nats_binary())
    (programs / "valkey-server").symlink_to(redis_binary())
    env = {
        "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path), "PYTHONPATH": str(PAGES.parents[1]),
        "NUMBRIDGE_PORT": ports["8080"], "NUMBRIDGE_SHARDS": "32",
    }  # fmt: skip
    async with shell(work, env, ports) as started:
        yield started


async def follow(newcomer: Shell, page: str) -> None:
    """Runs every block of a page."""
    for block in blocks(PAGES / f"{page}.md"):
        await newcomer.run(block)


@pytest.mark.timeout(480)
async def test_a_newcomer_runs_a_club_and_brings_it_back(newcomer: Shell, ports: dict[str, str]) -> None:
    """1. started, a worker drained; 2. one game ends, one goes on (through scaling, new keys and an upgrade); 3. backup
    and restore: the first is in the archive, the second is where it was (4. the disasters); 5. a new game ends.
    """
    await follow(newcomer, "by-hand")
    async with open_club(f"http://127.0.0.1:{ports['8080']}") as club:
        ended, blue, _ = await club.seat("study")
        await blue.play(ended, "resign")
        going, ada, bob = await club.seat("study")
        started = await ada.join(going)
        for page in ("scaling", "keys", "upgrade") if ALL else ():
            await follow(newcomer, page)
        archived = 'until numbridge archive export 2> /dev/null | grep -q "$game"; do sleep 0.2; done'
        await newcomer.run(f"game={ended}; {archived}")
        await follow(newcomer, "backup")
        assert (await newcomer.run("cat backup/games.ndjson")).count(ended) == 1
        assert ended in await newcomer.run("numbridge archive export 2> /dev/null")
        # Tokens of before the keys were changed are good no more: both come as the club's own players would.
        for player in (ada, bob):
            player.token = (await newcomer.run(f"numbridge token --player {player.id}")).strip()
        there = await (await club.again(ada)).join(going)
        assert there["version"] == started["version"]
        assert there["view"]["field"] == started["view"]["field"]
        await (await club.again(bob)).join(going)
        if ALL:
            await follow(newcomer, "recovery")
            assert ended in await newcomer.run("numbridge archive export 2> /dev/null")
        late, blue, _ = await club.seat("study")
        await blue.play(late, "resign")
        await newcomer.run(f"game={late}; {archived}")
