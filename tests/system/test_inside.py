"""A cluster whose insides believe nobody without a name: all goes on, and each can do what is its own and no more."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path

import grpc
import nats
import psycopg
import pytest
from grpc import aio
from nats.aio.client import Client
from redis.exceptions import AuthenticationError, NoPermissionError

from numbridge import names, redis_io, rpc
from numbridge.settings import CommonSettings
from numbridge.trust import inbox
from numbridge.trust.issue import Trust, issue
from numbridge.v1 import lobby_pb2, lobby_pb2_grpc, table_pb2, table_pb2_grpc
from tests.helpers.client import club as open_club
from tests.helpers.cluster import Cluster, arguments, command, running
from tests.helpers.eventually import eventually
from tests.helpers.servers import Postgres
from tests.system.conftest import ROOMS

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(180)]


@dataclass
class Inside:
    """The cluster, its secrets, and its database as its owner reaches it."""

    up: Cluster
    trust: Trust
    owner_url: str

    def port(self, kind: str) -> int:
        """Of the first process of this kind."""
        return next(int(entry["port"]) for entry in self.up.facts()["processes"] if entry["kind"] == kind)

    @asynccontextmanager
    async def bus(self, role: str) -> AsyncIterator[tuple[Client, list[str]]]:
        """NATS as a role; what the server has refused."""
        refused: list[str] = []

        async def error(problem: Exception) -> None:
            refused.append(str(problem))

        client = await nats.connect(
            f"tls://{role}:{self.trust.nats[role]}@127.0.0.1:{self.port('nats')}",
            tls=ssl.create_default_context(cafile=self.trust.ca), inbox_prefix=inbox(role), error_cb=error,
            allow_reconnect=False,
        )  # fmt: skip
        yield client, refused
        await client.close()

    @asynccontextmanager
    async def calls(self, role: str, kind: str, trust: Trust | None = None) -> AsyncIterator[aio.Channel]:
        """A channel with the role's certificate."""
        trust = trust or self.trust
        settings = CommonSettings(
            name="test", grpc_tls_cert=str(trust.certificate(role)), grpc_tls_key=str(trust.key(role)),
            grpc_tls_ca=str(self.trust.ca),
        )  # fmt: skip
        channel = rpc.channel(settings, f"127.0.0.1:{self.port(kind)}", kind)
        yield channel
        await channel.close(None)


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    """With everything on: certificates, users, and a role in PostgreSQL that can't change the schema."""
    folder, server = tmp_path_factory.mktemp("inside"), Postgres()
    try:
        server.start()
        owner_url = f"{server.url}/postgres"
        service_url = owner_url.replace("numbridge@", "numbridge_ratings@")
        migrated = command("ratings", "migrate", env={"NUMBRIDGE_DATABASE_URL": owner_url})
        assert migrated.returncode == 0, migrated.stderr
        script = resources.files("numbridge.trust").joinpath("database.sql").read_text()
        with psycopg.connect(owner_url, autocommit=True) as connection:
            connection.execute(script.encode())
        args = ("--secure", "--postgres", service_url, *arguments(ROOMS, workers=2, gateways=1))
        with running(folder / "data", *args, env={"NUMBRIDGE_MIGRATE": "off"}) as up:
            yield Inside(up, issue(Path(up.facts()["trust"])), owner_url)
    finally:
        server.remove()


async def _is_well(inside: Inside, word: str) -> bool:
    said = await asyncio.to_thread(command, word, "--json", "--data", str(inside.up.data))
    assert said.returncode == 0, said.stdout + said.stderr
    return True


async def test_games_are_played_taken_over_and_rated(inside: Inside) -> None:
    async with open_club(*inside.up.urls) as club:
        games = [await club.seat("blitz", rated=True) for _ in range(4)]
        for game, blue, _ in games:
            await blue.play(game, "exchange")
        inside.up.kill("table-1")
        for game, blue, red in games:
            await red.play(game, "exchange")
            await red.play(game, "resign")
            assert (await blue.wait("rated", timeout_s=30))["game"] == game
        record = await club.get(f"/api/games/{games[0][0]}/record")
        assert [move["kind"] for move in record["moves"]] == ["exchange", "exchange"]
    for word in ("status", "doctor"):  # once the worker that was killed is back
        await eventually(partial(_is_well, inside, word), 30, 0.5, what=word)
    logs = inside.up.logs(1_000_000).lower()
    assert "violation" not in logs
    assert "noperm" not in logs
    for secret in (*inside.trust.nats.values(), *inside.trust.redis.values()):
        assert secret not in logs


