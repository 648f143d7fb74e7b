"""Servers that a cluster uses and does not supervise: a test takes them away for as long as it likes."""

import asyncio
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numbridge.local_servers import LocalServer, bound, nats_server, redis_server
from tests.helpers.cluster import Cluster, running


async def stays_away(since: float, seconds: float) -> None:
    """Lets an absence last for so long, counted from `since` on the monotonic clock."""
    await asyncio.sleep(max(0.0, since + seconds - time.monotonic()))


class Outside:
    """One of them."""

    def __init__(self, server: LocalServer) -> None:
        self._server = server
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        return self._server.port

    def start(self) -> None:
        """Returns once it listens."""
        self._server.log.parent.mkdir(parents=True, exist_ok=True)
        with self._server.log.open("ab") as out:
            self._process = subprocess.Popen(
                bound(self._server.argv), stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True
            )
        end = time.monotonic() + 15
        while not self._listens():
            if time.monotonic() > end or self._process.poll() is not None:
                raise AssertionError(f"{self._server.argv[0]} did not come up")
            time.sleep(0.02)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        """It is away, its data stays."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


class Served(Cluster):
    """A cluster and its servers."""

    nats: Outside
    redis: Outside

    @property
    def redis_url(self) -> str:
        return f"redis://127.0.0.1:{self.redis.port}/0"


@contextmanager
def served(folder: Path, *args: str, database_url: str = "") -> Iterator[Served]:
    """A running cluster on NATS and Redis of its own, in `folder`; `database_url`: instead of SQLite there."""
    nats, redis = Outside(nats_server(folder / "nats")), Outside(redis_server(folder / "redis"))
    for server in (nats, redis):
        server.start()
    env = {
        "NUMBRIDGE_NATS_URL": f"nats://127.0.0.1:{nats.port}",
        "NUMBRIDGE_REDIS_URL": f"redis://127.0.0.1:{redis.port}/0",
    }
    if database_url:
        env["NUMBRIDGE_DATABASE_URL"] = database_url
    try:
        with running(folder / "data", *args, env=env) as cluster:
            found = Served(cluster.process, cluster.data, cluster.url, cluster.urls)
            found.nats, found.redis = nats, redis
            yield found
    finally:
        for server in (nats, redis):
            server.kill()
