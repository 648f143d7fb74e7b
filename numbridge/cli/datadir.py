"""The data folder of a cluster on one machine.

DIR/lock            held by the running `numbridge up`
DIR/cluster.json    where the running cluster is; gone when it has ended
DIR/token.key       signs players' tokens; made once, readable by its owner alone
DIR/trust           certificates and passwords of a cluster started with --secure
DIR/nats, DIR/redis, DIR/numbridge.db
DIR/logs/NAME.log   of this start; NAME.log.1 of the one before, or what was too long
"""

import fcntl
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from numbridge.cli.errors import UsageError

LOG_LIMIT_BYTES = 32 * 1024 * 1024  # beyond it the older part of a log goes to NAME.log.1


def default_root() -> Path:
    """$XDG_DATA_HOME/numbridge, or ~/.local/share/numbridge: the same from every folder."""
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "numbridge"


@dataclass(frozen=True, slots=True)
class Process:
    """A process of a running cluster, as cluster.json shows it."""

    name: str
    kind: str  # nats, redis, ratings, table, lobby, gateway or bot
    pid: int | None  # None while it is being restarted
    port: int | None = None  # where it serves: gRPC, HTTP, NATS or Redis
    metrics_port: int | None = None
    url: str | None = None  # a gateway's own address


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """What other commands need to find a running cluster."""

    pid: int  # of `numbridge up`
    url: str  # what players open
    nats_url: str
    redis_url: str
    database_url: str
    lobby_addr: str
    ratings_addr: str
    token_key_file: str
    trust: str = ""  # folder of certificates, where the cluster's insides know each other by them
    processes: list[Process] = field(default_factory=list)

    @classmethod
    def parse(cls, text: str) -> "ClusterInfo":
        """Reads what `DataDir.write` wrote. Raises ValueError, KeyError or TypeError on anything else."""
        body: dict[str, Any] = json.loads(text)
        body["processes"] = [Process(**process) for process in body["processes"]]
        return cls(**body)


class DataDir:
    """Paths in the folder, and what is kept there."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()
        self.nats = self.root / "nats"
        self.redis = self.root / "redis"
        self.database = self.root / "numbridge.db"
        self.key = self.root / "token.key"
        self.trust = self.root / "trust"
        self.logs = self.root / "logs"
        self._info = self.root / "cluster.json"
        self._lock = self.root / "lock"

    @contextmanager
    def claim(self) -> Iterator[None]:
        """Makes the folder and holds it for one cluster. Raises UsageError if another has it or it can't be made."""
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.logs.mkdir(exist_ok=True)
            lock = self._lock.open("a+")
        except OSError as error:
            raise UsageError(f"the data folder {self.root} can't be used: {error.strerror}") from None
        with lock:
            if not _locked(lock):
                running = self.running()
                by = f" (process {running.pid}, {running.url})" if running else ""
                raise UsageError(
                    f"{self.root} is in use by another `numbridge up`{by}; stop it, or give --data another folder"
                ) from None
            self._info.unlink(missing_ok=True)  # left by one that was killed
            try:
                yield
            finally:
                self._info.unlink(missing_ok=True)

    def running(self) -> ClusterInfo | None:
        """The cluster that runs in this folder now, if there is one and it has come up."""
        try:
            with self._lock.open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None  # nobody holds it: what cluster.json says, if anything, is of the past
        except FileNotFoundError:
            return None
        except BlockingIOError:
            pass
        try:
            return ClusterInfo.parse(self._info.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{self._info} can't be read: {error}") from None

    def write(self, info: ClusterInfo) -> None:
        """Says where the cluster is; readers see the old text or the new one, never a part."""
        fresh = self._info.with_suffix(".new")
        with _private(fresh) as out:
            json.dump(asdict(info), out, indent=1)
        fresh.replace(self._info)

    def signing_key(self) -> Path:
        """The key file, made if it is not there."""
        if not self.key.exists():
            fresh = self.key.with_suffix(".new")
            with _private(fresh) as out:
                out.write(secrets.token_urlsafe(48) + "\n")
            fresh.replace(self.key)
        return self.key

    def fresh_log(self, name: str) -> Path:
        """The path of a process's log, with the one of the last start moved aside."""
        path = self.logs / f"{name}.log"
        if path.exists():
            path.replace(path.with_suffix(".log.1"))
        return path

    def trim_logs(self) -> None:
        """Moves what is in a log aside once it is too long; its writer, who appends, goes on in the emptied file."""
        for path in self.logs.glob("*.log"):
            if path.stat().st_size > LOG_LIMIT_BYTES:
                shutil.copyfile(path, path.with_suffix(".log.1"))
                os.truncate(path, 0)


def _locked(lock: IO[str]) -> bool:
    """Takes the lock; a command that only looks whether it is free may hold it for an instant."""
    for _ in range(5):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.05)
        else:
            return True
    return False


@contextmanager
def _private(path: Path) -> Iterator[Any]:
    """A new text file that only its owner can read."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        yield out
