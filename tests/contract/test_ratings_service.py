"""The ratings service on real NATS, Redis and SQL: a result counts once, whatever happens on the way."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import grpc
import nats
import psycopg
import pytest
import pytest_asyncio
from nats.aio.client import Client
from nats.aio.msg import Msg
from prometheus_client import CollectorRegistry
from sqlalchemy import select

from numbridge import frames, names, nats_io, redis_io, rpc
from numbridge.app import App
from numbridge.local_servers import free_port
from numbridge.v1 import log_pb2, ratings_pb2, ratings_pb2_grpc
from ratings.domain import FinishedGame, Recorded
from ratings.model.rules import NEWCOMER, apply_game
from ratings.ports import Ledger
from ratings.rebuild import rebuild
from ratings.settings import RatingsSettings
from ratings.store.database import Database
from ratings.store.schema import set_aside
from ratings.wiring import build
from tests.helpers.eventually import eventually
from tests.unit.ratings.builders import T0, a_result, subject_of


def unchanged(ledger: Ledger) -> Ledger:
    """No test in between."""
    return ledger


@dataclass
class Service:
    """One running replica, and a stub of its own."""

    app: App
    stub: "ratings_pb2_grpc.RatingsAsyncStub"

    def count(self, outcome: str) -> float:
        """Deliveries with this outcome, by the metric."""
        return self.app.registry.get_sample_value("numbridge_ratings_results_total", {"outcome": outcome}) or 0.0


class Cluster:
    """The world around the service: a worker's results go in, announcements come out."""

    def __init__(self, settings: RatingsSettings, client: Client) -> None:
        self.settings = settings
        self.client = client
        self.js = client.jetstream()
        self.archived: list[str] = []
        self.frames: dict[tuple[str, str], list[dict[str, Any]]] = {}

    async def listen(self) -> None:
        """Hears everything that the service says."""

        async def on_archived(message: Msg) -> None:
            assert message.subject == f"archived.7.{message.data.decode()}"
            self.archived.append(message.data.decode())

        async def on_view(message: Msg) -> None:
            _, game, seat = message.subject.split(".")
            for version, text in frames.unpack(message.data):
                assert version == 0
                self.frames.setdefault((game, seat), []).append(json.loads(text))

        await self.client.subscribe(names.ARCHIVED_ALL, cb=on_archived)
        await self.client.subscribe("view.>", cb=on_view)
        await nats_io.ensure_streams(self.js, 1)
        await self.client.flush()

    async def publish(self, *results: log_pb2.GameResult) -> None:
        """As a worker does, without the message id: every call is a new message."""
        for result in results:
            await self.js.publish(subject_of(result), result.SerializeToString())

    async def left(self) -> int:
        """Messages in the stream."""
        return int((await self.js.stream_info(names.RESULTS)).state.messages)

    @asynccontextmanager
    async def service(
        self, wrap_ledger: Callable[[Ledger], Ledger] = unchanged, **settings: Any
    ) -> AsyncIterator[Service]:
        """A replica, up and reachable."""
        mine = replace(self.settings, grpc_port=free_port(), **settings)
        app = build(mine, registry=CollectorRegistry(), wrap_ledger=wrap_ledger)
        async with app, rpc.channel(mine, f"127.0.0.1:{mine.grpc_port}") as channel:
            yield Service(app, ratings_pb2_grpc.RatingsStub(channel))


@pytest_asyncio.fixture
async def cluster(clean_nats: str, clean_redis: str, tmp_path: Path) -> AsyncIterator[Cluster]:
    settings = RatingsSettings(
        name="test",
        nats_url=clean_nats,
        redis_url=clean_redis,
        database_url=f"sqlite:///{tmp_path}/ratings.sqlite3",
        results_ack_wait_ms=1_000,
    )
    client = await nats.connect(clean_nats)
    cluster = Cluster(settings, client)
    await cluster.listen()
    yield cluster
    await client.close()