SUBSCRIPTIONS = [
    ("gateway", "table.>"), ("gateway", "result.>"), ("gateway", ">"), ("gateway", "_INBOX_table.>"),
    ("gateway", "seats.*"), ("gateway", "$JS.>"), ("lobby", "view.>"), ("lobby", "table.>"),
    ("ratings", "view.>"), ("ratings", "table.>"), ("operator", "table.>"), ("operator", "view.>"),
]  # fmt: skip


@pytest.mark.parametrize(("role", "subject"), SUBSCRIPTIONS)
async def test_nobody_hears_what_is_not_his(inside: Inside, role: str, subject: str) -> None:
    async with inside.bus(role) as (client, refused):
        await client.subscribe(subject)
        await client.flush()
        await eventually(lambda: any("permissions violation" in said for said in refused))


PUBLICATIONS = [
    ("gateway", names.table_subject(3, "g")), ("gateway", names.result_subject(3, "g")),
    ("gateway", names.view_subject("g", "blue")), ("gateway", names.player_subject("p")),
    ("gateway", f"$KV.{names.KV_SHARDS}.3"), ("gateway", "_INBOX_table.x"),
    ("gateway", f"$JS.API.STREAM.MSG.GET.{names.TABLES}"), ("gateway", f"$JS.API.DIRECT.GET.{names.TABLES}"),
    ("gateway", f"$JS.API.DIRECT.GET.{names.TABLES}.{names.table_subject(3, 'g')}"),
    ("gateway", f"$JS.API.CONSUMER.CREATE.{names.TABLES}"),
    ("gateway", f"$JS.API.STREAM.PURGE.{names.TABLES}"), ("gateway", f"$JS.API.STREAM.DELETE.{names.TABLES}"),
    ("lobby", names.table_subject(3, "g")), ("lobby", names.view_subject("g", "red")),
    ("lobby", f"$JS.API.STREAM.MSG.GET.{names.TABLES}"), ("lobby", f"$KV.{names.KV_SHARDS}.3"),
    ("ratings", names.table_subject(3, "g")), ("ratings", names.result_subject(3, "g")),
    ("ratings", names.player_subject("p")), ("ratings", f"$KV.{names.KV_WORKERS}.table-1"),
    ("table", names.archived_subject(3, "g")), ("table", names.player_subject("p")),
    ("table", f"$JS.API.STREAM.DELETE.{names.TABLES}"), ("table", f"$JS.API.STREAM.UPDATE.{names.TABLES}"),
    ("operator", names.table_subject(3, "g")), ("operator", f"$JS.API.STREAM.MSG.GET.{names.TABLES}"),
    ("operator", f"$JS.API.STREAM.DELETE.{names.TABLES}"),
]  # fmt: skip


@pytest.mark.parametrize(("role", "subject"), PUBLICATIONS)
async def test_nobody_says_what_is_not_his(inside: Inside, role: str, subject: str) -> None:
    async with inside.bus(role) as (client, refused):
        await client.publish(subject, b"{}")
        await client.flush()
        await eventually(lambda: any("permissions violation" in said for said in refused))


async def test_without_a_password_nobody_gets_in(inside: Inside) -> None:
    trusted = ssl.create_default_context(cafile=inside.trust.ca)
    for user in ("", "gateway:wrong@", f"gateway:{inside.trust.nats['table']}@"):
        with pytest.raises(nats.errors.Error, match=r"(?i)authorization"):
            await nats.connect(
                f"tls://{user}127.0.0.1:{inside.port('nats')}", tls=trusted, allow_reconnect=False, connect_timeout=3
            )
    client = redis_io.connect(f"redis://127.0.0.1:{inside.port('redis')}/0")
    with pytest.raises(AuthenticationError):
        await client.ping()
    await client.aclose()


