"""The engine's benchmark runs."""

import pytest

from bench.engine import main


def test_the_benchmark_prints_a_line_for_each_variant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--games", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["bridge", "blitz", "domains"]
    assert all(float(line.split()[-1]) > 0 for line in lines[2:5])
    assert "cores" in lines[-1]
