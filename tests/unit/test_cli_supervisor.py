"""Processes of a cluster: started in stages, restarted when they die, stopped in order, and never left behind."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from numbridge.cli import child as children
from numbridge.cli import supervisor as supervising
from numbridge.cli.child import Child
from numbridge.cli.errors import CheckFailed, UsageError
from numbridge.cli.plan import Kind, Spec
from numbridge.cli.supervisor import Supervisor
from numbridge.local_servers import free_port
from tests.helpers.eventually import eventually

SERVICE = """
import http.server, os, signal, sys
def end(*_):
    print("drained", flush=True)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"ok": true, "failing": []}')
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Ready).serve_forever()
"""
DEAF = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('deaf', flush=True)\ntime.sleep(600)"


class Cluster:
    """Children, and what the supervisor says of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.children: list[Child] = []
        self.said: list[str] = []
        self.warned: list[str] = []
        self.changes = 0
        self.supervisor: Supervisor | None = None

    def add(self, name: str, kind: Kind, script: str = SERVICE, *, serves: bool = True) -> Child:
        port = free_port() if serves else None
        argv = [sys.executable, "-c", script, str(port)]
        spec = Spec(name=name, kind=kind, argv=argv, env=dict(os.environ), metrics_port=port)
        self.children.append(Child(spec, self.folder / f"{name}.log"))
        return self.children[-1]

    def _changed(self) -> None:
        self.changes += 1

    async def start(self) -> Supervisor:
        self.supervisor = Supervisor(self.children, self.said.append, self.warned.append, self._changed)
        await self.supervisor.start()
        return self.supervisor

    def names(self, word: str) -> list[str]:
        return [part for line in self.said if word in line for part in line.split() if part[-1].isdigit()]


@pytest_asyncio.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    if made.supervisor is not None:
        force = asyncio.Event()
        force.set()
        await made.supervisor.stop(0.1, force)
    assert all(child.pid is None for child in made.children)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervising, "_BACKOFF_S", (0.01,))


def gone(pid: int) -> Callable[[], bool]:
    def check() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    return check


async def test_stages_come_one_after_the_other_and_stops_in_the_other_order(cluster: Cluster) -> None:
    for name, kind in (("gateway-1", "gateway"), ("bot-1", "bot"), ("table-1", "table"), ("ratings-1", "ratings")):
        cluster.add(name, kind)  # type: ignore[arg-type]
    supervisor = await cluster.start()
    ready = [line.split()[2] for line in cluster.said]
    assert set(ready[:3]) == {"gateway-1", "table-1", "ratings-1"}
    assert ready[3] == "bot-1"
    assert await supervisor.stop(10, asyncio.Event())
    stopped = [line.split()[0] for line in cluster.said if "stopped" in line]
    assert stopped == ["bot-1", "gateway-1", "table-1", "ratings-1"]
    assert cluster.warned == []
    assert (cluster.folder / "table-1.log").read_text() == "drained\n"


async def test_a_killed_child_is_started_again_loudly(cluster: Cluster, quick: None) -> None:
    child = cluster.add("gateway-1", "gateway")
    await cluster.start()
    first = child.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await eventually(lambda: any("ready again" in line for line in cluster.said))
    assert child.pid not in (None, first)
    assert "gateway-1 was killed by signal 9" in cluster.warned[0]
    assert cluster.changes >= 3  # ready, gone, ready again


async def test_a_gateway_that_ends_by_itself_is_started_again_too(cluster: Cluster, quick: None) -> None:
    child = cluster.add("gateway-1", "gateway")
    await cluster.start()
    assert child.process is not None
    child.process.terminate()
    await eventually(lambda: any("ready again" in line for line in cluster.said))
    assert "ended with exit code 0" in cluster.warned[0]


async def test_a_worker_that_was_drained_begins_anew_and_nobody_is_warned(cluster: Cluster, quick: None) -> None:
    child = cluster.add("table-1", "table")
    supervisor = await cluster.start()
    first = child.pid
    assert child.process is not None
    child.process.terminate()
    await eventually(lambda: any("ready again" in line for line in cluster.said))
    assert any("table-1 has drained" in line for line in cluster.said)
    assert child.pid not in (None, first)
    assert cluster.warned == []
    assert await supervisor.stop(10, asyncio.Event())


