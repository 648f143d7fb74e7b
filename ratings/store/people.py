"""Players and who blocks whom."""

from sqlalchemy import delete, func, or_, select

from ratings.domain import Blocks
from ratings.store.database import Database, insert, uninterrupted
from ratings.store.schema import blocks, players


class SqlPeople:
    """`ports.People` on SQL. Every method raises StoreAway, the writing ones StoreRefused too."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def ensure(self, player: str, name: str, guest: bool, at: int) -> None:
        """Makes the player known, or updates name and kind; what is so already costs no write."""
        known = select(players.c.name, players.c.guest).where(players.c.id == player)
        async with self._database.read() as connection:
            row = (await connection.execute(known)).one_or_none()
        if row is not None and (row.name, row.guest) == (name, guest):
            return
        async with self._database.write() as connection:
            statement = insert(connection, players).values(id=player, name=name, guest=guest, created_at=at)
            await connection.execute(
                statement.on_conflict_do_update(index_elements=["id"], set_={"name": name, "guest": guest})
            )

    @uninterrupted
    async def blocks(self, player: str) -> Blocks:
        """Blocks in both directions, by id."""
        query = select(blocks).where(or_(blocks.c.player == player, blocks.c.other == player))
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return Blocks(
            blocks=sorted(row.other for row in rows if row.player == player),
            blocked_by=sorted(row.player for row in rows if row.other == player),
        )

    @uninterrupted
    async def put_block(self, player: str, other: str, blocked: bool, at: int, most: int) -> bool:
        """Blocks or unblocks; False if the player blocks `most` others already."""
        async with self._database.write() as connection:
            mine = blocks.c.player == player
            if not blocked:
                await connection.execute(delete(blocks).where(mine, blocks.c.other == other))
                return True
            count = select(func.count()).select_from(blocks).where(mine, blocks.c.other != other)
            if (await connection.execute(count)).scalar_one() >= most:
                return False
            statement = insert(connection, blocks).values(player=player, other=other, at=at)
            await connection.execute(statement.on_conflict_do_nothing())
            return True
