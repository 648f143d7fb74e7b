"""What operators do, and what they have restricted."""

from sqlalchemy import Connection, delete, func, insert, or_, select, tuple_

from ratings.domain import Deed, Restriction
from ratings.store.database import Database
from ratings.store.schema import audit, restrictions


class _Full(Exception):
    """Too much stands; nothing has been changed."""


class SqlOffice:
    """`ports.Office` on SQL. Every method raises StoreAway, `put` StoreRefused too."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, deed: Deed, stands: Restriction | None, lifts: tuple[str, str] | None, most: int) -> int | None:
        """Writes the deed down and what it changes, in one transaction; its number, None if `most` stand already."""

        def put(connection: Connection) -> int | None:
            connection.execute(delete(restrictions).where(restrictions.c.until <= deed.at))
            about = (stands.kind, stands.subject) if stands is not None else lifts
            if about is not None:
                connection.execute(
                    delete(restrictions).where(tuple_(restrictions.c.kind, restrictions.c.subject) == about)
                )
            if stands is not None:
                if connection.execute(select(func.count()).select_from(restrictions)).scalar_one() >= most:
                    raise _Full
                values = {"kind": stands.kind, "subject": stands.subject, "until": stands.until}
                connection.execute(insert(restrictions).values(values))
            number: int = connection.execute(
                insert(audit)
                .values(at=deed.at, actor=deed.actor, action=deed.action, subject=deed.subject, detail=deed.detail)
                .returning(audit.c.id)
            ).scalar_one()
            return number

        try:
            return await self._database.write(put)
        except _Full:
            return None

    async def deeds(self, before: int | None, limit: int) -> list[tuple[int, Deed]]:
        """What was done, newest first, with its numbers."""
        query = select(audit).order_by(audit.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(audit.c.id < before)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [(row.id, Deed(row.at, row.actor, row.action, row.subject, row.detail)) for row in rows]

    async def standing(self, now: int) -> list[Restriction]:
        """What stands, by kind and subject."""
        query = (
            select(restrictions)
            .where(or_(restrictions.c.until.is_(None), restrictions.c.until > now))
            .order_by(restrictions.c.kind, restrictions.c.subject)
        )
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [Restriction(row.kind, row.subject, row.until) for row in rows]
