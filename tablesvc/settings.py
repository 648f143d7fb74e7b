"""Settings of a table worker."""

import re
from dataclasses import dataclass

from numbridge.settings import PREFIX, CommonSettings

_SAFE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, kw_only=True)
class TableSettings(CommonSettings):
    """What `numbridge table` reads."""

    grpc_port: int = 0  # 0: any free port
    advertise: str = ""  # host or host:port at which gateways and lobbies reach this worker; empty: where it listens

    lease_ttl_ms: int = 2_500  # shorter: a dead worker's games go on sooner; longer: a slow one keeps them
    lease_beat_ms: int = 500  # how often the lease is renewed
    takeover_parallel: int = 8  # shards replayed at once; more is faster on idle machines and rougher on busy ones
    handover_parallel: int = 8  # shards given up at once while the next owners take them
    handover_wait_ms: int = 1_500  # how long a hand-over waits for the next owner before it goes on with others

    mailbox_limit: int = 64  # commands waiting at one table; beyond it they are refused as busy
    link_limit: int = 4_096  # unanswered commands of one gateway; beyond it its stream is read no further
    opening_limit: int = 1_024  # commands held for a shard that is being taken over; beyond it they are refused
    answer_ms: int = 3_000  # a command that the log keeps waiting is answered `unavailable` after this

    append_timeout_ms: int = 1_500  # an append without an ack for so long is looked up in the log
    stall_ms: int = 1_000  # the log or this process stood still for so long: the clocks get that time back

    presence_ms: int = 250  # who is at a table is said at most this often
    seats_ms: int = 30_000  # who sits where is said again this often
    result_retry_ms: int = 30_000  # a result not known to be in SQL is published again after this
    keep_over_ms: int = 60_000  # a finished game stays for late comers this long after its record is in SQL
    keep_over_limit: int = 2_000  # at most so many of them; the oldest go first

    stock_games: int = 320  # deals kept ready for each popular setting: so many games may begin at once without a wait

    def check(self) -> list[str]:
        """See CommonSettings.check."""
        problems = super().check()
        if not _SAFE_NAME.fullmatch(self.name or "x"):
            problems.append(f"{PREFIX}NAME is {self.name!r}; a worker's may hold letters, digits, _ and - only")
        if not 0 <= self.grpc_port <= 65_535:
            problems.append(f"{PREFIX}GRPC_PORT is {self.grpc_port}; it must be 0 to 65535")
        for name in (
            "lease_ttl_ms", "lease_beat_ms", "takeover_parallel", "handover_parallel", "handover_wait_ms",
            "mailbox_limit", "link_limit", "opening_limit", "answer_ms", "append_timeout_ms", "stall_ms", "presence_ms",
            "seats_ms", "result_retry_ms", "keep_over_ms", "keep_over_limit", "stock_games",
        ):  # fmt: skip
            if getattr(self, name) <= 0:
                problems.append(f"{PREFIX}{name.upper()} is {getattr(self, name)}; it must be above 0")
        if self.lease_beat_ms * 3 > self.lease_ttl_ms:
            problems.append(
                f"{PREFIX}LEASE_BEAT_MS is {self.lease_beat_ms} and {PREFIX}LEASE_TTL_MS {self.lease_ttl_ms}; "
                "a lease must outlast three beats"
            )
        if self.append_timeout_ms >= self.answer_ms:
            problems.append(
                f"{PREFIX}APPEND_TIMEOUT_MS is {self.append_timeout_ms} and {PREFIX}ANSWER_MS {self.answer_ms}; "
                "a lost ack must be looked up before the command is given up"
            )
        return problems
