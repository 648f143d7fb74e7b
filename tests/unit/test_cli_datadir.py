"""The data folder of a cluster: one at a time, private, and readable by other commands."""

import os
import stat
from pathlib import Path

import pytest

from numbridge.cli import datadir
from numbridge.cli.datadir import ClusterInfo, DataDir, Process
from numbridge.cli.errors import UsageError

INFO = ClusterInfo(
    pid=42,
    url="http://127.0.0.1:8080",
    nats_url="nats://127.0.0.1:20001",
    redis_url="redis://127.0.0.1:20002/0",
    database_url="sqlite:////x/numbridge.db",
    lobby_addr="127.0.0.1:20003",
    ratings_addr="127.0.0.1:20004",
    token_key_file="/x/token.key",
    processes=[Process("table-1", "table", 43, 20005, 20006), Process("bots", "bot", None)],
)


def test_what_is_written_is_read_again_while_it_runs_and_not_after(tmp_path: Path) -> None:
    data = DataDir(tmp_path / "data")
    assert data.running() is None
    with data.claim():
        assert data.running() is None
        data.write(INFO)
        assert data.running() == INFO
    assert data.running() is None


def test_a_second_cluster_in_the_folder_is_refused_with_one_line(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    with data.claim():
        data.write(INFO)
        with pytest.raises(UsageError, match=r"in use by another `numbridge up` \(process 42") as refused, data.claim():
            pass
        assert "\n" not in str(refused.value)
    with data.claim():
        pass


def test_what_a_killed_cluster_left_behind_is_not_taken_for_a_running_one(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    with data.claim():
        data.write(INFO)
        left = (tmp_path / "cluster.json").read_text()
    (tmp_path / "cluster.json").write_text(left)
    assert data.running() is None
    with data.claim():
        assert data.running() is None


def test_a_folder_that_cannot_be_made_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="can't be used"), DataDir(tmp_path / "file" / "data").claim():
        pass


def test_the_signing_key_is_made_once_and_is_nobody_elses(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    path = data.signing_key()
    key = path.read_text()
    assert len(key.strip()) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert data.signing_key().read_text() == key
    assert DataDir(tmp_path / "other").key != path


def test_cluster_json_is_private_for_it_may_hold_passwords(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    with data.claim():
        data.write(INFO)
        assert stat.S_IMODE((tmp_path / "cluster.json").stat().st_mode) == 0o600


def test_a_broken_cluster_json_is_said_in_one_line(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    with data.claim():
        (tmp_path / "cluster.json").write_text('{"pid": 1}')
        with pytest.raises(UsageError, match="can't be read"):
            data.running()


def test_logs_are_of_this_start_with_the_last_ones_beside_them(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    with data.claim():
        data.fresh_log("table-1").write_text("first")
        assert not data.fresh_log("table-1").exists()
        assert (data.logs / "table-1.log.1").read_text() == "first"


def test_a_log_that_grows_too_long_is_cut_under_its_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datadir, "LOG_LIMIT_BYTES", 100)
    data = DataDir(tmp_path)
    with data.claim():
        log = data.fresh_log("x")
        with log.open("ab", buffering=0) as out:
            out.write(b"a" * 101)
            data.trim_logs()
            out.write(b"after")
        assert log.read_bytes() == b"after"
        assert (data.logs / "x.log.1").read_bytes() == b"a" * 101


def test_the_default_folder_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert datadir.default_root() == tmp_path / "numbridge"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert datadir.default_root() == tmp_path / ".local" / "share" / "numbridge"
    assert os.path.isabs(DataDir(Path("relative")).root)
