"""A coverage-guided fuzzer in a page: no compiled parts, so it runs wherever the tests do."""

import gc
import logging
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

import structlog

ROOT = Path(__file__).parents[2]
OURS = tuple(f"{ROOT / package}/" for package in ("numbridge", "gateway", "lobby", "ratings", "tablesvc"))
HANG_S = 1.0  # of processor time
GROWTH_KB = 64_000
MOST_BYTES = 6_000

Target = Callable[[bytes], None]
Spot = tuple[CodeType, int]


class Hang(BaseException):
    """An input took longer than HANG_S."""


@dataclass(slots=True)
class Finding:
    """An input that did what none may do."""

    data: bytes
    what: str


@dataclass(slots=True)
class Outcome:
    """What fuzzing one target came to."""

    runs: int = 0
    kept: list[bytes] = field(default_factory=list)
    """Inputs that reached something new."""
    findings: list[Finding] = field(default_factory=list)
    spots: int = 0
    slowest_s: float = 0.0
    grown_kb: int = 0


class Coverage:
    """Lines of ours that were run."""

    def __init__(self) -> None:
        self.seen: set[Spot] = set()
        self._fresh = False
        self._ours: dict[CodeType, bool] = {}

    def run(self, target: Target, data: bytes) -> bool:
        """Runs the target; whether it reached a line that none before did."""
        self._fresh = False
        sys.settrace(self._call)
        try:
            target(data)
        finally:
            sys.settrace(None)
        return self._fresh

    def _call(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        code = frame.f_code
        ours = self._ours.get(code)
        if ours is None:
            ours = self._ours[code] = code.co_filename.startswith(OURS)
        return self._line if ours else None

    def _line(self, frame: FrameType, event: str, _arg: Any) -> Any:
        spot = frame.f_code, frame.f_lineno
        if event == "line" and spot not in self.seen:
            self.seen.add(spot)
            self._fresh = True
        return self._line


class Mutator:
    """Makes new inputs of old ones."""

    def __init__(self, random: Random, words: tuple[bytes, ...]) -> None:
        self._random = random
        self._words = words

    def mutate(self, data: bytes, other: bytes) -> bytes:
        """One to several changes."""
        out = bytearray(data)
        for _ in range(self._random.choice((1, 1, 1, 2, 4, 8))):
            self._change(out, other)
        return bytes(out[:MOST_BYTES])

    def _change(self, out: bytearray, other: bytes) -> None:
        random = self._random
        at = random.randrange(len(out) + 1)
        size = random.choice((1, 1, 2, 4, 8, 32))
        match random.randrange(9):
            case 0 if at < len(out):
                out[at] ^= 1 << random.randrange(8)
            case 1 if at < len(out):
                out[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
            case 2:
                out[at:at] = random.randbytes(size)
            case 3:
                del out[at : at + size]
            case 4:
                out[at:at] = out[at : at + size] * random.choice((1, 2, 50))
            case 5 if other:
                start = random.randrange(len(other))
                out[at : at + size] = other[start : start + random.choice((4, 16, 64, 256))]
            case 6:
                del out[at:]
            case 7 if at < len(out):
                self._number(out, at)
            case _:
                out[at : at + random.choice((0, 0, size))] = random.choice(self._words)

    def _number(self, out: bytearray, at: int) -> None:
        """Puts another number in the place of one that stands there."""
        end = at
        while end < len(out) and out[end : end + 1].isdigit():
            end += 1
        if end > at:
            out[at:end] = self._random.choice((b"0", b"-1", b"255", b"2147483648", b"1e400", b"9" * 25, b"0.5"))


class Fuzzer:
    """Fuzzes one target."""

    def __init__(self, target: Target, seeds: list[bytes], words: tuple[bytes, ...], random: Random) -> None:
        self._target = target
        self._seeds = seeds
        self._mutator = Mutator(random, words)
        self._random = random
        self._coverage = Coverage()
        self._known: set[str] = set()
        self.outcome = Outcome()

    def run(self, *, seconds: float | None = None, runs: int | None = None) -> Outcome:
        """For so long, or so many inputs beyond the seeds."""
        logs, old = structlog.get_config(), signal.signal(signal.SIGVTALRM, _hang)
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
        try:
            for seed in self._seeds:
                self._one(seed, keep=True)
            end = time.monotonic() + seconds if seconds is not None else None
            begun_kb, warm = _memory_kb(), self.outcome.runs + 200
            while (end is None or time.monotonic() < end) and (
                runs is None or self.outcome.runs < runs + len(self._seeds)
            ):
                if self.outcome.runs == warm:
                    begun_kb = _memory_kb()
                pool = self.outcome.kept or [b""]
                self._one(self._mutator.mutate(self._random.choice(pool), self._random.choice(pool)))
        finally:
            signal.signal(signal.SIGVTALRM, old)
            structlog.configure(**logs)
        self.outcome.grown_kb = max(0, _memory_kb() - begun_kb)
        self.outcome.spots = len(self._coverage.seen)
        if self.outcome.grown_kb > GROWTH_KB:
            self.outcome.findings.append(Finding(b"", f"memory grew by {self.outcome.grown_kb} kB"))
        return self.outcome

    def _one(self, data: bytes, *, keep: bool = False) -> None:
        self.outcome.runs += 1
        began = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, HANG_S)
        try:
            fresh = self._coverage.run(self._target, data)
        except Hang:
            self._found(data, "a hang")
            return
        except Exception:  # noqa: BLE001 - whatever it is: that is what is looked for
            self._found(data, traceback.format_exc(limit=-6))
            return
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        took = time.process_time() - began
        self.outcome.slowest_s = max(self.outcome.slowest_s, took)
        if took > HANG_S:
            self._found(data, f"{took:.1f} s")
        if fresh or keep:
            self.outcome.kept.append(data)

    def _found(self, data: bytes, what: str) -> None:
        kind = what.strip().splitlines()[-1][:60]
        if kind not in self._known:
            self._known.add(kind)
            self.outcome.findings.append(Finding(data, what))


def _hang(_number: int, _frame: FrameType | None) -> None:
    raise Hang


def _memory_kb() -> int:
    """What the process holds now; where the system does not say, what it held at its most."""
    gc.collect()
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize() // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
