"""A short run of each target: the corpus and a few thousand inputs made of it. And the fuzzer finds what is planted."""

from random import Random

import pytest

from tests.fuzz import engine
from tests.fuzz.engine import Fuzzer, Outcome
from tests.fuzz.seeds import CORPUS, seeds
from tests.fuzz.targets import TARGETS, WORDS

RUNS = {"bus": 1500, "client": 120, "log": 300, "record": 300, "rooms": 300, "token": 1200}


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_no_input_does_harm(name: str) -> None:
    outcome = Fuzzer(TARGETS[name], seeds(name), WORDS[name], Random(1)).run(runs=RUNS[name])
    assert [(finding.what, finding.data) for finding in outcome.findings] == []
    assert outcome.runs >= RUNS[name]
    assert outcome.spots > 80, "it reaches what it is meant to reach"


def test_the_corpus_is_small_and_of_targets_that_there_are() -> None:
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    assert {path.parent.name for path in files} <= set(TARGETS)
    assert sum(path.stat().st_size for path in files) < 300_000


def fuzzed(target: engine.Target, runs: int = 3_000) -> Outcome:
    return Fuzzer(target, [b'{"a": 1}'], (b"null", b"boom"), Random(1)).run(runs=runs)


def test_a_crash_is_found_once_with_the_input_that_made_it() -> None:
    def crashes(data: bytes) -> None:
        if b"boom" in data:
            raise KeyError("planted")

    [finding] = fuzzed(crashes).findings
    assert b"boom" in finding.data
    assert "planted" in finding.what


def test_a_hang_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "HANG_S", 0.02)

    def hangs(data: bytes) -> None:
        while b"boom" in data:
            pass

    findings = fuzzed(hangs, runs=150).findings
    assert findings
    assert findings[0].what == "a hang"


def test_memory_that_grows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "GROWTH_KB", 8_000)
    kept: list[bytes] = []
    findings = fuzzed(lambda data: kept.append(b"x" * 100_000), runs=1_500).findings
    assert "memory grew" in findings[-1].what
