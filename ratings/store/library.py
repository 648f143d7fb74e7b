"""Reads."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, String, and_, literal, select, tuple_, union_all

from ratings.domain import FinishedGame, PlayedGame, Profile, Ranked, Score, Seated
from ratings.model.rules import Standing
from ratings.store.database import Database
from ratings.store.rows import head_of, standing_of, unpack
from ratings.store.schema import games, players, ratings


class SqlLibrary:
    """`ports.Library` on SQL. Every method raises StoreAway."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def profile(self, player: str) -> Profile | None:
        """The player, None if unknown."""

        def read(connection: Connection) -> Profile | None:
            row = connection.execute(select(players).where(players.c.id == player)).one_or_none()
            if row is None:
                return None
            query = select(ratings).where(ratings.c.player == player).order_by(ratings.c.variant)
            standings = {line.variant: standing_of(line) for line in connection.execute(query)}
            return Profile(row.id, row.name, standings, row.won, row.lost, row.drawn)

        return await self._database.read(read)

    async def standings(self, variant: str, wanted: list[str]) -> dict[str, Standing]:
        """Standings of those that have a rated game in the variant."""
        query = select(ratings).where(ratings.c.variant == variant, ratings.c.player.in_(wanted))
        return {row.player: standing_of(row) for row in await self._all(query)}

    async def games_of(self, player: str, before: tuple[int, str] | None, limit: int) -> list[PlayedGame]:
        """Newest first, those before (ended_at, game)."""
        sides = [_side(color, player, before, limit).subquery() for color in ("blue", "red")]
        both = union_all(*(select(side) for side in sides)).subquery()
        query = (
            select(both, players.c.name.label("present_name"))
            .outerjoin(players, players.c.id == both.c.opponent)
            .order_by(both.c.ended_at.desc(), both.c.id.desc())
            .limit(limit)
        )
        return [_played(row) for row in await self._all(query)]

    async def archived(self, game: str) -> FinishedGame | None:
        """The game with its record, None if it is not in the archive."""
        rows = await self._all(select(games).where(games.c.id == game))
        return FinishedGame(head_of(rows[0]), unpack(rows[0].record_z), unpack(rows[0].view_z)) if rows else None

    async def best(self, variant: str, limit: int) -> list[Ranked]:
        """The best of a variant, ties by id."""
        return await self._ranked(_board(variant).limit(limit))

    async def ranked(self, variant: str, wanted: list[str]) -> list[Ranked]:
        """These players of a variant, best first, ties by id."""
        return await self._ranked(_board(variant).where(ratings.c.player.in_(wanted)))

    async def scores(self, variant: str, after: str, limit: int) -> list[Score]:
        """Everybody on a variant's board, by id, those past `after`."""
        query = (
            select(ratings.c.player, ratings.c.rating, ratings.c.games)
            .where(ratings.c.variant == variant, ratings.c.player > after)
            .order_by(ratings.c.player)
            .limit(limit)
        )
        return [Score(row.player, row.rating, row.games) for row in await self._all(query)]

    async def _ranked(self, query: "Select[Any]") -> list[Ranked]:
        return [Ranked(row.player, row.name, standing_of(row)) for row in await self._all(query)]

    async def _all(self, query: "Select[Any]") -> Sequence[Row[Any]]:
        return await self._database.read(lambda connection: connection.execute(query).all())


def _board(variant: str) -> "Select[Any]":
    return (
        select(ratings, players.c.name)
        .join(players, players.c.id == ratings.c.player)
        .where(ratings.c.variant == variant)
        .order_by(ratings.c.rating.desc(), ratings.c.player)
    )


def _side(color: str, player: str, before: tuple[int, str] | None, limit: int) -> "Select[Any]":
    """One colour's games of a player, off the index of that colour."""
    other = "red" if color == "blue" else "blue"
    where = games.c[color] == player
    if before is not None:
        where = and_(where, tuple_(games.c.ended_at, games.c.id) < before)
    return (
        select(
            games.c.id,
            games.c.room,
            games.c.variant,
            games.c[other].label("opponent"),
            games.c[f"{other}_name"].label("opponent_name"),
            games.c[f"{other}_rating"].label("opponent_rating"),
            literal(color, String).label("color"),
            games.c.result,
            games.c.reason,
            games.c.ended_at,
        )
        .where(where)
        .order_by(games.c.ended_at.desc(), games.c.id.desc())
        .limit(limit)
    )


def _played(row: Row[Any]) -> PlayedGame:
    return PlayedGame(
        game=row.id,
        room=row.room,
        variant=row.variant,
        opponent=Seated(row.opponent, row.present_name or row.opponent_name, row.opponent_rating),
        color=row.color,
        result=row.result,
        reason=row.reason,
        ended_at=row.ended_at,
    )
