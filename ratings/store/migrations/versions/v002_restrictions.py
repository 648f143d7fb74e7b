"""What operators have restricted."""

import sqlalchemy as sa
from alembic import op

revision = "002"
down_revision = "001"
branch_labels = None
depends_on = None

_ID = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade() -> None:
    """One table."""
    op.create_table(
        "restrictions",
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("subject", _ID, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("kind", "subject", name="pk_restrictions"),
    )


def downgrade() -> None:
    """Without it."""
    op.drop_table("restrictions")