async def test_finished_game_is_archived_rated_and_announced(cluster: Cluster) -> None:
    result = a_result("ada", "bob", "blue")
    async with cluster.service() as service:
        await cluster.publish(result)
        await eventually(lambda: len(cluster.frames) == 3)
        assert cluster.archived == [result.game]
        assert await cluster.left() == 0
        blue, red = apply_game(NEWCOMER, NEWCOMER, "blue", T0)
        numbers = {
            color: {
                when: {"rating": round(strength.rating, 2), "deviation": round(strength.deviation, 2)}
                for when, strength in (("before", change.before), ("after", change.after.strength))
            }
            for color, change in (("blue", blue), ("red", red))
        }
        event = {"ev": "rated", "game": result.game, "variant": "bridge"}
        assert cluster.frames[result.game, "blue"] == [event | numbers["blue"]]
        assert cluster.frames[result.game, "red"] == [event | numbers["red"]]
        assert cluster.frames[result.game, "watch"] == [event | numbers]

        archived = await service.stub.GetArchived(ratings_pb2.GetArchivedRequest(game=result.game))
        assert archived == ratings_pb2.GetArchivedReply(
            record=result.record,
            final_view=result.final_view,
            version=12,
            summary=result.summary,
            result="blue",
            reason="resign",
        )
        ada = await service.stub.GetPlayer(ratings_pb2.GetPlayerRequest(id="ada"))
        assert (ada.name, ada.won, ada.lost, ada.drawn) == ("Ada", 1, 0, 0)
        assert [(r.variant, r.games) for r in ada.ratings] == [("bridge", 1)]
        assert ada.ratings[0].rating == blue.after.strength.rating
        assert ada.ratings[0].deviation == 350  # the game ended years ago
        board = await service.stub.GetLeaderboard(ratings_pb2.GetLeaderboardRequest(variant="bridge"))
        assert [(row.rank, row.id, row.games) for row in board.players] == [(1, "ada", 1), (2, "bob", 1)]
        backlog = await service.stub.GetBacklog(ratings_pb2.GetBacklogRequest())
        assert (backlog.waiting, backlog.done) == (0, 1)
        await eventually(lambda: service.app.failing() == [])


async def test_unrated_game_is_archived_without_a_rating(cluster: Cluster) -> None:
    result = a_result(rated=False)
    async with cluster.service() as service:
        await cluster.publish(result)
        await eventually(lambda: cluster.archived == [result.game])
        assert service.count("archived") == 1
        ada = await service.stub.GetPlayer(ratings_pb2.GetPlayerRequest(id="ada"))
        assert (ada.won, list(ada.ratings)) == (1, [])
    assert cluster.frames == {}


async def test_result_delivered_twice_is_rated_once_and_announced_again(cluster: Cluster) -> None:
    result = a_result()
    async with cluster.service() as service:
        await cluster.publish(result)
        await eventually(lambda: len(cluster.archived) == 1)
        await cluster.publish(result)
        await eventually(lambda: len(cluster.archived) == 2)
        await eventually(lambda: len(cluster.frames[result.game, "blue"]) == 2)
        assert cluster.frames[result.game, "blue"][0] == cluster.frames[result.game, "blue"][1]
        assert (service.count("rated"), service.count("duplicate")) == (1, 1)
        ada = await service.stub.GetPlayer(ratings_pb2.GetPlayerRequest(id="ada"))
        assert (ada.won, ada.ratings[0].games) == (1, 1)


