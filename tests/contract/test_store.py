"""The SQL store, held to the same promises on SQLite and on PostgreSQL."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, select, text, update

from ratings import store as ratings_store
from ratings.domain import Score
from ratings.model.rules import NEWCOMER, Standing, apply_game
from ratings.ports import StoreAway
from ratings.rebuild import main as rebuild_command
from ratings.rebuild import rebuild
from ratings.store import ledger as ledger_module
from ratings.store import migrate
from ratings.store.database import Database, parse_url
from ratings.store.ledger import SqlLedger
from ratings.store.library import SqlLibrary
from ratings.store.migrating import pending
from ratings.store.people import SqlPeople
from ratings.store.rows import standing_of
from ratings.store.schema import games, metadata, rating_history, ratings, set_aside
from tests.contract.stores import DATABASES, change, fetch, opened, record
from tests.unit.ratings.builders import T0, a_game


@pytest.fixture(params=DATABASES)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without a schema."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/deeper/ratings.sqlite3"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def url(empty_url: str) -> str:
    """A database with this release's schema."""
    migrate(empty_url)
    return empty_url


@pytest_asyncio.fixture
async def database(url: str) -> AsyncIterator[Database]:
    async with opened(url) as database:
        yield database


async def rating_numbers(database: Database) -> dict[tuple[str, str], Standing]:
    """Every stored standing."""
    rows = await fetch(database, select(ratings))
    return {(row.player, row.variant): standing_of(row) for row in rows}


async def test_migrations_make_the_schema_that_the_code_uses(empty_url: str) -> None:
    assert pending(empty_url)
    revision = migrate(empty_url)
    assert migrate(empty_url) == revision
    assert not pending(empty_url)
    engine = create_engine(parse_url(empty_url))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


