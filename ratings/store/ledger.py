"""The one transaction of a finished game.

Locks are taken in one order, so that no two transactions can wait for each other: new players by id,
ratings by player id, the game's id, players' counters by id. The game's number (`seq`) is
drawn while the ratings are locked: games of one player are numbered in the order in which they were rated,
which is what a rebuild follows.
"""

from typing import Any

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ratings.domain import FinishedGame, GameHead, Recorded
from ratings.model.rules import NEWCOMER, Change, Standing, apply_game, counts
from ratings.store.database import Database, insert, uninterrupted
from ratings.store.rows import change_of, head_values, history_values, pack, standing_of, standing_values
from ratings.store.schema import games, players, rating_history, ratings, set_aside

# Messages kept for an operator; beyond it the oldest go.
SET_ASIDE_KEPT = 1_000


class _Duplicate(Exception):
    """The game came in while this transaction was under way: rolls it back."""


class SqlLedger:
    """`ports.Ledger` on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def record(self, game: FinishedGame) -> Recorded:
        """Archives and rates the game, once. Raises StoreAway, StoreRefused."""
        try:
            async with self._database.write() as connection:
                if await _seq_of(connection, game.head.game) is not None:
                    return await _recorded_before(connection, game.head.game)
                return await _record(connection, game)
        except _Duplicate:
            async with self._database.read() as connection:
                return await _recorded_before(connection, game.head.game)

    @uninterrupted
    async def set_aside(self, subject: str, payload: bytes, why: str, at: int) -> None:
        """Keeps a message that is no result, the newest SET_ASIDE_KEPT of them. Raises StoreAway."""
        async with self._database.write() as connection:
            row = {"at": at, "subject": subject, "why": why, "payload": payload}
            number = (await connection.execute(set_aside.insert().values(row).returning(set_aside.c.id))).scalar_one()
            await connection.execute(set_aside.delete().where(set_aside.c.id <= number - SET_ASIDE_KEPT))


async def _seq_of(connection: AsyncConnection, game: str) -> int | None:
    return (await connection.execute(select(games.c.seq).where(games.c.id == game))).scalar_one_or_none()


async def _record(connection: AsyncConnection, game: FinishedGame) -> Recorded:
    head = game.head
    await _know_players(connection, head)
    blue = red = None
    if counts(head.rated, head.result):
        standings = await _lock_standings(connection, head)
        blue, red = apply_game(standings[head.blue.id], standings[head.red.id], head.result, head.ended_at)
    row = head_values(head) | {"record_z": pack(game.record), "view_z": pack(game.final_view)}
    statement = insert(connection, games).values(row).on_conflict_do_nothing(index_elements=["id"])
    seq = (await connection.execute(statement.returning(games.c.seq))).scalar_one_or_none()
    if seq is None:
        raise _Duplicate
    if blue is not None and red is not None:
        await _write_changes(connection, head, seq, blue, red)
    await _count_results(connection, head)
    return Recorded(fresh=True, blue=blue, red=red)


async def _know_players(connection: AsyncConnection, head: GameHead) -> None:
    """Players of whom nobody has spoken before; names of known ones stay as they are."""
    rows = [
        {"id": seated.id, "name": seated.name, "guest": False, "created_at": head.started_at}
        for seated in sorted((head.blue, head.red), key=lambda seated: seated.id)
    ]
    await connection.execute(insert(connection, players).on_conflict_do_nothing(), rows)


async def _lock_standings(connection: AsyncConnection, head: GameHead) -> dict[str, Standing]:
    """Both players' standings, locked until the end of the transaction."""
    ids = sorted((head.blue.id, head.red.id))
    fresh = [{"player": player, "variant": head.variant, **standing_values(NEWCOMER)} for player in ids]
    await connection.execute(insert(connection, ratings).on_conflict_do_nothing(), fresh)
    query = (
        select(ratings)
        .where(ratings.c.variant == head.variant, ratings.c.player.in_(ids))
        .order_by(ratings.c.player)
        .with_for_update()
    )
    return {row.player: standing_of(row) for row in await connection.execute(query)}


async def _write_changes(connection: AsyncConnection, head: GameHead, seq: int, blue: Change, red: Change) -> None:
    history: list[dict[str, Any]] = []
    for color, seated, change in (("blue", head.blue, blue), ("red", head.red, red)):
        await connection.execute(
            update(ratings)
            .where(ratings.c.player == seated.id, ratings.c.variant == head.variant)
            .values(standing_values(change.after))
        )
        history.append(history_values(seq, color, seated.id, head.variant, change))
    await connection.execute(rating_history.insert(), history)


async def _count_results(connection: AsyncConnection, head: GameHead) -> None:
    if head.result == "none":
        return
    for color, seated in sorted((("blue", head.blue), ("red", head.red)), key=lambda side: side[1].id):
        outcome = "drawn" if head.result == "draw" else "won" if head.result == color else "lost"
        column = players.c[outcome]
        await connection.execute(update(players).where(players.c.id == seated.id).values({column: column + 1}))


async def _recorded_before(connection: AsyncConnection, game: str) -> Recorded:
    query = select(rating_history).join(games, games.c.seq == rating_history.c.seq).where(games.c.id == game)
    changes = {row.color: change_of(row) for row in await connection.execute(query)}
    return Recorded(fresh=False, blue=changes.get("blue"), red=changes.get("red"))
