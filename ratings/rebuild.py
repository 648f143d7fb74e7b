"""Every rating again, from the archive: `numbridge ratings rebuild`.

Games are taken in the order in which they were rated, so the numbers come out as they were; they differ only
where the model has changed since, or somebody has changed a row by hand.
"""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, delete, select, text

from numbridge import redis_io
from numbridge.app import EXIT_FAILED, EXIT_OK, EXIT_USAGE
from numbridge.settings import SettingsError
from ratings.adapters.redis_board import RedisBoard
from ratings.model.rules import NEWCOMER, RATED_RESULTS, VARIANTS, Standing, apply_game
from ratings.ports import BoardAway, StoreAway
from ratings.settings import RatingsSettings
from ratings.store import statements
from ratings.store.database import Database
from ratings.store.rows import history_values, standing_of, standing_values
from ratings.store.schema import games, rating_history, ratings

PAGE = 1_000
DEADLINE_S = 3_600.0

_Key = tuple[str, str]  # player, variant


@dataclass(frozen=True, slots=True)
class Report:
    """What a rebuild found.

    `games` rated games were replayed, `ratings` standings came out of them, `changed` of those differed from
    what was stored, by `largest` points at most. `boards_dropped` says that the leaderboard cache has been
    emptied, so that it fills up from the new numbers.
    """

    games: int
    ratings: int
    changed: int
    largest: float
    boards_dropped: bool = False


async def rebuild(url: str, redis_url: str | None = None) -> Report:
    """Computes all ratings and their history from the archive, in one transaction.

    Results that arrive meanwhile wait and are rated after it. Raises ValueError for a URL of
    another kind, StoreAway.
    """
    database = Database(url)
    try:
        report = await database.write(_rebuild, DEADLINE_S)
    finally:
        await database.close()
    if redis_url is None or report.changed == 0:
        return report
    return replace(report, boards_dropped=await _drop_boards(redis_url))


def _rebuild(connection: Connection) -> Report:
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SET LOCAL statement_timeout = {int(DEADLINE_S * 1000)}"))
        # Readers go on; whoever wants to rate a game waits, and gives the result back if that takes too long.
        connection.execute(text("LOCK TABLE ratings IN EXCLUSIVE MODE"))
    stored: dict[_Key, Standing] = {
        (row.player, row.variant): standing_of(row) for row in connection.execute(select(ratings))
    }
    connection.execute(delete(rating_history))
    computed: dict[_Key, Standing] = {}
    count = 0
    for page in _rated_games(connection):
        history: list[dict[str, Any]] = []
        for game in page:
            keys = (game.blue, game.variant), (game.red, game.variant)
            before = [computed.get(key, NEWCOMER) for key in keys]
            changes = apply_game(before[0], before[1], game.result, game.ended_at)
            for key, color, change in zip(keys, ("blue", "red"), changes, strict=True):
                computed[key] = change.after
                history.append(history_values(game.seq, color, key[0], game.variant, change))
        connection.execute(rating_history.insert(), history)
        count += len(page)
    return _store(connection, stored, computed, count)


def _rated_games(connection: Connection) -> Iterator[list[Row[Any]]]:
    """Pages of rated games in the order in which they were rated."""
    columns = (games.c.seq, games.c.variant, games.c.blue, games.c.red, games.c.result, games.c.ended_at)
    last = 0
    while True:
        query = (
            select(*columns)
            .where(games.c.seq > last, games.c.rated, games.c.result.in_(RATED_RESULTS))
            .order_by(games.c.seq)
            .limit(PAGE)
        )
        page = list(connection.execute(query))
        if not page:
            return
        yield page
        last = page[-1].seq


def _store(connection: Connection, stored: dict[_Key, Standing], computed: dict[_Key, Standing], count: int) -> Report:
    changed = 0
    largest = 0.0
    for key in sorted(stored.keys() | computed.keys()):
        old, new = stored.get(key), computed.get(key)
        if old == new:
            continue
        changed += 1
        gap = (old or NEWCOMER).strength.rating - (new or NEWCOMER).strength.rating
        largest = max(largest, abs(gap))
        player, variant = key
        if new is None:
            connection.execute(delete(ratings).where(ratings.c.player == player, ratings.c.variant == variant))
            continue
        row = {"player": player, "variant": variant, **standing_values(new)}
        connection.execute(statements.PUT_RATING, row)
    return Report(games=count, ratings=len(computed), changed=changed, largest=largest)


async def _drop_boards(redis_url: str) -> bool:
    client = redis_io.connect(redis_url)
    try:
        for variant in VARIANTS:
            await RedisBoard(client).forget(variant)
    except BoardAway:
        return False
    finally:
        await client.aclose()
    return True


def main() -> int:
    """Rebuilds what NUMBRIDGE_DATABASE_URL names and says what came of it; the exit code."""
    try:
        settings = RatingsSettings.load()
    except SettingsError as error:
        for problem in error.problems:
            print(f"numbridge ratings rebuild: {problem}", file=sys.stderr)
        return EXIT_USAGE
    try:
        report = asyncio.run(rebuild(settings.database_url, settings.redis_url))
    except StoreAway as error:
        print(f"numbridge ratings rebuild: {error}", file=sys.stderr)
        return EXIT_FAILED
    print(
        f"{report.games} rated games, {report.ratings} ratings, {report.changed} changed"
        + (f", by {report.largest:.1f} points at most" if report.changed else "")
    )
    return EXIT_OK