async def test_a_database_that_a_newer_release_has_migrated_is_left_as_it_is(url: str) -> None:
    engine = create_engine(parse_url(url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '999'"))
    engine.dispose()
    assert migrate(url) == "999"
    assert not pending(url)


def test_migrations_only_add_so_that_the_release_before_lives_with_them() -> None:
    adding = {"create_table", "create_index", "add_column"}
    for path in sorted((Path(ratings_store.__file__).parent / "migrations" / "versions").glob("v*.py")):
        upgrade = path.read_text(encoding="utf-8").split("def upgrade")[1].split("def downgrade")[0]
        assert set(re.findall(r"op\.(\w+)\(", upgrade)) - {"f"} <= adding, path.name


async def test_several_processes_migrate_at_once(empty_url: str) -> None:
    code = f"from ratings.store import migrate; print(migrate({empty_url!r}))"
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        for _ in range(3)
    ]
    outputs = await asyncio.gather(*(process.communicate() for process in processes))
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    assert {out for out, _ in outputs} == {migrate(empty_url).encode() + b"\n"}


async def test_game_is_archived_and_rated(database: Database) -> None:
    game = a_game("ada", "bob", "blue")
    recorded = await SqlLedger(database).record(game)
    blue, red = apply_game(NEWCOMER, NEWCOMER, "blue", T0)
    assert (recorded.fresh, recorded.blue, recorded.red) == (True, blue, red)
    library = SqlLibrary(database)
    assert await library.archived(game.head.game) == game
    assert await library.standings("bridge", ["ada", "bob", "eve"]) == {"ada": blue.after, "bob": red.after}
    ada = await library.profile("ada")
    assert ada is not None
    assert (ada.name, ada.standings, ada.won, ada.lost, ada.drawn) == ("Ada", {"bridge": blue.after}, 1, 0, 0)


async def test_delivered_twice_is_counted_once(database: Database) -> None:
    ledger, game = SqlLedger(database), a_game()
    first = await ledger.record(game)
    second = await ledger.record(game)
    assert not second.fresh
    assert (second.blue, second.red) == (first.blue, first.red)
    ada = await SqlLibrary(database).profile("ada")
    assert ada is not None
    assert (ada.won, ada.standings["bridge"].games) == (1, 1)


async def test_same_game_from_several_consumers_at_once_is_counted_once(url: str) -> None:
    game = a_game()
    async with opened(url) as one, opened(url) as two, opened(url) as three:
        done = await asyncio.gather(*(record(database, game) for database in [one, two, three] * 3))
        assert sorted(recorded.fresh for recorded in done) == [False] * 8 + [True]
        assert len({recorded.blue for recorded in done}) == 1
        ada = await SqlLibrary(one).profile("ada")
        assert ada is not None
        assert (ada.won, ada.standings["bridge"].games) == (1, 1)


@pytest.mark.parametrize(
    ("result", "settings", "won", "drawn"),
    [("blue", {"rated": False}, 1, 0), ("none", {}, 0, 0), ("draw", {"rated": False}, 0, 1)],
)
async def test_games_that_do_not_count_are_archived_only(
    database: Database, result: str, settings: dict[str, bool], won: int, drawn: int
) -> None:
    game = a_game("ada", "bob", result, **settings)
    recorded = await SqlLedger(database).record(game)
    assert (recorded.blue, recorded.red) == (None, None)
    library = SqlLibrary(database)
    ada = await library.profile("ada")
    assert ada is not None
    assert (ada.standings, ada.won, ada.drawn) == ({}, won, drawn)
    assert await library.archived(game.head.game) == game
    assert await library.best("bridge", 10) == []


async def test_concurrent_results_of_one_player_lose_no_update(url: str) -> None:
    """Ada's games and her opponents' among each other, through three pools, in any order and colour."""
    people = ["ada", "bob", "cleo", "dan"]
    batch = [
        a_game(blue, red, ("blue", "red", "draw")[(i + j) % 3], ended_at=T0 + 1000 * i + j)
        for i, blue in enumerate(people)
        for j, red in enumerate(people)
        if blue != red
    ] * 2
    async with opened(url) as one, opened(url) as two, opened(url) as three:
        pools = [one, two, three]
        await asyncio.gather(*(record(pools[n % 3], game) for n, game in enumerate(batch)))
        live = await rating_numbers(one)
        assert {standing.games for standing in live.values()} == {6}
    report = await rebuild(url)
    assert (report.games, report.ratings, report.changed) == (12, 4, 0)


async def test_rebuild_gives_the_numbers_of_live_play(database: Database, url: str) -> None:
    """Results that arrive out of order, in two variants, with days between and games that do not count."""
    ledger = SqlLedger(database)
    day = 86_400_000
    for n, offset in enumerate([0, 5, 3, 40, 2, 41]):
        variant = "blitz" if n == 4 else "bridge"
        game = a_game("ada", "bob", ("blue", "draw", "red")[n % 3], ended_at=T0 + offset * day, variant=variant)
        await ledger.record(game)
        await ledger.record(a_game("bob", "ada", "none", ended_at=T0))
    live = await rating_numbers(database)
    history = await fetch(database, select(rating_history).order_by("seq", "color"))
    assert (await rebuild(url)).changed == 0
    await change(database, update(ratings).values(rating=ratings.c.rating + 3, games=99), rating_history.delete())
    report = await rebuild(url)
    assert (report.games, report.ratings, report.changed) == (6, 4, 4)
    assert report.largest == pytest.approx(3)
    assert await rating_numbers(database) == live
    assert await fetch(database, select(rating_history).order_by("seq", "color")) == history


async def test_rebuild_removes_ratings_that_no_game_supports(database: Database, url: str) -> None:
    await SqlLedger(database).record(a_game("ada", "bob"))
    await change(database, update(games).values(rated=False))
    report = await rebuild(url)
    assert (report.games, report.ratings, report.changed) == (0, 0, 2)
    assert await rating_numbers(database) == {}


async def test_rebuild_is_a_command(
    url: str, database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await SqlLedger(database).record(a_game("ada", "bob"))
    monkeypatch.setenv("NUMBRIDGE_DATABASE_URL", url)
    assert await asyncio.to_thread(rebuild_command) == 0
    assert capsys.readouterr().out == "1 rated games, 2 ratings, 0 changed\n"
    monkeypatch.setenv("NUMBRIDGE_DATABASE_URL", "postgresql://numbridge@127.0.0.1:1/none")
    assert await asyncio.to_thread(rebuild_command) == 1
    monkeypatch.setenv("NUMBRIDGE_DATABASE_URL", "nonsense")
    assert await asyncio.to_thread(rebuild_command) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 2)


async def test_games_are_paged_newest_first_without_gap_or_repeat(database: Database) -> None:
    """Several end in the same millisecond; the player sits on either side."""
    ledger, library = SqlLedger(database), SqlLibrary(database)
    all_games = []
    for n in range(11):
        sides = ("ada", f"other{n}") if n % 2 else (f"other{n}", "ada")
        game = a_game(*sides, ended_at=T0 + n // 3)
        await ledger.record(game)
        all_games.append((game.head.ended_at, game.head.game))
    await ledger.record(a_game("bob", "cleo"))
    seen: list[tuple[int, str]] = []
    before = None
    while page := await library.games_of("ada", before, 4):
        seen += [(game.ended_at, game.game) for game in page]
        before = seen[-1]
    assert seen == sorted(all_games, reverse=True)
    newest = (await library.games_of("ada", None, 1))[0]
    assert newest.opponent.id.startswith("other")
    assert newest.color in ("blue", "red")
    assert await library.games_of("nobody", None, 5) == []


async def test_leaderboard_is_by_rating_then_by_id(database: Database) -> None:
    ledger, library = SqlLedger(database), SqlLibrary(database)
    for blue, red in (("b", "z"), ("a", "y"), ("Ä", "x"), ("B", "w")):
        await ledger.record(a_game(blue, red, "blue"))
    assert [row.id for row in await library.best("bridge", 6)] == ["B", "a", "b", "Ä", "w", "x"]
    assert [row.id for row in await library.ranked("bridge", ["w", "b", "a", "nobody"])] == ["a", "b", "w"]
    assert await library.best("domains", 6) == []
    pages = await library.scores("bridge", "", 3), await library.scores("bridge", "b", 9)
    assert [score.id for page in pages for score in page] == ["B", "a", "b", "w", "x", "y", "z", "Ä"]
    best = await library.best("bridge", 1)
    assert pages[0][0] == Score("B", best[0].standing.strength.rating, 1)


async def test_player_known_by_a_result_keeps_the_name_given_later(database: Database) -> None:
    ledger, people, library = SqlLedger(database), SqlPeople(database), SqlLibrary(database)
    await ledger.record(a_game("ada", "bob", ended_at=T0))
    await people.ensure("ada", "Countess", guest=False, at=T0)
    await ledger.record(a_game("ada", "bob", ended_at=T0 + 1))
    ada = await library.profile("ada")
    assert ada is not None
    assert ada.name == "Countess"
    assert [game.opponent.name for game in await library.games_of("bob", None, 5)] == ["Countess"] * 2


async def test_ensuring_a_player_is_idempotent_also_at_once(database: Database) -> None:
    people = SqlPeople(database)
    await asyncio.gather(*(people.ensure("odd id: ü.*>", "Eve", guest=True, at=T0) for _ in range(5)))
    eve = await SqlLibrary(database).profile("odd id: ü.*>")
    assert eve is not None
    assert (eve.name, eve.won, eve.standings) == ("Eve", 0, {})
    assert await SqlLibrary(database).profile("nobody") is None


async def test_blocks_show_in_both_directions(database: Database) -> None:
    people = SqlPeople(database)
    for player, other in (("ada", "bob"), ("ada", "bob"), ("cleo", "ada")):
        assert await people.put_block(player, other, blocked=True, at=T0, most=5)
    assert (await people.blocks("ada")).blocks == ["bob"]
    assert (await people.blocks("ada")).blocked_by == ["cleo"]
    assert await people.put_block("ada", "bob", blocked=False, at=T0, most=5)
    assert await people.put_block("ada", "bob", blocked=False, at=T0, most=5)
    assert (await people.blocks("ada")).blocks == []


async def test_blocks_have_a_limit(database: Database) -> None:
    people = SqlPeople(database)
    assert await people.put_block("ada", "b1", blocked=True, at=T0, most=2)
    assert await people.put_block("ada", "b2", blocked=True, at=T0, most=2)
    assert not await people.put_block("ada", "b3", blocked=True, at=T0, most=2)
    assert await people.put_block("ada", "b2", blocked=True, at=T0, most=2)
    assert await people.put_block("bob", "b3", blocked=True, at=T0, most=2)


async def test_messages_set_aside_are_kept_up_to_a_limit(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "SET_ASIDE_KEPT", 3)
    ledger = SqlLedger(database)
    for n in range(5):
        await ledger.set_aside(f"result.7.{n}", b"\xff\x00", "not a GameResult", T0)
    rows = await fetch(database, select(set_aside).order_by(set_aside.c.id))
    assert [(row.subject, row.payload) for row in rows] == [(f"result.7.{n}", b"\xff\x00") for n in (2, 3, 4)]


async def test_failed_transaction_leaves_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database goes away after the ratings were written, before the commit."""

    def away(*_: object) -> None:
        raise OSError("the line is cut")

    monkeypatch.setattr(ledger_module, "_count_results", away)
    with pytest.raises(StoreAway):
        await SqlLedger(database).record(a_game())
    monkeypatch.undo()
    assert await fetch(database, select(games.c.id)) == []
    assert await rating_numbers(database) == {}
    assert (await SqlLedger(database).record(a_game())).fresh
