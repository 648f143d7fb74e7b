"""The tables. Times are milliseconds since the epoch; ids compare byte by byte on every database."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    desc,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)

# SQLite compares text by bytes anyway; PostgreSQL would follow the database's language.
_Id = String(64).with_variant(String(64, collation="C"), "postgresql")
_Ms = BigInteger
_Double = Float(53)
_Serial = BigInteger().with_variant(Integer, "sqlite")

players = Table(
    "players",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", String(32), nullable=False),
    Column("guest", Boolean, nullable=False),
    Column("created_at", _Ms, nullable=False),
    # Finished games of all kinds, so that a profile needs no counting.
    Column("won", Integer, nullable=False, server_default="0"),
    Column("lost", Integer, nullable=False, server_default="0"),
    Column("drawn", Integer, nullable=False, server_default="0"),
)

ratings = Table(
    "ratings",
    metadata,
    Column("player", _Id, ForeignKey("players.id"), primary_key=True),
    Column("variant", String(16), primary_key=True),
    Column("rating", _Double, nullable=False),
    Column("deviation", _Double, nullable=False),
    Column("volatility", _Double, nullable=False),
    Column("games", Integer, nullable=False),
    Column("last_at", _Ms),
)
Index("ix_ratings_board", ratings.c.variant, desc(ratings.c.rating), ratings.c.player)

games = Table(
    "games",
    metadata,
    # Order of application: of two games with a player in common, the one rated first has the lower number.
    Column("seq", _Serial, Identity(always=False), primary_key=True),
    # What makes a game count once.
    Column("id", _Id, nullable=False, unique=True),
    Column("room", Text, nullable=False),
    Column("variant", String(16), nullable=False),
    Column("blue", _Id, ForeignKey("players.id"), nullable=False),
    Column("red", _Id, ForeignKey("players.id"), nullable=False),
    Column("blue_name", String(32), nullable=False),
    Column("red_name", String(32), nullable=False),
    Column("blue_rating", Integer),
    Column("red_rating", Integer),
    Column("rated", Boolean, nullable=False),
    Column("result", String(8), nullable=False),
    Column("reason", String(32), nullable=False),
    Column("started_at", _Ms, nullable=False),
    Column("ended_at", _Ms, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("settings", Text, nullable=False),  # JSON
    # zlib streams of JSON text; last, so that reading the rest of a row leaves them alone.
    Column("record_z", LargeBinary, nullable=False),
    Column("view_z", LargeBinary, nullable=False),
    sqlite_autoincrement=True,
)
Index("ix_games_blue", games.c.blue, games.c.ended_at, games.c.id)
Index("ix_games_red", games.c.red, games.c.ended_at, games.c.id)

rating_history = Table(
    "rating_history",
    metadata,
    Column("seq", BigInteger, ForeignKey("games.seq"), primary_key=True, autoincrement=False),
    Column("color", String(4), primary_key=True),
    Column("player", _Id, nullable=False),
    Column("variant", String(16), nullable=False),
    # Just before the game, idle days counted.
    Column("rating_before", _Double, nullable=False),
    Column("deviation_before", _Double, nullable=False),
    Column("volatility_before", _Double, nullable=False),
    Column("rating", _Double, nullable=False),
    Column("deviation", _Double, nullable=False),
    Column("volatility", _Double, nullable=False),
    Column("games", Integer, nullable=False),
    Column("last_at", _Ms, nullable=False),
)
Index(
    "ix_rating_history_player",
    rating_history.c.player,
    rating_history.c.variant,
    rating_history.c.seq,
)

blocks = Table(
    "blocks",
    metadata,
    Column("player", _Id, primary_key=True),
    Column("other", _Id, primary_key=True),
    Column("at", _Ms, nullable=False),
)
Index("ix_blocks_other", blocks.c.other)

# What operators did.
audit = Table(
    "audit",
    metadata,
    Column("id", _Serial, Identity(always=False), primary_key=True),
    Column("at", _Ms, nullable=False),
    Column("actor", _Id, nullable=False),
    Column("action", String(32), nullable=False),
    Column("subject", Text, nullable=False),
    Column("detail", Text, nullable=False, server_default=""),
    sqlite_autoincrement=True,
)
Index("ix_audit_at", audit.c.at)

# What operators have restricted and not lifted: rooms closed for new seeks, players who may not seek.
restrictions = Table(
    "restrictions",
    metadata,
    Column("kind", String(16), primary_key=True),
    Column("subject", _Id, primary_key=True),
    Column("until", _Ms),  # null: until an operator lifts it
)

# Messages of the results stream that hold no result.
set_aside = Table(
    "set_aside",
    metadata,
    Column("id", _Serial, Identity(always=False), primary_key=True),
    Column("at", _Ms, nullable=False),
    Column("subject", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    sqlite_autoincrement=True,
)
