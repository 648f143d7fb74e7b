"""The statements of the one hot transaction, as text that SQLite and PostgreSQL both understand.

SQLAlchemy compiles an INSERT with ON CONFLICT afresh every time; text is compiled once.
"""

from sqlalchemy import text

from ratings.store.schema import games

FIND_GAME = text("SELECT seq FROM games WHERE id = :game")

KNOW_PLAYER = text(
    "INSERT INTO players (id, name, guest, created_at) VALUES (:id, :name, :guest, :created_at) "
    "ON CONFLICT (id) DO NOTHING"
)

FIRST_RATING = text(
    "INSERT INTO ratings (player, variant, rating, deviation, volatility, games, last_at) "
    "VALUES (:player, :variant, :rating, :deviation, :volatility, :games, :last_at) "
    "ON CONFLICT (player, variant) DO NOTHING"
)

_READ_RATINGS = (
    "SELECT player, rating, deviation, volatility, games, last_at FROM ratings "
    "WHERE variant = :variant AND player IN (:first, :second) ORDER BY player"
)
# SQLite's writer has the whole database to itself.
LOCK_RATINGS = {
    "sqlite": text(_READ_RATINGS),
    "postgresql": text(f"{_READ_RATINGS} FOR UPDATE"),
}

CHANGE_RATING = text(
    "UPDATE ratings SET rating = :rating, deviation = :deviation, volatility = :volatility, games = :games, "
    "last_at = :last_at WHERE player = :player AND variant = :variant"
)

PUT_RATING = text(
    "INSERT INTO ratings (player, variant, rating, deviation, volatility, games, last_at) "
    "VALUES (:player, :variant, :rating, :deviation, :volatility, :games, :last_at) "
    "ON CONFLICT (player, variant) DO UPDATE SET rating = excluded.rating, deviation = excluded.deviation, "
    "volatility = excluded.volatility, games = excluded.games, last_at = excluded.last_at"
)

_COLUMNS = [column.name for column in games.c if column.name != "seq"]
# No row comes back if the game is there already.
ARCHIVE_GAME = text(
    f"INSERT INTO games ({', '.join(_COLUMNS)}) VALUES ({', '.join(f':{name}' for name in _COLUMNS)}) "  # noqa: S608
    "ON CONFLICT (id) DO NOTHING RETURNING seq"
)

COUNT_RESULT = text("UPDATE players SET won = won + :won, lost = lost + :lost, drawn = drawn + :drawn WHERE id = :id")

PUT_PLAYER = text(
    "INSERT INTO players (id, name, guest, created_at) VALUES (:id, :name, :guest, :created_at) "
    "ON CONFLICT (id) DO UPDATE SET name = excluded.name, guest = excluded.guest"
)

PUT_BLOCK = text(
    "INSERT INTO blocks (player, other, at) VALUES (:player, :other, :at) ON CONFLICT (player, other) DO NOTHING"
)
