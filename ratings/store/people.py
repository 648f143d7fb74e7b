"""Players and who blocks whom."""

from sqlalchemy import Connection, delete, func, or_, select

from ratings.domain import Blocks
from ratings.store import statements
from ratings.store.database import Database
from ratings.store.schema import blocks, players


class SqlPeople:
    """`ports.People` on SQL. Every method raises StoreAway, the writing ones StoreRefused too."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure(self, player: str, name: str, guest: bool, at: int) -> None:
        """Makes the player known, or updates name and kind; what is so already costs no write."""
        known = select(players.c.name, players.c.guest).where(players.c.id == player)
        row = await self._database.read(lambda connection: connection.execute(known).one_or_none())
        if row is not None and (row.name, row.guest) == (name, guest):
            return
        values = {"id": player, "name": name, "guest": guest, "created_at": at}
        await self._database.write(lambda connection: connection.execute(statements.PUT_PLAYER, values).close())

    async def blocks(self, player: str) -> Blocks:
        """Blocks in both directions, by id."""
        query = select(blocks).where(or_(blocks.c.player == player, blocks.c.other == player))
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return Blocks(
            blocks=sorted(row.other for row in rows if row.player == player),
            blocked_by=sorted(row.player for row in rows if row.other == player),
        )

    async def put_block(self, player: str, other: str, blocked: bool, at: int, most: int) -> bool:
        """Blocks or unblocks; False if the player blocks `most` others already."""
        mine = blocks.c.player == player

        def put(connection: Connection) -> bool:
            if not blocked:
                connection.execute(delete(blocks).where(mine, blocks.c.other == other))
                return True
            count = select(func.count()).select_from(blocks).where(mine, blocks.c.other != other)
            if connection.execute(count).scalar_one() >= most:
                return False
            connection.execute(statements.PUT_BLOCK, {"player": player, "other": other, "at": at})
            return True

        return await self._database.write(put)
