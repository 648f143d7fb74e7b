"""A whole cluster as an operator would start it: `numbridge up` with real processes on free ports."""

import atexit
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from numbridge.local_servers import bound


@dataclass
class Cluster:
    """A running cluster. `urls` are the gateways' own addresses, `url` the one they share."""

    process: "subprocess.Popen[str]"
    data: Path
    url: str
    urls: list[str]

    def facts(self) -> dict[str, Any]:
        """What the cluster says of itself (cluster.json)."""
        facts: dict[str, Any] = json.loads((self.data / "cluster.json").read_text())
        return facts

    def pid(self, name: str) -> int:
        """Process id of one of its processes now; it changes when the process was restarted."""
        return next(int(entry["pid"]) for entry in self.facts()["processes"] if entry["name"] == name)

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> None:
        """Sends a signal to one process."""
        os.kill(self.pid(name), number)

    def logs(self, count: int = 4000) -> str:
        """The end of every log, for a failed test's report."""
        paths = sorted((self.data / "logs").glob("*.log"))
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-count:]}" for path in paths)


@contextmanager
def running(data: Path, *args: str, env: dict[str, str] | None = None) -> Iterator[Cluster]:
    """Starts `numbridge up --data DATA ARGS…`, waits until it says that it is up, and drains it at the end.

    NUMBRIDGE_TEST_UP holds arguments for every cluster that tests start, as `--secure`; with NUMBRIDGE_TEST_DB=postgres
    each has a database of its own in a PostgreSQL instead of a file.
    """
    args = (*os.environ.get("NUMBRIDGE_TEST_UP", "").split(), *_database(data), *args)
    argv = [sys.executable, "-m", "numbridge.cli.main", "up", "--port", "0", "--data", str(data), *args]
    process = subprocess.Popen(
        bound(argv), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **(env or {})},
        start_new_session=True,
    )  # fmt: skip
    said: list[str] = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if "Numbridge is up" in line:
                break
        else:
            raise AssertionError("the cluster did not come up:\n" + "".join(said))
        facts = json.loads((data / "cluster.json").read_text())
        urls = [entry["url"] for entry in facts["processes"] if entry["url"]]
        yield Cluster(process, data, facts["url"], urls)
    finally:
        stop(process)


def _database(data: Path) -> tuple[str, ...]:
    """A cluster that comes back to its folder finds its database there too."""
    if os.environ.get("NUMBRIDGE_TEST_DB", "sqlite") != "postgres":
        return ()
    import psycopg

    name = "up_" + hashlib.sha256(str(data).encode()).hexdigest()[:12]
    with psycopg.connect(f"{_postgres()}/postgres", autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone() is None:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return "--postgres", f"{_postgres()}/{name}"


@cache
def _postgres() -> str:
    """The base URL of one server for all clusters of this run."""
    from tests.helpers.servers import Postgres

    server = Postgres()
    atexit.register(server.remove)
    server.start()
    return server.url


def stop(process: "subprocess.Popen[str]", timeout_s: float = 40) -> int:
    """Asks the cluster to end and waits; what does not end in time is killed."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    return process.returncode


def command(
    *args: str, timeout_s: float = 90.0, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Runs `numbridge ARGS…` to its end."""
    argv = [sys.executable, "-m", "numbridge.cli.main", *args]
    environment = {**os.environ, **(env or {})}
    return subprocess.run(argv, capture_output=True, text=True, timeout=timeout_s, check=False, env=environment)


def arguments(rooms: Path | None = None, **options: int) -> Sequence[str]:
    """Command line arguments: `arguments(rooms, workers=2, gateways=2)`."""
    args = [] if rooms is None else ["--rooms", str(rooms)]
    for name, value in options.items():
        args += [f"--{name}", str(value)]
    return args
