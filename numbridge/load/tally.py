"""What was measured at one level. Pure."""

from collections import Counter
from dataclasses import dataclass, field


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of them do not exceed; 0 if there are none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


@dataclass(slots=True)
class Tally:
    """Seconds, as players and the generator itself saw them."""

    answered: list[float] = field(default_factory=list)
    """From a play's sending to its `ok`."""
    shown: list[float] = field(default_factory=list)
    """From a play's sending until every player of the table who is of this crowd has its `move`."""
    seated: list[float] = field(default_factory=list)
    """From a seek's sending to its `seated`."""
    late: list[float] = field(default_factory=list)
    """How late the generator was to send what was due: its own fault, not the deployment's."""
    errors: Counter[str] = field(default_factory=Counter)
    """By code; `dropped` is a connection that ended."""
    games: int = 0
    """Games that ended."""


@dataclass(frozen=True, slots=True)
class Goals:
    """What has to hold. Latencies in milliseconds."""

    move_p99_ms: float = 100.0
    seat_p95_ms: float = 5_000.0
    errors: float = 0.001
    """Refused or unanswered plays and seeks, as a share of all."""
    generator_cpu: float = 0.8
    """Of one core: beyond it the generator measures itself."""
    late_p99_ms: float = 20.0


@dataclass(frozen=True, slots=True)
class Level:
    """One level's result."""

    games: int
    seconds: float
    moves: int
    moves_per_s: float
    move_p50_ms: float
    move_p99_ms: float
    answer_p50_ms: float
    answer_p99_ms: float
    seats: int
    seat_p50_ms: float
    seat_p95_ms: float
    finished: int
    errors: dict[str, int]
    late_p99_ms: float
    generator_cpu: float
    """Cores."""
    cpu: dict[str, float]
    """Cores, by process."""
    memory_mib: dict[str, float]
    """Resident, by process."""
    failed: list[str]
    """Goals that were missed, a sentence each."""
    valid: bool
    """False: the generator was the limit, so the level says nothing of the deployment."""

    @property
    def held(self) -> bool:
        """Whether the deployment met the goals here."""
        return self.valid and not self.failed


def _ms(values: list[float], share: float) -> float:
    return round(1e3 * percentile(values, share), 2)


def judge(
    tally: Tally,
    goals: Goals,
    games: int,
    seconds: float,
    generator_cpu: float,
    cpu: dict[str, float],
    memory_mib: dict[str, float],
    overdue: int,
) -> Level:
    """Holds what was measured against the goals. `overdue`: plays that have waited too long at the end."""
    moves = len(tally.shown)
    errors = dict(sorted(tally.errors.items()))
    if overdue:
        errors["unanswered"] = overdue
    failed = []
    move_p99, seat_p95, late_p99 = _ms(tally.shown, 0.99), _ms(tally.seated, 0.95), _ms(tally.late, 0.99)
    if not moves:
        failed.append("no move was made")
    if move_p99 > goals.move_p99_ms:
        failed.append(f"99 % of moves were shown within {move_p99:g} ms, not {goals.move_p99_ms:g}")
    if seat_p95 > goals.seat_p95_ms:
        failed.append(f"95 % of seeks were seated within {seat_p95:g} ms, not {goals.seat_p95_ms:g}")
    wrong, asked = sum(errors.values()), moves + len(tally.seated) + sum(errors.values())
    if asked and wrong / asked > goals.errors:
        failed.append(f"{wrong} of {asked} requests failed")
    valid = generator_cpu <= goals.generator_cpu and late_p99 <= goals.late_p99_ms
    return Level(
        games=games,
        seconds=round(seconds, 2),
        moves=moves,
        moves_per_s=round(moves / seconds, 1),
        move_p50_ms=_ms(tally.shown, 0.5),
        move_p99_ms=move_p99,
        answer_p50_ms=_ms(tally.answered, 0.5),
        answer_p99_ms=_ms(tally.answered, 0.99),
        seats=len(tally.seated),
        seat_p50_ms=_ms(tally.seated, 0.5),
        seat_p95_ms=seat_p95,
        finished=tally.games,
        errors=errors,
        late_p99_ms=late_p99,
        generator_cpu=round(generator_cpu, 3),
        cpu={name: round(value, 3) for name, value in cpu.items()},
        memory_mib={name: round(value, 1) for name, value in memory_mib.items()},
        failed=failed,
        valid=valid,
    )
