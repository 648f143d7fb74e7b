"""What the lobby reads from NUMBRIDGE_* variables."""

from dataclasses import dataclass

from numbridge.settings import PREFIX, CommonSettings


@dataclass(frozen=True, kw_only=True)
class LobbySettings(CommonSettings):
    """Settings of one lobby replica."""

    grpc_port: int = 7100  # 0: any free port
    rooms_file: str = ""  # a rooms file; empty: the club's four rooms
    ratings_addr: str = "127.0.0.1:7200"  # host:port of the ratings service, several separated by commas
    one_table: bool = True  # a player with a game under way may not seek; adjourned games do not count
    pool_ttl_ms: int = 3_000  # a replica's leases end this long after its last sign: matches wait so long if it dies
    grace_ms: int = 5_000  # seeks outlive their player's last connection by this; a reload must fit in
    gateway_lease_ms: int = 6_000  # a gateway is taken for dead after this silence; it speaks every 3 s
    strand_ms: int = 3_500  # then another gateway may claim the players: more than one heartbeat
    seat_deadline_ms: int = 15_000  # a match that has no table by then is undone, unless a table may exist
    seat_attempt_ms: int = 2_500  # one CreateTable call
    hold_ms: int = 5_000  # after Redis came back empty: longest wait for seats and seeks to be announced again
    deltas_ms: int = 250  # changes of a seek list are told at most so often

    def check(self) -> list[str]:
        """Problems of single values and of their combinations."""
        problems = CommonSettings.check(self)
        for name in (
            "pool_ttl_ms",
            "grace_ms",
            "gateway_lease_ms",
            "strand_ms",
            "seat_deadline_ms",
            "seat_attempt_ms",
            "hold_ms",
            "deltas_ms",
        ):
            value = getattr(self, name)
            if not 50 <= value <= 600_000:
                problems.append(f"{PREFIX}{name.upper()} is {value}; it must be 50 to 600000")
        if self.gateway_lease_ms + self.strand_ms > 10_000:
            problems.append(
                f"{PREFIX}GATEWAY_LEASE_MS and {PREFIX}STRAND_MS add up to "
                f"{self.gateway_lease_ms + self.strand_ms}; seeks must end within 10000 ms of their gateway's death"
            )
        if self.seat_attempt_ms >= self.seat_deadline_ms:
            problems.append(f"{PREFIX}SEAT_ATTEMPT_MS must be less than {PREFIX}SEAT_DEADLINE_MS")
        if not 0 <= self.grpc_port <= 65_535:
            problems.append(f"{PREFIX}GRPC_PORT is {self.grpc_port}; it must be 0 to 65535")
        return problems
