"""The one transaction of a finished game.

Locks are taken in one order, so that no two transactions can wait for each other: new players by id,
ratings by player id, the game's id, players' counters by id. The game's number (`seq`) is
drawn while the ratings are locked: games of one player are numbered in the order in which they were rated,
which is what a rebuild follows.
"""

from sqlalchemy import Connection, select

from ratings.domain import FinishedGame, GameHead, Recorded
from ratings.model.rules import NEWCOMER, Change, Standing, apply_game, counts
from ratings.store import statements
from ratings.store.database import Database
from ratings.store.rows import change_of, head_values, history_values, pack, standing_of, standing_values
from ratings.store.schema import games, rating_history, set_aside

# Messages kept for an operator; beyond it the oldest go.
SET_ASIDE_KEPT = 1_000


class _Duplicate(Exception):
    """The game came in while this transaction was under way: rolls it back."""


class SqlLedger:
    """`ports.Ledger` on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, game: FinishedGame) -> Recorded:
        """Archives and rates the game, once. Raises StoreAway, StoreRefused."""
        row = head_values(game.head) | {"record_z": pack(game.record), "view_z": pack(game.final_view)}
        try:
            return await self._database.write(lambda connection: _record(connection, game.head, row))
        except _Duplicate:
            return await self._database.read(lambda connection: _recorded_before(connection, game.head.game))

    async def set_aside(self, subject: str, payload: bytes, why: str, at: int) -> None:
        """Keeps a message that is no result, the newest SET_ASIDE_KEPT of them. Raises StoreAway."""
        row = {"at": at, "subject": subject, "why": why, "payload": payload}

        def keep(connection: Connection) -> None:
            number = connection.execute(set_aside.insert().values(row).returning(set_aside.c.id)).scalar_one()
            connection.execute(set_aside.delete().where(set_aside.c.id <= number - SET_ASIDE_KEPT))

        await self._database.write(keep)


def _record(connection: Connection, head: GameHead, row: dict[str, object]) -> Recorded:
    if connection.execute(statements.FIND_GAME, {"game": head.game}).scalar_one_or_none() is not None:
        return _recorded_before(connection, head.game)
    _know_players(connection, head)
    blue = red = None
    if counts(head.rated, head.result):
        standings = _lock_standings(connection, head)
        blue, red = apply_game(standings[head.blue.id], standings[head.red.id], head.result, head.ended_at)
    seq = connection.execute(statements.ARCHIVE_GAME, row).scalar_one_or_none()
    if seq is None:
        raise _Duplicate
    if blue is not None and red is not None:
        _write_changes(connection, head, seq, blue, red)
    _count_results(connection, head)
    return Recorded(fresh=True, blue=blue, red=red)


def _know_players(connection: Connection, head: GameHead) -> None:
    """Players of whom nobody has spoken before; names of known ones stay as they are."""
    rows = [
        {"id": seated.id, "name": seated.name, "guest": False, "created_at": head.started_at}
        for seated in sorted((head.blue, head.red), key=lambda seated: seated.id)
    ]
    connection.execute(statements.KNOW_PLAYER, rows)


def _lock_standings(connection: Connection, head: GameHead) -> dict[str, Standing]:
    """Both players' standings, locked until the end of the transaction."""
    first, second = sorted((head.blue.id, head.red.id))
    fresh = [{"player": player, "variant": head.variant, **standing_values(NEWCOMER)} for player in (first, second)]
    connection.execute(statements.FIRST_RATING, fresh)
    query = statements.LOCK_RATINGS[connection.dialect.name]
    rows = connection.execute(query, {"variant": head.variant, "first": first, "second": second})
    return {row.player: standing_of(row) for row in rows}


def _write_changes(connection: Connection, head: GameHead, seq: int, blue: Change, red: Change) -> None:
    sides = (("blue", head.blue.id, blue), ("red", head.red.id, red))
    connection.execute(
        statements.CHANGE_RATING,
        [{"player": player, "variant": head.variant, **standing_values(change.after)} for _, player, change in sides],
    )
    connection.execute(
        rating_history.insert(),
        [history_values(seq, color, player, head.variant, change) for color, player, change in sides],
    )


def _count_results(connection: Connection, head: GameHead) -> None:
    if head.result == "none":
        return
    rows = [
        {
            "id": seated.id,
            "won": int(head.result == color),
            "drawn": int(head.result == "draw"),
            "lost": int(head.result not in (color, "draw")),
        }
        for color, seated in sorted((("blue", head.blue), ("red", head.red)), key=lambda side: side[1].id)
    ]
    connection.execute(statements.COUNT_RESULT, rows)


def _recorded_before(connection: Connection, game: str) -> Recorded:
    query = select(rating_history).join(games, games.c.seq == rating_history.c.seq).where(games.c.id == game)
    changes = {row.color: change_of(row) for row in connection.execute(query)}
    return Recorded(fresh=False, blue=changes.get("blue"), red=changes.get("red"))
