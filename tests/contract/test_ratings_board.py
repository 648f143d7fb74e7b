"""The leaderboard cache on a real server."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from numbridge import redis_io
from numbridge.local_servers import free_port
from ratings.adapters.redis_board import RedisBoard
from ratings.domain import Score
from ratings.ports import BoardAway


@pytest_asyncio.fixture
async def redis(clean_redis: str) -> AsyncIterator["Redis"]:
    client = redis_io.connect(clean_redis)
    yield client
    await client.aclose()


async def fill(board: RedisBoard, scores: list[Score]) -> None:
    """A whole board."""
    mark = await board.begin("bridge")
    await board.put("bridge", scores)
    assert await board.complete("bridge", mark)


async def test_board_says_nothing_until_it_is_complete(redis: "Redis") -> None:
    board = RedisBoard(redis)
    mark = await board.begin("bridge")
    await board.put("bridge", [Score("ada", 1600.5, 3)])
    assert await board.top("bridge", 10) is None
    assert await board.complete("bridge", mark)
    assert await board.top("bridge", 10) == ["ada"]
    assert await board.top("blitz", 10) is None
    await board.forget("bridge")
    assert await board.top("bridge", 10) is None


async def test_best_come_first_and_ties_stand_by_id(redis: "Redis") -> None:
    board = RedisBoard(redis)
    scores = [Score("b", 1500.0, 1), Score("a", 1500.0, 1), Score("ü:*", 1700.25, 1), Score("c", -20.5, 1)]
    await fill(board, scores)
    assert await board.top("bridge", 10) == ["ü:*", "a", "b", "c"]
    assert await board.top("bridge", 2) == ["ü:*", "a"]


async def test_older_update_that_comes_late_changes_nothing(redis: "Redis") -> None:
    board = RedisBoard(redis)
    await fill(board, [Score("ada", 1700.0, 5), Score("bob", 1650.0, 1)])
    await board.put("bridge", [Score("ada", 1600.0, 4)])
    assert await board.top("bridge", 10) == ["ada", "bob"]
    await board.put("bridge", [Score("ada", 1600.0, 6)])
    assert await board.top("bridge", 10) == ["bob", "ada"]


async def test_many_players_are_put_in_portions(redis: "Redis") -> None:
    board = RedisBoard(redis)
    await fill(board, [Score(f"p{n:04}", 1000.0 + n, 1) for n in range(1_001)])
    assert await board.top("bridge", 2) == ["p1000", "p0999"]
    assert len(await board.top("bridge", 2_000) or []) == 1_001


async def test_server_emptied_in_the_middle_of_a_build_leaves_no_half_board(redis: "Redis") -> None:
    board = RedisBoard(redis)
    mark = await board.begin("bridge")
    await board.put("bridge", [Score("ada", 1600.0, 3)])
    await redis.flushall()
    await board.put("bridge", [Score("bob", 1500.0, 3)])
    assert not await board.complete("bridge", mark)
    assert await board.top("bridge", 10) is None


async def test_two_builds_at_once_are_both_whole(redis: "Redis") -> None:
    board = RedisBoard(redis)
    marks = [await board.begin("bridge") for _ in range(2)]
    await board.put("bridge", [Score("ada", 1600.0, 3)])
    assert [await board.complete("bridge", mark) for mark in marks] == [True, True]
    assert not await board.complete("bridge", marks[0])


async def test_complete_board_does_not_live_for_ever(redis: "Redis") -> None:
    board = RedisBoard(redis)
    await fill(board, [Score("ada", 1600.0, 3)])
    assert all([0 < await redis.ttl(key) <= 900 for key in await redis.keys("*")])


async def test_scripts_survive_a_server_that_forgets_them(redis: "Redis") -> None:
    board = RedisBoard(redis)
    await fill(board, [Score("ada", 1600.0, 3)])
    await redis.script_flush()
    await fill(board, [Score("bob", 1700.0, 3)])
    assert await board.top("bridge", 10) == ["bob", "ada"]


async def test_server_that_does_not_answer_is_away() -> None:
    client = redis_io.connect(f"redis://127.0.0.1:{free_port()}/0", timeout_s=0.2)
    board = RedisBoard(client)
    with pytest.raises(BoardAway):
        await board.top("bridge", 10)
    with pytest.raises(BoardAway):
        await board.put("bridge", [Score("ada", 1600.0, 3)])
    await client.aclose()
