"""Scripts that run together, on a real server."""

import asyncio
from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from lobby import keys
from lobby.adapters import script_lane
from lobby.adapters.script_lane import ScriptLane
from numbridge import redis_io


async def _marker(lane: ScriptLane, now: int) -> bytes:
    reply: bytes = await lane.run("mark-1", [keys.MARKER], [now, ""])
    return reply


async def test_calls_that_wait_go_out_together_and_each_gets_its_own_answer(clean_redis: str) -> None:
    redis = redis_io.connect(clean_redis)
    lane = ScriptLane(redis)
    assert await _marker(lane, 7) == b"holding|7"
    trips = 0
    evaluate = lane._evaluate

    async def counted(calls: list[Any]) -> list[Any]:
        nonlocal trips
        trips += 1
        return await evaluate(calls)

    lane._evaluate = counted  # type: ignore[method-assign]
    replies = await asyncio.gather(
        *(lane.run("ask_rematch-1", [keys.REMATCH], [f"g{n % 50}", f"p{n}", f"p{n - 50}", n, 99]) for n in range(100))
    )
    assert replies == [0] * 50 + [1] * 50
    assert trips <= 3  # one of them repeats what the server did not know yet
    await redis.aclose()


async def test_what_the_server_has_forgotten_is_loaded_and_repeated_alone(clean_redis: str) -> None:
    redis = redis_io.connect(clean_redis)
    lane = ScriptLane(redis)
    await asyncio.gather(_marker(lane, 1), lane.run("ask_rematch-1", [keys.REMATCH], ["g", "a", "b", 1, 99]))
    await redis.script_flush()
    marker, agreed = await asyncio.gather(
        _marker(lane, 2), lane.run("ask_rematch-1", [keys.REMATCH], ["g", "b", "a", 2, 99])
    )
    assert (marker, agreed) == (b"holding|1", 1)
    await redis.aclose()


async def test_a_fault_of_one_script_is_its_callers_alone(clean_redis: str) -> None:
    redis = redis_io.connect(clean_redis)
    lane = ScriptLane(redis)
    await redis.set(keys.REMATCH, "no hash")
    outcomes: tuple[Any, ...] = await asyncio.gather(
        lane.run("ask_rematch-1", [keys.REMATCH], ["g", "a", "b", 1, 99]), _marker(lane, 3), return_exceptions=True
    )
    assert isinstance(outcomes[0], redis_io.RedisError)
    assert outcomes[1] == b"holding|3"
    await redis.aclose()


async def test_too_many_calls_are_refused_and_an_absent_server_reaches_every_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(script_lane, "_MOST_WAITING", 3)
    redis = redis_io.connect("redis://127.0.0.1:1/0", timeout_s=0.2)
    lane = ScriptLane(redis)
    outcomes = await asyncio.gather(*(_marker(lane, n) for n in range(5)), return_exceptions=True)
    assert all(isinstance(outcome, redis_io.AWAY) for outcome in outcomes)
    assert sum("too many" in str(outcome) for outcome in outcomes) == 2
    with pytest.raises(RedisConnectionError):
        await _marker(lane, 6)
    await redis.aclose()
