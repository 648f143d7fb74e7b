"""Brings a database to this release's schema."""

import threading
from dataclasses import dataclass
from importlib import resources

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.pool import NullPool

from numbridge import clock
from ratings.store.database import connect_args, make_folder, parse_url, prepare_sqlite, translated

_alembic = threading.Lock()  # its context is global to the process


def migrate(url: str) -> str:
    """Runs the migrations that are missing, and returns the schema's revision.

    A database that a newer release has migrated is left as it is: each migration only adds what the release before
    can live without, so that one can go back. Blocking. Several processes may call it at once: one migrates, the
    others wait and find it done.
    Raises ValueError (not such a URL), OSError (no folder), StoreAway (no database, or one that refuses).
    """
    config = _config()
    engine = _engine(url)
    try:
        config.attributes["engine"] = engine
        with translated(), _alembic:
            before = _revision(engine)
            if _is_ahead(before):
                return before or ""
            command.upgrade(config, "head")
            return _revision(engine) or ""
    finally:
        engine.dispose()


def pending(url: str) -> bool:
    """Whether migrations are missing; none are where a newer release has been. Blocking; raises as `migrate` does."""
    engine = _engine(url)
    try:
        with translated():
            revision = _revision(engine)
            return revision != _head() and not _is_ahead(revision)
    finally:
        engine.dispose()


@dataclass(frozen=True, slots=True)
class Examined:
    """What a database says of itself: which schema it has and which this release wants, its clock against ours."""

    server: str
    revision: str | None
    """None: nobody has ever migrated it."""
    head: str | None
    ahead_ms: int | None
    """Its clock minus ours; None for SQLite, which has none of its own."""


def examine(url: str) -> Examined:
    """Looks and changes nothing. Blocking; raises as `migrate` does."""
    engine = _engine(url)
    try:
        with translated(), engine.connect() as connection:
            revision = MigrationContext.configure(connection).get_current_revision()
            version = ".".join(str(part) for part in connection.dialect.server_version_info or ())
            ahead = None
            if connection.dialect.name == "postgresql":
                query = text("SELECT extract(epoch FROM clock_timestamp()) * 1000")
                began = clock.now_ms()
                there = int(connection.execute(query).scalar_one())
                ahead = there - (began + clock.now_ms()) // 2
            return Examined(f"{connection.dialect.name} {version}", revision, _head(), ahead)
    finally:
        engine.dispose()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(resources.files("ratings.store").joinpath("migrations")))
    return config


def _engine(url: str) -> Engine:
    parsed = parse_url(url)
    make_folder(parsed)
    arguments = connect_args(parsed)
    if parsed.get_backend_name() != "sqlite":
        # A large table may take longer than any statement of daily work.
        arguments["options"] = "-c lock_timeout=60000"
    engine = create_engine(parsed, poolclass=NullPool, connect_args=arguments)
    if parsed.get_backend_name() == "sqlite":
        event.listen(engine, "connect", prepare_sqlite)
    return engine


def _head() -> str | None:
    """The revision that this release makes. Revisions are numbers of three digits."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def _is_ahead(revision: str | None) -> bool:
    return revision is not None and revision > (_head() or "")


def _revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()
