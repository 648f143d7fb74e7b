"""Which processes `numbridge up` runs, and what each is told."""

from pathlib import Path

import pytest

from numbridge.cli import plan as planning
from numbridge.cli.datadir import DataDir
from numbridge.cli.plan import STAGES, STOPS, Options, Plan
from numbridge.cli.ports import Ports


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    return DataDir(tmp_path)


def make(data: DataDir, env: dict[str, str] | None = None, **options: object) -> Plan:
    ports = Ports()
    try:
        return planning.make(Options(**options), data, ports, env or {}, 7)  # type: ignore[arg-type]
    finally:
        ports.close()


def test_by_default_two_workers_one_gateway_and_no_bots(data: DataDir) -> None:
    names = [spec.name for spec in make(data).specs]
    assert names == ["nats", "redis", "ratings-1", "table-1", "table-2", "lobby-1", "gateway-1"]


def test_every_kind_is_started_and_stopped_exactly_once(data: DataDir) -> None:
    kinds = {spec.kind for spec in make(data, bots=1).specs}
    for order in (STAGES, STOPS):
        flat = [kind for group in order for kind in group]
        assert len(flat) == len(set(flat))
        assert set(flat) == kinds


def test_no_two_processes_share_a_port_but_gateways_the_public_one(data: DataDir) -> None:
    plan = make(data, workers=3, gateways=3, port=8123)
    ports = [port for spec in plan.specs for port in (spec.port, spec.metrics_port) if port is not None]
    assert len(ports) == len(set(ports)) == 2 + 2 * 8
    gateways = [spec.env for spec in plan.specs if spec.kind == "gateway"]
    assert {env["NUMBRIDGE_PORT"] for env in gateways} == {"8123"}
    assert len({env["NUMBRIDGE_OWN_PORT"] for env in gateways}) == 3


def test_replicas_of_the_lobby_are_told_to_everyone_as_one(data: DataDir) -> None:
    plan = make(data, lobbies=2)
    lobbies = [spec for spec in plan.specs if spec.kind == "lobby"]
    assert [spec.name for spec in lobbies] == ["lobby-1", "lobby-2"]
    assert plan.info.lobby_addr == ",".join(f"127.0.0.1:{spec.env['NUMBRIDGE_GRPC_PORT']}" for spec in lobbies)
    gateway = next(spec for spec in plan.specs if spec.kind == "gateway")
    assert gateway.env["NUMBRIDGE_LOBBY_ADDR"] == plan.info.lobby_addr


@pytest.mark.parametrize("sync", ["always", "2m"])
def test_the_log_is_synced_as_asked(data: DataDir, sync: str) -> None:
    make(data, log_sync=sync)
    assert f"sync_interval: {sync}\n" in (data.nats / "nats.conf").read_text()


def test_everyone_is_told_where_the_others_are(data: DataDir) -> None:
    plan = make(data)
    for spec in plan.specs:
        if spec.kind in ("nats", "redis"):
            continue
        assert spec.env["NUMBRIDGE_NATS_URL"] == plan.info.nats_url
        assert spec.env["NUMBRIDGE_LOBBY_ADDR"] == plan.info.lobby_addr
        assert spec.env["NUMBRIDGE_TOKEN_KEY_FILE"] == str(data.key)
        assert spec.env["NUMBRIDGE_DATABASE_URL"] == f"sqlite:///{data.root}/numbridge.db"
        assert spec.env["NUMBRIDGE_NAME"] == spec.name
    lobby = next(spec for spec in plan.specs if spec.kind == "lobby")
    assert plan.info.lobby_addr.endswith(":" + lobby.env["NUMBRIDGE_GRPC_PORT"])


def test_named_servers_are_used_and_none_is_started(data: DataDir) -> None:
    env = {
        "NUMBRIDGE_NATS_URL": "nats://a:1",
        "NUMBRIDGE_REDIS_URL": "redis://b:2/0",
        "NUMBRIDGE_DATABASE_URL": "postgresql://c/numbridge",
        "NUMBRIDGE_TOKEN_KEY": "k" * 40,
        "NUMBRIDGE_SHARDS": "16",
        "NUMBRIDGE_NAME": "mine",
        "NUMBRIDGE_METRICS_PORT": "9000",
        "PATH": "/bin",
    }
    plan = make(data, env)
    assert not {spec.kind for spec in plan.specs} & {"nats", "redis"}
    for spec in plan.specs:
        assert spec.env["NUMBRIDGE_NATS_URL"] == "nats://a:1"
        assert spec.env["NUMBRIDGE_REDIS_URL"] == "redis://b:2/0"
        assert spec.env["NUMBRIDGE_DATABASE_URL"] == "postgresql://c/numbridge"
        assert spec.env["NUMBRIDGE_SHARDS"] == "16"
        assert spec.env["NUMBRIDGE_NAME"] == spec.name
        assert spec.env["NUMBRIDGE_METRICS_PORT"] != "9000"
        assert "NUMBRIDGE_TOKEN_KEY_FILE" not in spec.env


def test_the_key_is_passed_by_file_and_never_by_value_or_argument(data: DataDir) -> None:
    key = data.root.joinpath("token.key")
    data.signing_key()
    secret = key.read_text().strip()
    for spec in make(data, bots=1).specs:
        assert secret not in " ".join((*spec.argv, *spec.env.values()))


def test_rooms_limits_and_bots_are_passed_on(data: DataDir) -> None:
    plan = make(data, rooms=Path("rooms.toml"), limits=False, bots=3, port=8100)
    services = [spec for spec in plan.specs if spec.metrics_port]
    assert {spec.env["NUMBRIDGE_ROOMS_FILE"] for spec in services} == {str(Path("rooms.toml").absolute())}
    assert {spec.env["NUMBRIDGE_LIMITS"] for spec in services} == {"off"}
    bots = next(spec for spec in plan.specs if spec.kind == "bot")
    assert bots.argv[-6:] == ["bot", "--house", "--count", "3", "--url", "http://127.0.0.1:8100"][-6:]


@pytest.mark.parametrize(
    ("host", "shown"), [("0.0.0.0", "127.0.0.1"), ("192.0.2.7", "192.0.2.7"), ("::1", "[::1]"), ("", "127.0.0.1")]
)
def test_the_address_to_open_is_one_that_works_here(data: DataDir, host: str, shown: str) -> None:
    assert make(data, {"NUMBRIDGE_LISTEN_HOST": host}, port=80).info.url == f"http://{shown}:80"
