"""The ratings service on real NATS, Redis and SQL: a result counts once, whatever happens on the way."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import nats
import psycopg
import pytest
import pytest_asyncio
from sqlalchemy import select

from numbridge import names, redis_io
from numbridge.local_servers import free_port
from numbridge.v1 import ratings_pb2
from ratings.domain import FinishedGame, Recorded
from ratings.ports import Ledger
from ratings.rebuild import rebuild
from ratings.store.database import Database
from ratings.store.schema import set_aside
from tests.contract.ratings_cluster import Cluster, ratings_cluster
from tests.helpers.eventually import eventually
from tests.unit.ratings.builders import T0, a_result, subject_of


@pytest_asyncio.fixture
async def cluster(clean_nats: str, clean_redis: str, tmp_path: Path) -> AsyncIterator[Cluster]:
    async with ratings_cluster(clean_nats, clean_redis, tmp_path) as cluster:
        yield cluster


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
    file = cluster.settings.database_url.removeprefix("sqlite:///")
    async with cluster.service() as service:
        with closing(sqlite3.connect(file, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            await cluster.publish(result)
            await eventually(lambda: service.count("retried") >= 2)
            assert await cluster.left() == 1
            holder.execute("ROLLBACK")
        await eventually(lambda: cluster.archived == [result.game])
        assert service.count("rated") == 1


async def test_message_that_is_no_result_is_set_aside_and_others_go_on(cluster: Cluster) -> None:
    good, bad = a_result(), a_result(blue="solo", red="solo")
    async with cluster.service() as service:
        await cluster.js.publish("result.7.07-nonsense", b"\xff\xff\xff")
        await cluster.publish(bad, good)
        await eventually(lambda: cluster.archived == [good.game])
        await eventually(lambda: service.count("set_aside") == 2)
        assert await cluster.left() == 0
    database = Database(cluster.settings.database_url)
    rows = await database.read(lambda connection: connection.execute(select(set_aside)).all())
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


async def test_schema_that_nobody_has_migrated_stops_the_start(cluster: Cluster) -> None:
    with pytest.raises(RuntimeError, match="migrate it first"):
        async with cluster.service(migrate=False, start_wait_ms=0):
            pass
