"""What the tests of the SQL store share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, Executable, Row

from numbridge.tasks import attempts
from ratings.domain import FinishedGame, Recorded
from ratings.ports import StoreAway
from ratings.store.database import Database
from ratings.store.ledger import SqlLedger

DATABASES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    """A pool of connections of its own, as another replica has."""
    database = Database(url)
    try:
        yield database
    finally:
        await database.close()


async def record(database: Database, game: FinishedGame) -> Recorded:
    """As the consumer does: tried again while SQL is away, which a busy machine may make it look like."""
    async for _ in attempts(60):
        try:
            return await SqlLedger(database).record(game)
        except StoreAway:
            continue
    raise AssertionError("SQL stays away")


async def fetch(database: Database, query: Executable) -> list[Row[Any]]:
    """All rows of a query."""
    return await database.read(lambda connection: list(connection.execute(query)))


async def change(database: Database, *statements: Executable) -> None:
    """Somebody changes rows by hand."""

    def run(connection: Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    await database.write(run)