async def test_two_replicas_share_the_results_and_lose_nothing(cluster: Cluster) -> None:
    """Five players in sixty games, a third of them delivered twice, two replicas on one database."""
    people = [f"p{n}" for n in range(5)]
    results = [
        a_result(people[n % 5], people[(n + 1 + n // 5 % 4) % 5], ("blue", "red", "draw")[n % 3], ended_at=T0 + n)
        for n in range(60)
    ]
    async with cluster.service() as one, cluster.service() as two:
        await eventually(lambda: one.app.failing() + two.app.failing() == [])
        await cluster.publish(*results, *results[::3])
        await eventually(lambda: one.count("rated") + two.count("rated") == 60, timeout_s=60)
        assert one.count("rated") > 0
        assert two.count("rated") > 0
        await eventually(lambda: set(cluster.archived) == {result.game for result in results})

        async def all_done() -> bool:
            return await cluster.left() == 0

        await eventually(all_done, timeout_s=30)
        assert one.count("rated") + two.count("rated") == 60
        played = 0
        for person in people:
            player = await one.stub.GetPlayer(ratings_pb2.GetPlayerRequest(id=person))
            assert player.ratings[0].games == player.won + player.lost + player.drawn
            played += player.ratings[0].games
        assert played == 120
    report = await rebuild(cluster.settings.database_url)
    assert (report.games, report.changed) == (60, 0)


class DiesAfterCommit:
    """A ledger whose process ends between commit and acknowledgement."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.committed = asyncio.Event()

    async def record(self, game: FinishedGame) -> Recorded:
        await self._ledger.record(game)
        self.committed.set()
        gone: asyncio.Future[Recorded] = asyncio.get_running_loop().create_future()
        return await gone  # no answer ever: the process is no more

    async def set_aside(self, subject: str, payload: bytes, why: str, at: int) -> None:
        await self._ledger.set_aside(subject, payload, why, at)


async def test_killed_between_commit_and_acknowledgement_counts_once(cluster: Cluster) -> None:
    result = a_result()
    wrapped: list[DiesAfterCommit] = []

    def wrap(ledger: Ledger) -> Ledger:
        wrapped.append(DiesAfterCommit(ledger))
        return wrapped[0]

    async with cluster.service(wrap):
        await cluster.publish(result)
        await asyncio.wait_for(wrapped[0].committed.wait(), 10)
    assert cluster.archived == []
    assert await cluster.left() == 1
    async with cluster.service() as service:
        await eventually(lambda: cluster.archived == [result.game])
        await eventually(lambda: len(cluster.frames) == 3)
        assert (service.count("duplicate"), service.count("rated")) == (1, 0)
        ada = await service.stub.GetPlayer(ratings_pb2.GetPlayerRequest(id="ada"))
        assert (ada.won, ada.ratings[0].games) == (1, 1)
    assert await cluster.left() == 0


@contextmanager
def refusing_connections(url: str) -> Iterator[None]:
    """The database is away: open connections are cut, new ones refused."""
    base, _, name = url.rpartition("/")
    with psycopg.connect(f"{base}/postgres", autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'.encode())
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        try:
            yield
        finally:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'.encode())


@pytest.mark.postgres
async def test_sql_goes_away_and_comes_back(cluster: Cluster, postgres_url: str) -> None:
    cluster.settings = replace(cluster.settings, database_url=postgres_url)
    results = [a_result(ended_at=T0 + n) for n in range(12)]
    async with cluster.service() as service:
        await cluster.publish(*results[:4])
        await eventually(lambda: len(cluster.archived) == 4)
        with refusing_connections(postgres_url):
            await cluster.publish(*results[4:])
            await eventually(lambda: "sql" in service.app.failing())
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await service.stub.GetPlayer(ratings_pb2.GetPlayerRequest(id="ada"))
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            assert await cluster.left() == 8
        await eventually(lambda: len(set(cluster.archived)) == 12, timeout_s=30)
        await eventually(lambda: service.app.failing() == [])
        ada = await service.stub.GetPlayer(ratings_pb2.GetPlayerRequest(id="ada"))
        assert (ada.won, ada.ratings[0].games) == (12, 12)
    assert await cluster.left() == 0


async def test_sql_held_by_somebody_else_postpones_results(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ratings.store.database.PATIENCE_S", 0.05)
    result = a_result()
    holder = Database(cluster.settings.database_url)
    async with cluster.service() as service:
        async with holder.write():
            await cluster.publish(result)
            await eventually(lambda: service.count("retried") >= 2)
            assert await cluster.left() == 1
        await eventually(lambda: cluster.archived == [result.game])
        assert service.count("rated") == 1
    await holder.close()


async def test_message_that_is_no_result_is_set_aside_and_others_go_on(cluster: Cluster) -> None:
    good, bad = a_result(), a_result(blue="solo", red="solo")
    async with cluster.service() as service:
        await cluster.js.publish("result.7.07-nonsense", b"\xff\xff\xff")
        await cluster.publish(bad, good)
        await eventually(lambda: cluster.archived == [good.game])
        await eventually(lambda: service.count("set_aside") == 2)
        assert await cluster.left() == 0
    database = Database(cluster.settings.database_url)
    async with database.read() as connection:
        rows = (await connection.execute(select(set_aside))).all()
    await database.close()
    assert {row.subject: row.payload for row in rows} == {
        "result.7.07-nonsense": b"\xff\xff\xff",
        subject_of(bad): bad.SerializeToString(),
    }


async def test_redis_away_costs_no_result_and_no_leaderboard(cluster: Cluster) -> None:
    async with cluster.service(redis_url=f"redis://127.0.0.1:{free_port()}/0") as service:
        await cluster.publish(*(a_result("ada", f"p{n}", ended_at=T0 + n) for n in range(5)))
        await eventually(lambda: len(cluster.archived) == 5)
        board = await service.stub.GetLeaderboard(ratings_pb2.GetLeaderboardRequest(variant="bridge", limit=3))
        assert [row.rank for row in board.players] == [1, 2, 3]
        assert board.players[0].id == "ada"
        assert [row.rating for row in board.players] == sorted((r.rating for r in board.players), reverse=True)


async def test_redis_comes_back_empty_and_boards_are_built_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ratings.leaderboards.BUILD_EVERY_S", 0.2)
    ask = ratings_pb2.GetLeaderboardRequest(variant="bridge")
    redis = redis_io.connect(cluster.settings.redis_url)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(redis.aclose)
        service = await stack.enter_async_context(cluster.service())

        async def built(times: int) -> bool:
            await service.stub.GetLeaderboard(ask)
            builds = service.app.registry.get_sample_value("numbridge_ratings_board_builds_total")
            return builds is not None and builds >= times

        await cluster.publish(a_result("ada", "bob"))
        await eventually(lambda: len(cluster.archived) == 1)
        await eventually(lambda: built(1))
        await redis.flushall()
        # A result in between writes its own two scores: that is no whole board.
        await cluster.publish(a_result("cleo", "dan"))
        await eventually(lambda: len(cluster.archived) == 2)
        whole = ["ada", "cleo", "bob", "dan"]

        async def shown() -> bool:
            return [row.id for row in (await service.stub.GetLeaderboard(ask)).players] == whole

        async def cached() -> bool:
            found: Any = await redis.zrange(names.board_key("bridge"), 0, -1)
            return [player.decode() for player in found] == whole

        await eventually(shown)
        await eventually(lambda: built(2), timeout_s=20)
        await eventually(cached)
        await eventually(shown)


async def test_drain_finishes_what_is_under_way_and_leaves_the_rest(cluster: Cluster) -> None:
    gate = asyncio.Event()

    class Slow:
        def __init__(self, ledger: Ledger) -> None:
            self._ledger = ledger
            self.set_aside = ledger.set_aside
            self.begun = 0

        async def record(self, game: FinishedGame) -> Recorded:
            self.begun += 1
            await gate.wait()
            return await self._ledger.record(game)

    slow: list[Slow] = []

    def wrap(ledger: Ledger) -> Ledger:
        slow.append(Slow(ledger))
        return slow[0]

    async with cluster.service(wrap, results_in_flight=2, results_ack_wait_ms=20_000) as service:
        await cluster.publish(*(a_result(ended_at=T0 + n) for n in range(5)))
        await eventually(lambda: slow[0].begun == 2)
        drain = asyncio.create_task(service.app.drain())
        await eventually(lambda: service.app.failing() == ["draining"])
        gate.set()
        await asyncio.wait_for(drain, 10)
    assert slow[0].begun == 2
    await eventually(lambda: len(cluster.archived) == 2)
    assert await cluster.left() == 3


async def test_results_stream_that_vanishes_is_made_again(cluster: Cluster) -> None:
    first, second = a_result(), a_result()
    async with cluster.service():
        await cluster.publish(first)
        await eventually(lambda: cluster.archived == [first.game])
        await cluster.js.delete_stream(names.RESULTS)

        async def published() -> bool:
            try:
                await cluster.publish(second)
            except nats.errors.Error:
                return False
            return True

        await eventually(published)
        await eventually(lambda: second.game in cluster.archived, timeout_s=20)


@pytest.mark.parametrize(
    ("call", "request_", "status"),
    [
        ("GetPlayer", ratings_pb2.GetPlayerRequest(id="nobody"), "NOT_FOUND"),
        ("GetPlayer", ratings_pb2.GetPlayerRequest(), "INVALID_ARGUMENT"),
        ("ListPlayerGames", ratings_pb2.ListPlayerGamesRequest(id="nobody"), "NOT_FOUND"),
        ("ListPlayerGames", ratings_pb2.ListPlayerGamesRequest(id="ada", before="%%"), "INVALID_ARGUMENT"),
        ("ListPlayerGames", ratings_pb2.ListPlayerGamesRequest(id="ada", before="AAAA"), "INVALID_ARGUMENT"),
        ("ListPlayerGames", ratings_pb2.ListPlayerGamesRequest(id="ada", limit=-1), "INVALID_ARGUMENT"),
        ("GetLeaderboard", ratings_pb2.GetLeaderboardRequest(variant="chess"), "INVALID_ARGUMENT"),
        ("GetRatings", ratings_pb2.GetRatingsRequest(variant="bridge", players=["x"] * 101), "INVALID_ARGUMENT"),
        ("GetArchived", ratings_pb2.GetArchivedRequest(game="07-nothing"), "NOT_FOUND"),
        ("PutBlock", ratings_pb2.PutBlockRequest(player="ada", other="ada", blocked=True), "INVALID_ARGUMENT"),
        ("EnsurePlayer", ratings_pb2.EnsurePlayerRequest(id="ada", name=""), "INVALID_ARGUMENT"),
        ("EnsurePlayer", ratings_pb2.EnsurePlayerRequest(id="ada", name="a\0b"), "INVALID_ARGUMENT"),
        ("EnsurePlayer", ratings_pb2.EnsurePlayerRequest(id="x" * 65, name="Ada"), "INVALID_ARGUMENT"),
    ],
)
async def test_bad_questions_are_refused_with_a_reason(cluster: Cluster, call: str, request_: Any, status: str) -> None:
    async with cluster.service() as service:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await getattr(service.stub, call)(request_)
    assert caught.value.code() is grpc.StatusCode[status]
    assert rpc.reason_of(caught.value).message


async def test_players_ratings_games_and_blocks_over_grpc(cluster: Cluster) -> None:
    async with cluster.service() as service:
        stub = service.stub
        await stub.EnsurePlayer(ratings_pb2.EnsurePlayerRequest(id="bob", name="Bob the Great", guest=True))
        await cluster.publish(*(a_result("ada", "bob", ended_at=T0 + n) for n in range(5)))
        await eventually(lambda: len(cluster.archived) == 5)

        asked = ratings_pb2.GetRatingsRequest(variant="bridge", players=["ada", "new"])
        found = (await stub.GetRatings(asked)).ratings
        assert (found["new"].rating, found["new"].deviation, found["new"].games) == (1500, 350, 0)
        assert found["ada"].games == 5

        pages: list[list[int]] = []
        cursor = ""
        while not pages or cursor:
            page = await stub.ListPlayerGames(ratings_pb2.ListPlayerGamesRequest(id="ada", before=cursor, limit=2))
            pages.append([game.ended_at - T0 for game in page.games])
            assert {(g.color, g.opponent.id, g.opponent.name) for g in page.games} == {("blue", "bob", "Bob the Great")}
            cursor = page.next
        assert pages == [[4, 3], [2, 1], [0]]

        block = ratings_pb2.PutBlockRequest(player="ada", other="bob", blocked=True)
        await stub.PutBlock(block)
        await stub.PutBlock(block)
        bob = await stub.ListBlocks(ratings_pb2.ListBlocksRequest(player="bob"))
        assert (list(bob.blocks), list(bob.blocked_by)) == ([], ["ada"])
        ada = await stub.ListBlocks(ratings_pb2.ListBlocksRequest(player="ada"))
        assert (list(ada.blocks), list(ada.blocked_by)) == (["bob"], [])


async def test_schema_that_nobody_has_migrated_stops_the_start(cluster: Cluster) -> None:
    with pytest.raises(RuntimeError, match="migrate it first"):
        async with cluster.service(migrate=False, start_wait_ms=0):
            pass
