"""The outcome of a run: numbers, tables, and whether the promises were kept."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.chaos import stalls
from tests.chaos.audit import FATAL, Finding
from tests.chaos.faults import KINDS, Fault
from tests.chaos.ledger import Attempt, Fate, Ledger
from tests.chaos.stalls import Stalls

_LONGEST = 6  # waits that are shown one by one
DRAIN_S, KILL_S = 1.0, 5.0  # what is promised of a drained and of a killed worker


@dataclass(slots=True)
class Report:
    """See the module."""

    seed: int
    seconds: float
    faults: list[Fault]
    ledger: Ledger
    findings: list[Finding]
    ended: Counter[str] = field(default_factory=Counter)
    """Reason -> games."""
    running: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def games(self) -> int:
        """Games that any client heard of."""
        return len(self.ledger.games)

    @property
    def kept(self) -> bool:
        """Whether nothing at all is wrong."""
        return not self.findings and all(fault.back for fault in self.faults)

    @property
    def acknowledged(self) -> list[Attempt]:
        """Every action that a client knows to have counted."""
        return [attempt for attempt in self.ledger.attempts if attempt.fate is Fate.ACKNOWLEDGED]

    def of(self, kind: str) -> list[Fault]:
        """Faults of one kind."""
        return [fault for fault in self.faults if fault.kind == kind]

    def within_bounds(self) -> bool:
        """Whether the longest stalls are what is promised."""
        drained, killed = (stalls.of(self.of(kind), self.acknowledged) for kind in ("worker drain", "worker kill"))
        return drained.worst_s < DRAIN_S and killed.worst_s < KILL_S

    # --- as text

    def text(self) -> str:
        """All of it."""
        lines = [*self._faults(), "", *self._stalls(), "", *self._longest(), "", *self._sums(), *self._wrong()]
        return "\n".join(lines)

    def _faults(self) -> list[str]:
        lines = [f"{'fault':<16}{'times':>6}{'games':>7}{'moves':>8}{'lost':>6}{'doubled':>9}{'longest stall':>15}"]
        for kind in KINDS:
            faults = self.of(kind)
            if not faults:
                continue
            touched = sum(len(fault.touched) for fault in faults)
            moves = sum(any(_during(fault, attempt.ended) for fault in faults) for attempt in self.acknowledged)
            lost, doubled = (self._during(faults, what) for what in ("lost", "doubled"))
            worst = stalls.of(faults, self.acknowledged).worst_s
            lines.append(f"{kind:<16}{len(faults):>6}{touched:>7}{moves:>8}{lost:>6}{doubled:>9}{worst:>13.2f} s")
        count = Counter(finding.kind for finding in self.findings)
        lines.append(
            f"{'all':<16}{len(self.faults):>6}{self.games:>7}{len(self.acknowledged):>8}"
            f"{count['lost']:>6}{count['doubled']:>9}{self._worst():>13.2f} s"
        )
        return lines

    def _worst(self) -> float:
        return max((attempt.ended - attempt.began for attempt in self.acknowledged), default=0.0)

    def _during(self, faults: list[Fault], kind: str) -> int:
        times = [finding.at for finding in self.findings if finding.kind == kind]
        return sum(any(_during(fault, at) for fault in faults) for at in times)

    def _stalls(self) -> list[str]:
        lines = [f"{'stall seen by players':<24}{'games':>7}{'median':>10}{'worst':>10}"]

        def row(name: str, found: Stalls) -> None:
            lines.append(f"{name:<24}{found.games:>7}{found.median_s:>8.2f} s{found.worst_s:>8.2f} s")

        for kind, bound in (("worker drain", DRAIN_S), ("worker kill", KILL_S)):
            row(f"{kind} (< {bound:g} s)", stalls.of(self.of(kind), self.acknowledged))
        others = [fault for fault in self.faults if fault.kind not in ("worker drain", "worker kill")]
        row("any other fault", stalls.of(others, self.acknowledged))
        row("no fault (waits)", stalls.quiet(self.faults, self.acknowledged))
        return lines

    def _longest(self) -> list[str]:
        """The longest waits of all, and what went on meanwhile."""
        lines = ["longest waits"]
        found = sorted(self.acknowledged, key=lambda attempt: attempt.began - attempt.ended)[:_LONGEST]
        for attempt in found:
            during = [
                f"{fault.kind} {fault.name} ({fault.began:.1f} to {fault.ended:.1f})"
                for fault in self.faults
                if fault.began < attempt.ended and attempt.began < fault.ended + stalls.AFTER_S
            ]
            lines.append(
                f"  {attempt.ended - attempt.began:5.2f} s from {attempt.began:.1f}, sent {attempt.sends} times, "
                f"{attempt.game}: {', '.join(during) or 'no fault'}"
            )
        return lines

    def _sums(self) -> list[str]:
        attempts = self.ledger.attempts
        again = sum(attempt.sends > 1 for attempt in attempts)
        open_ = sum(attempt.fate is Fate.UNKNOWN for attempt in attempts)
        ends = ", ".join(f"{count} {reason}" for reason, count in self.ended.most_common())
        kinds = len({fault.kind for fault in self.faults})
        return [
            f"{self.games} games ({ends}; {self.running} still run), {len(self.faults)} faults of {kinds} kinds "
            f"in {self.seconds:.0f} s, seed {self.seed}",
            f"{len(attempts)} actions, {again} of them sent more than once, {open_} left open; "
            f"{sum(map(len, self.ledger.texts.values()))} events seen, {self.ledger.asked_for} of them only when asked",
            *self.notes,
        ]

    def _wrong(self) -> list[str]:
        away = [f"{fault.name} was not back after {fault.kind}" for fault in self.faults if not fault.back]
        by_kind: dict[str, list[Finding]] = defaultdict(list)
        for finding in self.findings:
            by_kind[finding.kind].append(finding)
        lines = away
        for kind in FATAL:
            for finding in by_kind[kind][:10]:
                lines.append(f"{kind}: {finding.game} at {finding.at:.1f} s: {finding.text[:600]}")
            if len(by_kind[kind]) > 10:
                lines.append(f"{kind}: {len(by_kind[kind]) - 10} more")
        return ["", *lines] if lines else ["nothing lost, nothing doubled, every promise kept"]

    def facts(self) -> dict[str, Any]:
        """The numbers, for a file."""
        return {
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "games": self.games,
            "ended": dict(self.ended),
            "acknowledged": len(self.acknowledged),
            "faults": dict(Counter(fault.kind for fault in self.faults)),
            "findings": dict(Counter(finding.kind for finding in self.findings)),
            "stalls": {
                kind: {"games": found.games, "median_s": round(found.median_s, 3), "worst_s": round(found.worst_s, 3)}
                for kind in KINDS
                if (found := stalls.of(self.of(kind), self.acknowledged)).games
            },
        }


def _during(fault: Fault, at: float) -> bool:
    return fault.began <= at <= fault.ended + stalls.AFTER_S
