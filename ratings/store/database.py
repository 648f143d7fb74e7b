"""Connections and transactions.

SQLite: WAL, synchronous=FULL (a commit is on the disk before the acknowledgement that follows it), one
writer at a time by BEGIN IMMEDIATE. PostgreSQL: READ COMMITTED with row locks.
Every wait is bounded; what the drivers raise is translated here and nowhere else.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection, Table, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from ratings.ports import StoreAway, StoreRefused

CONNECTIONS = 8  # a replica's share of the database; who comes later waits, up to PATIENCE_S
PATIENCE_S = 5.0  # for a connection, a lock, a statement
DEADLINE_S = 10.0  # for a whole transaction

_WRITING = "numbridge_writing"

T = TypeVar("T")
P = ParamSpec("P")


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
        "keepalives_idle": 10,
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


def begin_sqlite(connection: Connection) -> None:
    """A writer takes the write lock at once: a read that turns into a write could not wait for it."""
    writing = connection.get_execution_options().get(_WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


class Database:
    """A bounded pool of connections to one database."""

    def __init__(self, url: str) -> None:
        """Connects to nothing yet. Raises ValueError for a URL of another kind."""
        parsed = parse_url(url)
        self.sqlite = parsed.get_backend_name() == "sqlite"
        self._engine = create_async_engine(
            parsed.set(drivername="sqlite+aiosqlite") if self.sqlite else parsed,
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_timeout=PATIENCE_S,
            pool_pre_ping=not self.sqlite,
            connect_args=connect_args(parsed),
        )
        self._writer = self._engine.execution_options(**{_WRITING: True})
        # SQLite's own queue is a poll without an order; within the process writers line up here.
        self._under_way: set[asyncio.Task[Any]] = set()
        self._turn: asyncio.Lock | nullcontext[None] = asyncio.Lock() if self.sqlite else nullcontext()
        if self.sqlite:
            event.listen(self._engine.sync_engine, "connect", prepare_sqlite)
            event.listen(self._engine.sync_engine, "begin", begin_sqlite)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection in a transaction that changes nothing. Raises StoreAway."""
        with _translated():
            async with asyncio.timeout(DEADLINE_S), self._engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def write(self, deadline_s: float = DEADLINE_S) -> AsyncIterator[AsyncConnection]:
        """A transaction: committed at the end, rolled back on an exception. Raises StoreAway, StoreRefused."""
        with _translated():
            async with asyncio.timeout(deadline_s), self._turn, self._writer.begin() as connection:
                yield connection

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs `work` to its end, also when the caller is cancelled meanwhile: its own deadline bounds it.

        A driver that is cut off in the middle of a statement has to throw its connection away.
        """
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may be there any more to hear of it

    async def ping(self) -> bool:
        """Whether the database answers now."""
        return await self.finish(self._ping())

    async def _ping(self) -> bool:
        try:
            async with self.read() as connection:
                await connection.execute(text("SELECT 1"))
        except StoreAway:
            return False
        return True

    async def close(self) -> None:
        """Lets transactions under way end, and closes every connection."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=DEADLINE_S)
        await self._engine.dispose()


class _Store(Protocol):
    _database: Database


S = TypeVar("S", bound=_Store)


def uninterrupted(
    method: Callable[Concatenate[S, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """A method whose work on the database goes on to its end whatever becomes of the caller."""

    @wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.finish(method(self, *args, **kwargs))

    return call


@contextmanager
def _translated() -> Iterator[None]:
    """Drivers' errors as ours."""
    try:
        yield
    except DataError as error:
        raise StoreRefused(str(error.orig)) from error
    except DBAPIError as error:
        raise StoreAway(f"{type(error.orig).__name__}: {error.orig}") from error
    except (PoolTimeout, TimeoutError, OSError) as error:
        raise StoreAway(f"{type(error).__name__}: {error}") from error


def insert(connection: AsyncConnection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT that knows ON CONFLICT, in the connection's dialect."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)
