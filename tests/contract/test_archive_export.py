"""The archive as lines: whole, in order, each game once, whatever was there before."""

import asyncio
import io
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from numbridge.ids import new_game_id
from ratings import export as module
from ratings.export import MAX_LINE_BYTES, NoPlace, export, main, resume
from ratings.store import migrate
from ratings.store.database import Database
from ratings.store.ledger import SqlLedger
from tests.contract.stores import DATABASES, opened, record
from tests.unit.ratings.builders import a_game


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    found = f"sqlite:///{tmp_path}/db" if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))
    migrate(found)
    return found


def games_in(lines: bytes) -> list[str]:
    assert lines.endswith(b"\n")
    return [json.loads(line)["game"] for line in lines.splitlines()]


G = [new_game_id(7) for _ in range(5)]


async def play(url: str, *games: str) -> None:
    async with opened(url) as database:
        for game in games:
            await record(database, a_game(game=game))


async def test_a_torn_file_is_gone_on_with_and_nothing_comes_twice(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "PAGE", 2)
    monkeypatch.setenv("NUMBRIDGE_DATABASE_URL", url)
    out = tmp_path / "games.ndjson"
    await play(url, *G[:3])
    assert await asyncio.to_thread(main, out, None) == 0
    assert "3 records" in capsys.readouterr().err
    whole = out.read_bytes()
    assert games_in(whole) == G[:3]
    await play(url, *G[3:])
    out.write_bytes(whole[:-7])  # the machine died within a line
    assert await asyncio.to_thread(main, out, None) == 0
    assert games_in(out.read_bytes()) == G
    assert await asyncio.to_thread(main, out, None) == 0
    assert games_in(out.read_bytes()) == G


async def test_a_stream_begins_after_a_game(url: str) -> None:
    await play(url, *G[:3])
    stream = io.BytesIO()
    assert (await export(url, stream, G[1], progress=False))[0] == 1
    assert games_in(stream.getvalue()) == G[2:3]
    with pytest.raises(NoPlace, match="no game 'g9'"):
        await export(url, stream, "g9", progress=False)


@pytest.mark.postgres
async def test_a_game_that_is_numbered_first_and_commits_last_is_not_left_out(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1. a transaction has drawn its number; 2. the next game commits; 3. the export waits for the first."""
    migrate(postgres_url)
    inserted, go_on = threading.Event(), threading.Event()
    write = Database.write

    async def slowly(self: Any, work: Any, *args: Any) -> Any:
        def held(connection: Connection) -> Any:
            found = work(connection)
            inserted.set()
            assert go_on.wait(10)
            return found

        return await write(self, held, *args)

    async with opened(postgres_url) as first, opened(postgres_url) as second:
        with monkeypatch.context() as patch:
            patch.setattr(Database, "write", slowly)
            slow = asyncio.create_task(SqlLedger(first).record(a_game("ada", "ben", game=G[0])))
            await asyncio.to_thread(inserted.wait, 10)
        await record(second, a_game("cy", "dee", game=G[1]))
        stream = io.BytesIO()
        exporting = asyncio.create_task(export(postgres_url, stream, None, progress=False))
        done, _ = await asyncio.wait([exporting], timeout=0.3)
        assert not done
        go_on.set()
        await slow
        assert (await exporting)[0] == 2
    assert games_in(stream.getvalue()) == G[:2]


@pytest.mark.parametrize("content", [b"hello\n", b"[1]\n", b'{"game": 7}\n', b"x" * (MAX_LINE_BYTES + 10)])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(NoPlace):
        resume(path)
    assert path.read_bytes() == content


def test_an_empty_file_and_one_with_a_first_line_torn_begin_anew(tmp_path: Path) -> None:
    path = tmp_path / "games"
    for content in (b"", b'{"game": "g1", "mo'):
        path.write_bytes(content)
        assert resume(path) is None
        assert path.read_bytes() == b""
