"""The ratings service on real NATS, Redis and SQL: what it answers and what it says."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from nats.aio.msg import Msg

from numbridge import names, rpc
from numbridge.v1 import ratings_pb2
from ratings.model.rules import NEWCOMER, apply_game
from tests.contract.ratings_cluster import Cluster, ratings_cluster
from tests.helpers.eventually import eventually
from tests.unit.ratings.builders import T0, a_result


@pytest_asyncio.fixture
async def cluster(clean_nats: str, clean_redis: str, tmp_path: Path) -> AsyncIterator[Cluster]:
    async with ratings_cluster(clean_nats, clean_redis, tmp_path) as cluster:
        yield cluster


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


async def test_an_operators_deed_is_written_down_and_told(cluster: Cluster) -> None:
    heard: list[bytes] = []

    async def on_word(message: Msg) -> None:
        heard.append(message.data)

    await cluster.client.subscribe(names.RESTRICTIONS, cb=on_word)
    await cluster.client.flush()
    async with cluster.service() as service:
        deed = ratings_pb2.PutDeedRequest(actor="op", action="close_room", subject="blitz", detail="tea")
        number = (await service.stub.PutDeed(deed)).id
        await eventually(lambda: heard == [b""])
        [standing] = (await service.stub.ListRestrictions(ratings_pb2.ListRestrictionsRequest())).restrictions
        assert (standing.kind, standing.subject, standing.until) == ("room", "blitz", 0)
        [found] = (await service.stub.ListDeeds(ratings_pb2.ListDeedsRequest())).deeds
        assert (found.id, found.actor, found.action, found.subject, found.detail) == (
            number, "op", "close_room", "blitz", "tea",
        )  # fmt: skip
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await service.stub.PutDeed(ratings_pb2.PutDeedRequest(actor="op", action="dance", subject="x"))
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "action" in str(refused.value.details())
