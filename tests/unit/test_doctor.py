"""What `numbridge doctor` finds wrong, and that it says how to mend it."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from nats.js.api import RetentionPolicy

from numbridge import nats_io, redis_io
from numbridge.cli.checks import plain
from numbridge.cli.checks.bus import _differences
from numbridge.cli.checks.finding import CLOCK_MS, clock
from numbridge.cli.checks.plain import LITTLE_BYTES, NOTHING_BYTES
from numbridge.cli.checks.stores import _redis_says, _schema, check_redis, check_sql
from numbridge.cli.doctor import SERVICES
from tests.helpers.cluster import command

KEY = "k" * 40


def test_sound_settings_are_one_line() -> None:
    (found,) = plain.check_settings(SERVICES, {"NUMBRIDGE_TOKEN_KEY": KEY, "NUMBRIDGE_LOBBY_ADDR": "lobby:7100"})
    assert found.level == "ok"


def test_every_problem_is_said_once_with_the_services_that_have_it() -> None:
    found = plain.check_settings(("lobby", "table"), {"NUMBRIDGE_SHARDS": "0", "NUMBRIDGE_STOCK_GAMES": "0"})
    assert [finding.level for finding in found] == ["fail", "fail"]
    assert "lobby, table: NUMBRIDGE_SHARDS is 0" in found[0].said
    assert found[1].said.startswith("table: NUMBRIDGE_STOCK_GAMES")


def test_a_variable_that_nobody_reads_is_told_with_the_one_that_is_meant() -> None:
    found = plain.check_settings(("table",), {"NUMBRIDGE_LEASE_TTL": "3000", "NUMBRIDGE_QQ": "1"})
    assert [(finding.level, finding.mend) for finding in found] == [
        ("warn", "Is NUMBRIDGE_LEASE_TTL_MS meant?"),
        ("warn", "Remove it"),
    ]


def test_keys_rooms_and_certificates_that_cannot_be_used(tmp_path: Path) -> None:
    missing = str(tmp_path / "none")
    (tmp_path / "rooms.toml").write_text("[[room]]\n")
    for found in (
        plain.check_keys("", missing),
        plain.check_keys("short", ""),
        plain.check_rooms(missing),
        plain.check_rooms(str(tmp_path / "rooms.toml")),
        plain.check_certificate(missing),
        plain.check_disk(tmp_path / "none"),
    ):
        assert found.level == "fail"
        assert found.mend
    assert plain.check_rooms("").level == "ok"


@pytest.mark.parametrize(("mode", "level"), [(0o600, "ok"), (0o440, "ok"), (0o644, "warn")])
def test_a_key_that_everybody_may_read_is_doubtful(tmp_path: Path, mode: int, level: str) -> None:
    path = tmp_path / "keys"
    path.write_text(KEY)
    path.chmod(mode)
    found = plain.check_keys("", str(path))
    assert found.level == level
    assert KEY not in found.line()


@pytest.mark.parametrize(("days", "level"), [(60, "ok"), (5, "warn"), (-1, "fail")])
def test_a_certificate_that_ends_soon(tmp_path: Path, days: int, level: str) -> None:
    now = datetime.now(UTC)
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(99), now + timedelta(days))
    path = tmp_path / "cert.pem"
    path.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    assert plain.check_certificate(str(path), now).level == level


@pytest.mark.parametrize(
    ("free", "level"), [(LITTLE_BYTES, "ok"), (LITTLE_BYTES - 1, "warn"), (NOTHING_BYTES - 1, "fail")]
)
def test_a_disk_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, level: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": free}))
    assert plain.check_disk(tmp_path).level == level


@pytest.mark.parametrize(("ahead", "level"), [(-CLOCK_MS, "ok"), (CLOCK_MS + 1, "warn"), (-CLOCK_MS - 1, "warn")])
def test_clocks_that_differ(ahead: int, level: str) -> None:
    assert clock("nats", ahead).level == level


@pytest.mark.parametrize(
    ("info", "levels"),
    [
        ({"redis_version": "7.2.4"}, ["ok"]),
        ({"redis_version": "6.0.1"}, ["fail"]),
        ({"redis_version": "7.2.4", "role": "slave"}, ["fail"]),
        ({"redis_version": "7.2.4", "maxmemory": 1, "maxmemory_policy": "allkeys-lru"}, ["fail"]),
        ({"redis_version": "7.2.4", "maxmemory": 1, "maxmemory_policy": "noeviction"}, ["ok"]),
        ({"redis_version": "7.2.4", "aof_enabled": 0}, ["warn"]),
    ],
)
def test_what_redis_says(info: dict[str, Any], levels: list[str]) -> None:
    assert [finding.level for finding in _redis_says(info)] == levels


@pytest.mark.parametrize(("revision", "level"), [("002", "ok"), ("001", "fail"), (None, "fail"), ("003", "warn")])
def test_a_schema_of_another_release(revision: str | None, level: str) -> None:
    assert _schema("postgresql 16.1", revision, "002").level == level


def test_a_stream_that_would_lose_games() -> None:
    tables, _ = nats_io.stream_configs(3)
    assert _differences(tables, tables.evolve(description="ours", max_bytes=2**30)) == []
    worse = tables.evolve(max_age=60.0, num_replicas=1, retention=RetentionPolicy.INTEREST)
    said = "; ".join(_differences(tables, worse))
    assert all(word in said for word in ("max_age is 60 s", "num_replicas is 1, 3 is needed", "retention is interest"))


async def test_servers_that_are_away_are_findings_without_their_passwords(tmp_path: Path) -> None:
    (redis,) = await check_redis("redis://club:hunter2@127.0.0.1:1/0")
    (file,) = await check_sql(f"sqlite:///{tmp_path}/none.db")
    (sql,) = await check_sql("postgresql://club:hunter2@127.0.0.1:1/none")
    assert {redis.level, file.level, sql.level} == {"fail"}
    assert not any("hunter2" in finding.line() for finding in (redis, file, sql))
    assert not (tmp_path / "none.db").exists()


async def test_a_redis_user_who_may_not_look_is_told_so(redis_url: str) -> None:
    client = redis_io.connect(redis_url)
    try:
        await client.acl_setuser("shut", enabled=True, passwords=["+pw"], commands=["+ping"])
        (found,) = await check_redis(redis_url.replace("redis://", "redis://shut:pw@"))
        assert (found.level, found.mend) == ("warn", "Ask with an operator's")
        await client.acl_setuser("looks", enabled=True, passwords=["+pw"], commands=["+info"])
        seen = await check_redis(redis_url.replace("redis://", "redis://looks:pw@"))
        assert {one.level for one in seen} == {"ok"}
        assert len(seen) == 2  # itself and its clock
    finally:
        await client.acl_deluser("shut", "looks")
        await client.aclose()


def test_without_a_cluster_what_needs_none_is_checked(tmp_path: Path) -> None:
    done = command("doctor", "--data", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("fail cluster")
    assert any(line.startswith("ok   rooms") for line in lines)
