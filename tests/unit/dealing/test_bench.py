"""The dealer's benchmark runs."""

import pytest

from bench.deal import SETTINGS, main


def test_the_benchmark_prints_a_line_for_each_setting(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.deal.SETTINGS", SETTINGS[-2:])
    assert main(["--count", "2", "--textbook", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[1:3]] == [["6", "irregular", "10"], ["6", "irregular", "7"]]
    assert all(float(line.split()[-1]) > 0 for line in lines[1:3])
    assert "cores" in lines[-1]
