"""The archive as a stream: `numbridge archive export`, one record a line, oldest first.

A page of records is in memory at a time. What is written can be gone on with: the last whole line of a file names
the game after which the next export begins.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Connection, func, select, text

from numbridge.app import EXIT_FAILED, EXIT_OK, EXIT_USAGE
from numbridge.settings import SettingsError
from ratings.ports import StoreAway
from ratings.settings import RatingsSettings
from ratings.store.database import Database
from ratings.store.rows import unpack
from ratings.store.schema import games

PAGE = 100  # records read at once: a page is a few hundred kilobytes
MAX_LINE_BYTES = 16 * 1024 * 1024  # as long as a message inside the cluster may be
_PROGRESS_S = 1.0


class NoPlace(ValueError):
    """The place to go on from is not to be found; the text says why."""


async def pages(database: Database, after: str | None = None) -> AsyncIterator[list[bytes]]:
    """Records past the game `after`, in the order in which they were archived, as of now.

    A game that is archived meanwhile comes with the next export. Raises NoPlace, StoreAway.
    """
    horizon = await database.write(_horizon)
    last = 0 if after is None else await database.read(lambda connection: _place(connection, after))
    while last < horizon:
        low = last
        rows = await database.read(lambda connection, low=low: _page(connection, low, horizon))  # type: ignore[misc]
        if not rows:
            return
        yield [_line(record_z) for _, record_z in rows]
        last = rows[-1][0]


def _horizon(connection: Connection) -> int:
    """Up to here nothing is under way: what is not there now never comes.

    Numbers are drawn before a transaction commits, so on PostgreSQL a lower one may become visible after
    a higher one. Writers hold the table's lock from before they draw until they end; this waits for them.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE games IN SHARE MODE"))
    return connection.execute(select(func.max(games.c.seq))).scalar_one() or 0


def _place(connection: Connection, game: str) -> int:
    seq: int | None = connection.execute(select(games.c.seq).where(games.c.id == game)).scalar_one_or_none()
    if seq is None:
        raise NoPlace(f"the archive has no game {game!r}")
    return seq


def _page(connection: Connection, after: int, upto: int) -> list[tuple[int, bytes]]:
    query = (
        select(games.c.seq, games.c.record_z)
        .where(games.c.seq > after, games.c.seq <= upto)
        .order_by(games.c.seq)
        .limit(PAGE)
    )
    return [(row.seq, row.record_z) for row in connection.execute(query)]


def _line(record_z: bytes) -> bytes:
    """The record as it is archived, in one line."""
    record = unpack(record_z)
    if b"\n" in record:
        record = json.dumps(json.loads(record), ensure_ascii=False, separators=(",", ":")).encode()
    return record + b"\n"


def resume(path: Path) -> str | None:
    """Cuts a torn last line off, and returns the game of the line before it; None if the file has no line.

    Raises NoPlace if that line is no record, OSError.
    """
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MAX_LINE_BYTES))
        tail = file.read()
        whole = tail[: tail.rfind(b"\n") + 1]
        if size > len(tail) and whole.count(b"\n") < 2:
            raise NoPlace(f"{path} has no whole line near its end")
        last = whole[:-1].rsplit(b"\n", 1)[-1]
        game = _game_of(last, path) if last else None
        file.truncate(size - len(tail) + len(whole))
    return game


def _game_of(line: bytes, path: Path) -> str:
    try:
        body = json.loads(line)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("game"), str):
        raise NoPlace(f"the last line of {path} is no game record")
    return str(body["game"])


async def export(url: str, out: BinaryIO, after: str | None, progress: bool) -> tuple[int, int]:
    """Writes everything past `after`, page by page; games and bytes. Raises NoPlace, StoreAway, OSError."""
    database = Database(url)
    count = size = 0
    shown = time.monotonic()
    try:
        async for page in pages(database, after):
            for line in page:
                out.write(line)
            out.flush()
            count, size = count + len(page), size + sum(map(len, page))
            if progress and time.monotonic() - shown > _PROGRESS_S:
                shown = time.monotonic()
                print(f"{count} records, {size / 2**20:.1f} MiB", file=sys.stderr, flush=True)
    finally:
        await database.close()
    return count, size


def main(path: Path | None, after: str | None) -> int:
    """Exports what NUMBRIDGE_DATABASE_URL names to a file, going on where it ends, or to stdout; the exit code."""
    try:
        settings = RatingsSettings.load()
    except SettingsError as error:
        return _said(EXIT_USAGE, *error.problems)
    try:
        if path is None:
            count, size = asyncio.run(export(settings.database_url, sys.stdout.buffer, after, progress=True))
        else:
            begun = resume(path) if path.exists() else None
            with path.open("ab") as out:
                count, size = asyncio.run(export(settings.database_url, out, after or begun, progress=True))
                os.fsync(out.fileno())
    except NoPlace as error:
        return _said(EXIT_USAGE, str(error))
    except StoreAway as error:
        return _said(EXIT_FAILED, str(error))
    print(f"{count} records, {size / 2**20:.1f} MiB" + (f", added to {path}" if path else ""), file=sys.stderr)
    return EXIT_OK


def _said(code: int, *problems: str) -> int:
    for problem in problems:
        print(f"numbridge archive export: {problem}", file=sys.stderr)
    return code