@pytest.mark.parametrize(
    ("role", "args"),
    [
        ("gateway", ("ZCARD", names.lobby_key("open"))),
        ("gateway", ("GET", names.board_key("blitz"))),
        ("gateway", ("FLUSHALL",)),
        ("gateway", ("KEYS", "*")),
        ("lobby", ("ZCARD", names.board_key("blitz"))),
        ("lobby", ("FLUSHDB",)),
        ("ratings", ("GET", names.limit_key("guests", "x"))),
        ("ratings", ("CONFIG", "GET", "*")),
        ("operator", ("SET", names.board_key("blitz"), "1")),
    ],
)
async def test_nobody_touches_keys_of_others(inside: Inside, role: str, args: tuple[str, ...]) -> None:
    client = redis_io.connect(f"redis://{role}:{inside.trust.redis[role]}@127.0.0.1:{inside.port('redis')}/0")
    with pytest.raises(NoPermissionError):
        await client.execute_command(*args)  # type: ignore[no-untyped-call]
    await client.aclose()


async def test_calls_are_made_by_those_whose_they_are(inside: Inside, tmp_path: Path) -> None:
    async def status(role: str, trust: Trust | None = None) -> grpc.StatusCode:
        async with inside.calls(role, "table", trust) as channel:
            try:
                await table_pb2_grpc.TablesStub(channel).CreateTable(table_pb2.CreateTableRequest(), timeout=5)
            except aio.AioRpcError as error:
                return error.code()
        return grpc.StatusCode.OK

    for role in ("gateway", "ratings", "table", "operator"):
        assert await status(role) is grpc.StatusCode.PERMISSION_DENIED, role
    assert await status("lobby") is not grpc.StatusCode.PERMISSION_DENIED
    other = issue(tmp_path / "another")  # certificates of the same names, by somebody else
    assert await status("lobby", other) is grpc.StatusCode.UNAVAILABLE
    async with inside.calls("lobby", "table") as channel:
        link = table_pb2_grpc.TablesStub(channel).Link()  # type: ignore[call-arg]
        with pytest.raises(aio.AioRpcError) as refused:
            await link.read()
        assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
    async with inside.calls("operator", "lobby") as channel:
        with pytest.raises(aio.AioRpcError) as refused:
            await lobby_pb2_grpc.LobbyStub(channel).GetRooms(lobby_pb2.GetRoomsRequest(), timeout=5)
        assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
    async with aio.insecure_channel(f"127.0.0.1:{inside.port('table')}") as channel:
        with pytest.raises(aio.AioRpcError):
            await table_pb2_grpc.TablesStub(channel).GetWorker(table_pb2.GetWorkerRequest(), timeout=5)


def test_the_service_can_change_rows_but_neither_the_schema_nor_what_operators_did(inside: Inside) -> None:
    forbidden = {
        "numbridge_ratings": (
            "DROP TABLE games", "CREATE TABLE mine (id int)", "ALTER TABLE games ADD COLUMN x int",
            "DELETE FROM audit", "UPDATE audit SET detail = ''", "UPDATE alembic_version SET version_num = '000'",
            "TRUNCATE games",
        ),
        "numbridge_reader": ("DELETE FROM games", "INSERT INTO audit DEFAULT VALUES", "CREATE TABLE mine (id int)"),
    }  # fmt: skip
    for role, statements in forbidden.items():
        with psycopg.connect(inside.owner_url.replace("numbridge@", f"{role}@"), autocommit=True) as connection:
            assert connection.execute("SELECT count(*) FROM games").fetchone() is not None
            for statement in statements:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement.encode())


def test_the_script_may_be_run_again_by_psql(inside: Inside, tmp_path: Path) -> None:
    psql = shutil.which("psql")
    assert psql is not None
    script = tmp_path / "database.sql"
    script.write_text(resources.files("numbridge.trust").joinpath("database.sql").read_text())
    argv = [psql, inside.owner_url, "-v", "ON_ERROR_STOP=1", "-q", "-f", str(script)]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
