"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
_SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_DOUBLE = sa.Float(53)


def upgrade() -> None:
    """Everything."""
    _players()
    _games()
    _history()
    _operators()


def _players() -> None:
    op.create_table(
        "players",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("guest", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("won", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lost", sa.Integer(), server_default="0", nullable=False),
        sa.Column("drawn", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_players"),
    )
    op.create_table(
        "ratings",
        sa.Column("player", _ID, nullable=False),
        sa.Column("variant", sa.String(16), nullable=False),
        sa.Column("rating", _DOUBLE, nullable=False),
        sa.Column("deviation", _DOUBLE, nullable=False),
        sa.Column("volatility", _DOUBLE, nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["player"], ["players.id"], name="fk_ratings_player"),
        sa.PrimaryKeyConstraint("player", "variant", name="pk_ratings"),
    )
    op.create_index("ix_ratings_board", "ratings", ["variant", sa.text("rating DESC"), "player"])
    op.create_table(
        "blocks",
        sa.Column("player", _ID, nullable=False),
        sa.Column("other", _ID, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("player", "other", name="pk_blocks"),
    )
    op.create_index("ix_blocks_other", "blocks", ["other"])


def _games() -> None:
    op.create_table(
        "games",
        sa.Column("seq", _SERIAL, sa.Identity(always=False), nullable=False),
        sa.Column("id", _ID, nullable=False),
        sa.Column("room", sa.Text(), nullable=False),
        sa.Column("variant", sa.String(16), nullable=False),
        sa.Column("blue", _ID, nullable=False),
        sa.Column("red", _ID, nullable=False),
        sa.Column("blue_name", sa.String(32), nullable=False),
        sa.Column("red_name", sa.String(32), nullable=False),
        sa.Column("blue_rating", sa.Integer(), nullable=True),
        sa.Column("red_rating", sa.Integer(), nullable=True),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("result", sa.String(8), nullable=False),
        sa.Column("reason", sa.String(32), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("record_z", sa.LargeBinary(), nullable=False),
        sa.Column("view_z", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["blue"], ["players.id"], name="fk_games_blue"),
        sa.ForeignKeyConstraint(["red"], ["players.id"], name="fk_games_red"),
        sa.PrimaryKeyConstraint("seq", name="pk_games"),
        sa.UniqueConstraint("id", name="uq_games_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_games_blue", "games", ["blue", "ended_at", "id"])
    op.create_index("ix_games_red", "games", ["red", "ended_at", "id"])


def _history() -> None:
    op.create_table(
        "rating_history",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("color", sa.String(4), nullable=False),
        sa.Column("player", _ID, nullable=False),
        sa.Column("variant", sa.String(16), nullable=False),
        sa.Column("rating_before", _DOUBLE, nullable=False),
        sa.Column("deviation_before", _DOUBLE, nullable=False),
        sa.Column("volatility_before", _DOUBLE, nullable=False),
        sa.Column("rating", _DOUBLE, nullable=False),
        sa.Column("deviation", _DOUBLE, nullable=False),
        sa.Column("volatility", _DOUBLE, nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["seq"], ["games.seq"], name="fk_rating_history_seq"),
        sa.PrimaryKeyConstraint("seq", "color", name="pk_rating_history"),
    )
    op.create_index("ix_rating_history_player", "rating_history", ["player", "variant", "seq"])


def _operators() -> None:
    op.create_table(
        "audit",
        sa.Column("id", _SERIAL, sa.Identity(always=False), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", _ID, nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_at", "audit", ["at"])
    op.create_table(
        "set_aside",
        sa.Column("id", _SERIAL, sa.Identity(always=False), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_set_aside"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Back to nothing: the order is that of the references."""
    for table in ("set_aside", "audit", "rating_history", "games", "blocks", "ratings", "players"):
        op.drop_table(table)
