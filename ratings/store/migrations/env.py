"""Alembic's entry: one transaction for all missing migrations, one migrating process at a time."""

from alembic import context
from sqlalchemy import Connection, Engine, text

from ratings.store.schema import metadata

# Any number, the same in every release.
_LOCK = 0x6E75_6D62


def _exclusive(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})


def _run(engine: Engine) -> None:
    with engine.connect() as connection, connection.begin():
        _exclusive(connection)
        context.configure(connection=connection, target_metadata=metadata, transactional_ddl=False)
        context.run_migrations()


_run(context.config.attributes["engine"])