async def test_one_that_never_gets_ready_ends_the_cluster_after_some_tries(cluster: Cluster, quick: None) -> None:
    cluster.add("lobby-1", "lobby", "import sys; sys.exit('no way to Redis')")
    with pytest.raises(CheckFailed, match=r"lobby-1 failed to start 5 times in a row.*no way to Redis"):
        await cluster.start()
    assert len(cluster.warned) == supervising.FAILED_STARTS - 1


async def test_wrong_settings_end_the_cluster_at_once_with_what_is_wrong(cluster: Cluster) -> None:
    cluster.add("lobby-1", "lobby", "import sys; print('NUMBRIDGE_X is odd', file=sys.stderr); sys.exit(2)")
    with pytest.raises(UsageError, match=r"lobby-1 can't start: NUMBRIDGE_X is odd"):
        await cluster.start()
    assert cluster.warned == []


async def test_one_that_runs_but_is_never_ready_has_failed(
    cluster: Cluster, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervising, "START_S", 0.2)
    monkeypatch.setattr(supervising, "FAILED_STARTS", 2)
    cluster.add("lobby-1", "lobby", DEAF)
    with pytest.raises(CheckFailed, match="lobby-1 failed to start 2 times"):
        await cluster.start()
    assert "is not ready after" in cluster.warned[0]


async def test_one_that_keeps_dying_after_the_start_fails_the_cluster(cluster: Cluster, quick: None) -> None:
    marker = cluster.folder / "once"
    once = f"import os, sys\nif os.path.exists({str(marker)!r}): sys.exit(3)\nopen({str(marker)!r}, 'w').close()\n"
    child = cluster.add("lobby-1", "lobby", once + SERVICE)
    supervisor = await cluster.start()
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    async with asyncio.timeout(20):
        with pytest.raises(CheckFailed, match="lobby-1 failed to start"):
            await supervisor.failed()


async def test_one_that_does_not_stop_is_killed_and_said_so(cluster: Cluster) -> None:
    child = cluster.add("bot-1", "bot", DEAF, serves=False)
    supervisor = await cluster.start()
    await eventually(lambda: child.last_words() == "deaf")
    assert not await supervisor.stop(0.1, asyncio.Event())
    assert "bot-1 did not stop within" in cluster.warned[0]
    assert child.pid is None


async def test_force_kills_everything_at_once(cluster: Cluster) -> None:
    for number in (1, 2):
        cluster.add(f"bot-{number}", "bot", DEAF, serves=False)
    supervisor = await cluster.start()
    await eventually(lambda: all(child.last_words() == "deaf" for child in cluster.children))
    force = asyncio.Event()
    stopping = asyncio.create_task(supervisor.stop(600, force))
    force.set()
    async with asyncio.timeout(10):
        assert not await stopping
    assert all(child.pid is None for child in cluster.children)


async def test_a_stop_in_the_middle_of_the_start_leaves_nothing(cluster: Cluster) -> None:
    child = cluster.add("lobby-1", "lobby", DEAF)
    supervisor = cluster.supervisor = Supervisor(
        cluster.children, cluster.said.append, cluster.warned.append, cluster._changed
    )
    starting = asyncio.create_task(supervisor.start())
    await eventually(lambda: child.pid is not None)
    pid = child.pid
    assert pid is not None
    starting.cancel()
    await supervisor.stop(0.1, asyncio.Event())
    await eventually(gone(pid))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_children_die_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    parent = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from numbridge.cli.child import Child\n"
        "from numbridge.cli.plan import Spec\n"
        "async def main():\n"
        f"    spec = Spec(name='x', kind='bot', argv=[sys.executable, '-c', {DEAF!r}], env=dict(os.environ))\n"
        f"    child = Child(spec, Path({str(tmp_path)!r}) / 'x.log')\n"
        "    await child.start()\n"
        "    print(child.pid, flush=True)\n"
        "    await child.wait()\n"
        "asyncio.run(main())\n"
    )
    process = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()
    asyncio.run(eventually(gone(pid)))


async def test_the_last_words_of_a_child_are_short(tmp_path: Path) -> None:
    spec = Spec(name="x", kind="bot", argv=[], env={})
    child = Child(spec, tmp_path / "x.log")
    assert child.last_words() == ""
    child.log.write_text("first\n" + "y" * (2 * children._TAIL_BYTES) + "end\n\n")
    assert child.last_words().endswith("yend")
    assert len(child.last_words()) <= 300
