"""SQL behind the ratings service: one schema for SQLite and PostgreSQL.

schema      the tables
database    connections, transactions, and what their errors mean
ledger      the one transaction of a finished game
library     reads
people      players, blocks
migrating   brings a database to this release's schema
migrations/ Alembic's scripts
"""

from ratings.store.migrating import migrate

__all__ = ["migrate"]
