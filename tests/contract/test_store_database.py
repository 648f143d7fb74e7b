"""Connections and transactions of the SQL store: what is on the disk, what is bounded, what is away."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import Connection

from ratings.ports import StoreAway
from ratings.store import migrate
from ratings.store.database import CONNECTIONS, Database, parse_url
from ratings.store.ledger import SqlLedger
from ratings.store.library import SqlLibrary
from ratings.store.schema import players
from tests.contract.stores import DATABASES, opened, record
from tests.helpers.eventually import eventually
from tests.unit.ratings.builders import T0, a_game


@pytest_asyncio.fixture(params=DATABASES)
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/ratings.sqlite3"
    else:
        url = str(request.getfixturevalue("postgres_url"))
    migrate(url)
    async with opened(url) as database:
        yield database


async def test_sqlite_commits_reach_the_disk(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ratings.sqlite3"
    migrate(url)
    async with opened(url) as database:
        names = ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
        values = await database.read(
            lambda connection: [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names]
        )
    assert values == ["wal", 2, 5000, 1]


async def test_sqlite_locked_by_another_process_is_away_for_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ratings.store.database.PATIENCE_S", 0.05)
    url = f"sqlite:///{tmp_path}/ratings.sqlite3"
    migrate(url)
    async with opened(url) as database:
        with closing(sqlite3.connect(tmp_path / "ratings.sqlite3", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreAway, match="locked"):
                await SqlLedger(database).record(a_game())
            other.execute("ROLLBACK")
        assert (await SqlLedger(database).record(a_game())).fresh


async def test_database_that_does_not_answer_is_away() -> None:
    async with opened("postgresql://numbridge@127.0.0.1:1/none") as database:
        assert not await database.ping()
        with pytest.raises(StoreAway):
            await SqlLibrary(database).best("bridge", 5)


async def test_caller_that_gives_up_does_not_cut_a_transaction_off(database: Database) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def slowly(connection: Connection) -> None:
        connection.execute(players.insert().values(id="ada", name="Ada", guest=False, created_at=T0))
        entered.set()
        assert go_on.wait(10)

    asking = asyncio.create_task(database.write(slowly))
    await asyncio.to_thread(entered.wait, 10)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    go_on.set()

    async def kept() -> bool:
        return await SqlLibrary(database).profile("ada") is not None

    await eventually(kept)


async def test_wait_for_a_transaction_is_bounded(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes too long is left to itself; while all places are taken so, others are refused in time."""
    monkeypatch.setattr("ratings.store.database.PATIENCE_S", 0.05)
    go_on = threading.Event()
    stuck = [database.write(lambda _: go_on.wait(30), deadline_s=0.05) for _ in range(CONNECTIONS + 3)]
    try:
        outcomes = await asyncio.gather(*stuck, return_exceptions=True)
    finally:
        go_on.set()
    assert [type(outcome) for outcome in outcomes] == [StoreAway] * len(stuck)
    assert "every connection is busy" in {str(outcome) for outcome in outcomes}

    async def free() -> bool:
        return await database.ping()

    await eventually(free)
    assert (await record(database, a_game())).fresh


@pytest.mark.parametrize("bad", ["mysql://x/y", "sqlite://", "sqlite:///:memory:", "nonsense"])
def test_urls_of_another_kind_are_refused(bad: str) -> None:
    with pytest.raises(ValueError, match=r"URL|file|begin"):
        parse_url(bad)
