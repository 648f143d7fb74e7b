"""Settings of the ratings service."""

from dataclasses import dataclass

from numbridge.settings import PREFIX, CommonSettings
from ratings.store.database import CONNECTIONS, DEADLINE_S, parse_url


@dataclass(frozen=True, kw_only=True)
class RatingsSettings(CommonSettings):
    """What `numbridge ratings` reads."""

    # sqlite:///file or postgresql://user:password@host/database; several replicas need PostgreSQL
    database_url: str = "sqlite:///numbridge.sqlite3"
    migrate: bool = True  # off: a job has brought the schema up, and the service refuses to start before that
    grpc_port: int = 7200
    # Results worked on at once; more than the database's connections only wait for one.
    results_in_flight: int = 6
    # A result that is not acknowledged by then goes to another replica; shorter heals sooner and repeats more.
    results_ack_wait_ms: int = 30_000
    start_wait_ms: int = 60_000  # how long the start waits for SQL before it gives up

    def check(self) -> list[str]:
        """Problems of values and of their combinations."""
        problems = super().check()
        try:
            parse_url(self.database_url)
        except ValueError as error:  # the URL may hold a password and is not repeated
            problems.append(f"{PREFIX}DATABASE_URL {error}")
        if not 0 <= self.grpc_port <= 65_535:
            problems.append(f"{PREFIX}GRPC_PORT is {self.grpc_port}; it must be 0 to 65535")
        if not 1 <= self.results_in_flight < CONNECTIONS:
            problems.append(
                f"{PREFIX}RESULTS_IN_FLIGHT is {self.results_in_flight}; it must be 1 to {CONNECTIONS - 1}, "
                f"for one of {CONNECTIONS} database connections must be left for readers"
            )
        if self.results_ack_wait_ms < DEADLINE_S * 1000:
            problems.append(
                f"{PREFIX}RESULTS_ACK_WAIT_MS is {self.results_ack_wait_ms}; it must be at least "
                f"{int(DEADLINE_S * 1000)}, as long as a transaction may take"
            )
        if self.start_wait_ms < 0:
            problems.append(f"{PREFIX}START_WAIT_MS is {self.start_wait_ms}; it must not be negative")
        return problems
