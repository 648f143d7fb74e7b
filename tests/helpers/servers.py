"""Private real servers for tests: started on free ports in a temporary folder, stopped at the end.

nats, redis      fixtures: one server each a test session and process
nats_url, redis_url
clean_nats       the NATS URL with every stream and bucket gone
clean_redis      the Redis URL, emptied
postgres_url     an empty database of a private PostgreSQL
"""

import asyncio
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import nats
import pytest
import pytest_asyncio
from nats.js.api import StreamInfo

from numbridge import redis_io
from numbridge.local_servers import LocalServer, bound, free_port, nats_server, redis_server


def _run(server: LocalServer) -> None:
    """Starts a server outside of any test's event loop."""
    process = subprocess.Popen(
        bound(server.argv), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    server.__dict__["popen"] = process

    async def up() -> None:
        async with asyncio.timeout(15):
            while not await server._accepts():
                if process.poll() is not None:
                    raise RuntimeError(f"{server.argv[0]} ended with {process.returncode}")
                await asyncio.sleep(0.02)

    asyncio.run(up())


def _end(server: LocalServer) -> None:
    process: subprocess.Popen[bytes] = server.__dict__["popen"]
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def nats_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real nats-server with JetStream, shared by this process's tests."""
    server = nats_server(tmp_path_factory.mktemp("nats"), sync="2m")
    _run(server)
    yield f"nats://127.0.0.1:{server.port}"
    _end(server)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Valkey or Redis, shared by this process's tests."""
    server = redis_server(tmp_path_factory.mktemp("redis"))
    _run(server)
    yield f"redis://127.0.0.1:{server.port}/0"
    _end(server)


@pytest_asyncio.fixture
async def clean_nats(nats_url: str) -> AsyncIterator[str]:
    """The server without streams, buckets and consumers of an earlier test."""
    client = await nats.connect(nats_url)
    js = client.jetstream()
    found: list[StreamInfo] = await js.streams_info()
    for info in found:
        await js.delete_stream(str(info.config.name))
    await client.close()
    yield nats_url


@pytest_asyncio.fixture
async def clean_redis(redis_url: str) -> AsyncIterator[str]:
    """The server, emptied."""
    client = redis_io.connect(redis_url)
    await client.flushall()
    await client.aclose()
    yield redis_url


def _postgres_bin() -> Path | None:
    """Folder of the newest PostgreSQL's programs, Debian's or on PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    if versions:
        return versions[-1]
    initdb = shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


def _as_postgres() -> list[str]:
    """What to put before its commands: they end with this process (where setpriv is there, as on Debian), and run as
    the user that Debian's package brings, for PostgreSQL refuses to run as root."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return []
    user = ["--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.geteuid() == 0 else []
    return [setpriv, *user, "--pdeathsig", "KILL"]


class Postgres:
    """A private PostgreSQL, which a test may stop and start."""

    def __init__(self) -> None:
        """Makes its data. Skips the test visibly where there is no PostgreSQL."""
        binaries = _postgres_bin()
        if binaries is None:
            pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
        self._binaries = binaries
        self._as_postgres = _as_postgres()
        self._base = Path("/tmp") / f"numbridge-pg-{secrets.token_hex(4)}"  # short: a socket's path has a limit
        self._base.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(self._base, "postgres", "postgres")
        self._port = free_port()
        self._server: subprocess.Popen[bytes] | None = None
        data = self._base / "data"
        made = self._run("initdb", "-D", data, "-A", "trust", "-U", "numbridge", "-E", "UTF8", "--locale=C.UTF-8", "-N")
        assert made.wait(60) == 0

    @property
    def url(self) -> str:
        """Without a database."""
        return f"postgresql://numbridge@127.0.0.1:{self._port}"

    def _run(self, program: str, *args: str | Path) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [*self._as_postgres, str(self._binaries / program), *map(str, args)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._base,
            start_new_session=True,
        )

    def start(self) -> None:
        """Returns once it takes connections."""
        options = ("-c", "listen_addresses=127.0.0.1", "-c", "fsync=off")
        server = self._run("postgres", "-D", self._base / "data", "-p", str(self._port), "-k", self._base, *options)
        self._server = server
        deadline = time.monotonic() + 30
        while self._run("pg_isready", "-h", "127.0.0.1", "-p", str(self._port)).wait(10) != 0:
            assert server.poll() is None, "PostgreSQL ended at once"
            assert time.monotonic() < deadline, "PostgreSQL did not come up"
            time.sleep(0.1)

    def stop(self) -> None:
        """Open connections are cut; the data stays."""
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait(20)
            self._server = None

    def remove(self) -> None:
        """Stops it, and its data is gone."""
        self.stop()
        shutil.rmtree(self._base, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Base URL (without a database) of a private PostgreSQL; skips visibly where there is none."""
    server = Postgres()
    server.start()
    yield server.url
    server.remove()


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """An empty database of its own."""
    import psycopg

    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield f"{postgres_server}/{name}"
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
