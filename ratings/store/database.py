"""Connections and transactions.

A transaction is an ordinary function on an ordinary connection, run in a thread of a small pool: one hop a
transaction. SQLAlchemy's asyncio layer makes one a statement, which cost twice the CPU and four times
the latency when both were measured on the same ledger.

SQLite: WAL, synchronous=FULL (a commit is on the disk before the acknowledgement that follows it), one
writer at a time by BEGIN IMMEDIATE. PostgreSQL: READ COMMITTED with row locks.
Every wait is bounded; what the drivers raise is translated here and nowhere else.
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from ratings.ports import StoreAway, StoreRefused

CONNECTIONS = 8  # a replica's share of the database; who comes later waits, up to PATIENCE_S
PATIENCE_S = 5.0  # for a free connection, a lock, a statement
DEADLINE_S = 10.0  # for a whole transaction; then nobody waits for it, and it ends by itself

_WRITING = "numbridge_writing"

T = TypeVar("T")
Work = Callable[[Connection], T]


def parse_url(url: str) -> URL:
    """`sqlite:///file` or `postgresql://…`, without or with a driver. Raises ValueError for anything else."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ValueError("is not a database URL") from None
    backend = parsed.drivername.partition("+")[0]
    if backend == "sqlite":
        if not parsed.database or parsed.database == ":memory:":
            raise ValueError("names no file: a database in memory would not outlive the process")
        return parsed.set(drivername="sqlite")
    if backend in ("postgres", "postgresql"):
        return parsed.set(drivername="postgresql+psycopg")
    raise ValueError("must begin with sqlite:/// or postgresql://")


def connect_args(url: URL) -> dict[str, Any]:
    """Driver arguments that bound every wait."""
    if url.get_backend_name() == "sqlite":
        return {"timeout": PATIENCE_S}
    patience_ms = int(PATIENCE_S * 1000)
    return {
        "connect_timeout": 3,
        # A server that has vanished without a word is noticed within ten seconds.
        "keepalives_idle": 4,
        "keepalives_interval": 2,
        "keepalives_count": 2,
        "tcp_user_timeout": patience_ms,
        "options": f"-c statement_timeout={patience_ms} -c lock_timeout={patience_ms}",
    }


def make_folder(url: URL) -> None:
    """Makes the folder of an SQLite file. Raises OSError."""
    if url.get_backend_name() == "sqlite" and url.database:
        Path(url.database).expanduser().parent.mkdir(parents=True, exist_ok=True)


def prepare_sqlite(connection: Any, _record: Any) -> None:
    """Pragmas of a fresh SQLite connection; transactions are begun by hand, for the driver begins too late."""
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={int(PATIENCE_S * 1000)}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes the write lock at once: a read that turns into a write could not wait for it."""
    writing = connection.get_execution_options().get(_WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def translated() -> Iterator[None]:
    """Drivers' errors as ours: StoreRefused for a value, StoreAway for everything else."""
    try:
        yield
    except DataError as error:
        raise StoreRefused(_line(error.orig)) from error
    except DBAPIError as error:
        raise StoreAway(_line(error.orig)) from error
    except (PoolTimeout, OSError) as error:
        raise StoreAway(_line(error)) from error


def _line(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


class Lane:
    """A few threads. A place is free again when its transaction has ended, not when somebody gave up on it."""

    def __init__(self, name: str, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._places = asyncio.Semaphore(threads)
        self._under_way: set[asyncio.Future[Any]] = set()

    async def run(self, work: Callable[[], T], deadline_s: float) -> T:
        """`work` in a thread, to its end also when the caller is cancelled. Raises StoreAway."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._places.acquire()
        except TimeoutError:
            raise StoreAway("every connection is busy") from None
        running = asyncio.get_running_loop().run_in_executor(self._threads, work)
        self._under_way.add(running)
        running.add_done_callback(self._ended)
        try:
            async with asyncio.timeout(deadline_s):
                return await asyncio.shield(running)
        except TimeoutError:
            raise StoreAway(f"no answer within {deadline_s} s") from None

    def _ended(self, running: "asyncio.Future[Any]") -> None:
        self._under_way.discard(running)
        self._places.release()
        if not running.cancelled():
            running.exception()  # nobody may be there any more to hear of it

    async def close(self) -> None:
        """Lets transactions under way end, for a while."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=DEADLINE_S)
        self._threads.shutdown(wait=False)


class Database:
    """A bounded pool of connections to one database. Create it inside the running loop."""

    def __init__(self, url: str) -> None:
        """Connects to nothing yet. Raises ValueError for a URL of another kind."""
        parsed = parse_url(url)
        sqlite = parsed.get_backend_name() == "sqlite"
        self._engine: Engine = create_engine(
            parsed,
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_timeout=PATIENCE_S,
            pool_pre_ping=not sqlite,
            connect_args=connect_args(parsed),
        )
        self._writer = self._engine.execution_options(**{_WRITING: True})
        if sqlite:
            event.listen(self._engine, "connect", prepare_sqlite)
            event.listen(self._engine, "begin", _begin_sqlite)
            # SQLite lets one write at a time, and its own queue is a poll without an order.
            self._writes = Lane("sql-write", 1)
            self._reads = Lane("sql-read", CONNECTIONS - 1)
        else:
            self._reads = self._writes = Lane("sql", CONNECTIONS)

    async def read(self, work: Work[T]) -> T:
        """What `work` answers, in a transaction that changes nothing. Raises StoreAway."""

        def transaction() -> T:
            with translated(), self._engine.connect() as connection:
                return work(connection)

        return await self._reads.run(transaction, DEADLINE_S)

    async def write(self, work: Work[T], deadline_s: float = DEADLINE_S) -> T:
        """What `work` answers, committed; rolled back if it raises. Raises StoreAway, StoreRefused."""

        def transaction() -> T:
            with translated(), self._writer.begin() as connection:
                return work(connection)

        return await self._writes.run(transaction, deadline_s)

    async def ping(self) -> bool:
        """Whether the database answers now."""
        try:
            await self.read(lambda connection: connection.execute(text("SELECT 1")).scalar_one())
        except StoreAway:
            return False
        return True

    async def close(self) -> None:
        """Lets transactions under way end, and closes every connection."""
        for lane in {self._reads, self._writes}:
            await lane.close()
        self._engine.dispose()
