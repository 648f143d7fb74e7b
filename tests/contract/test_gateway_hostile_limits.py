"""Limits over several gateways, in a real Redis, and without it. A game on the same gateway goes on all the while."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from redis.asyncio import Redis

from gateway.adapters.redis_limits import RedisLimits
from gateway.limits.digest import Digest
from gateway.ports import LimitsAway
from gateway.session.limits import Rate
from numbridge import redis_io
from numbridge.local_servers import free_port
from numbridge.trust.redis_users import USERS, rules
from tests.contract.test_gateway_hostile import a_game, goes_on
from tests.helpers.client import Refused
from tests.helpers.eventually import eventually
from tests.unit.gateway.games import GAME
from tests.unit.gateway.world import World


class Counted:
    """Two gateways' ways to one Redis."""

    def __init__(self, url: str) -> None:
        self.redis: Redis = redis_io.connect(url, timeout_s=1.0)
        self.limits = RedisLimits(self.redis, Digest(b"key"), 1_000)


async def test_gateways_take_from_one_bucket(clean_redis: str) -> None:
    one, two = Counted(clean_redis), Counted(clean_redis)
    rate = Rate(burst=3, per_minute=60)
    waits = [await gateway.limits.take("guests", "10.0.0.1", rate) for gateway in (one, two, one)]
    assert waits == [0, 0, 0]
    wait = await two.limits.take("guests", "10.0.0.1", rate)
    assert 0 < wait <= 1_000
    assert await two.limits.take("guests", "10.0.0.1", rate, take=False) > 0
    assert await two.limits.take("guests", "10.0.0.2", rate) == 0
    assert await two.limits.take("connects", "10.0.0.1", rate) == 0
    keys = await one.redis.keys("nb:*")
    assert len(keys) == 3
    assert not any("10.0.0" in str(key) for key in keys), "Redis knows no address"
    assert all([0 < await one.redis.pttl(key) <= 3_000 for key in keys]), "a bucket that is full again is gone"
    for counted in (one, two):
        await counted.redis.aclose()


async def test_tokens_come_back_at_the_rate(clean_redis: str) -> None:
    counted = Counted(clean_redis)
    rate = Rate(burst=1, per_minute=6_000)  # one in ten milliseconds
    assert await counted.limits.take("guests", "a", rate) == 0

    async def again() -> bool:
        return await counted.limits.take("guests", "a", rate) == 0

    for _ in range(3):
        await asyncio.wait_for(until(again), 5)
    await counted.redis.aclose()


async def until(asked: object) -> None:
    while not await asked():  # type: ignore[operator]
        pass


async def test_seats_are_compared_over_gateways(clean_redis: str) -> None:
    one, two = Counted(clean_redis), Counted(clean_redis)
    assert not await one.limits.sit("g", "blue", "red", "house")
    assert not await two.limits.sit("g", "red", "blue", "elsewhere")
    assert await two.limits.sit("g", "red", "blue", "house")
    assert not await one.limits.sit("g", "blue", "red", "house"), "said once"
    for counted in (one, two):
        await counted.redis.aclose()


async def test_the_gateways_own_user_of_redis_may_do_all_this(clean_redis: str) -> None:
    """Where each service has a user of its own, a limit that Redis would not let it take would go unnoticed."""
    admin: Any = redis_io.connect(clean_redis)
    [rule] = [line for line in rules(dict.fromkeys(USERS, "secret")) if line.startswith("user gateway ")]
    await admin.execute_command("ACL", "SETUSER", *rule.split()[1:])
    counted = Counted(clean_redis.replace("redis://", "redis://gateway:secret@"))
    try:
        assert await counted.limits.take("guests", "a", Rate(1, 1)) == 0
        assert await counted.limits.take("guests", "a", Rate(1, 1), take=False) > 0
        assert not await counted.limits.sit("g", "blue", "red", "house")
        assert await counted.limits.sit("g", "red", "blue", "house")
        with pytest.raises(redis_io.RedisError):
            await counted.redis.get("nb:{lobby}:seeks")
    finally:
        await admin.execute_command("ACL", "DELUSER", "gateway")
        for redis in (admin, counted.redis):
            await redis.aclose()


async def test_a_redis_that_is_away_is_not_asked_again_for_a_moment() -> None:
    redis = redis_io.connect(f"redis://127.0.0.1:{free_port()}/0", timeout_s=0.2)
    limits = RedisLimits(redis, Digest(b"key"), 200)
    with pytest.raises(LimitsAway):
        await limits.take("guests", "a", Rate(1, 1))
    loop = asyncio.get_running_loop()
    began = loop.time()
    for _ in range(100):
        with pytest.raises(LimitsAway):
            await limits.take("guests", "a", Rate(1, 1))
    assert loop.time() - began < 1.0, "a hundred waits would have taken twenty seconds"
    await redis.aclose()


async def test_what_the_other_gateway_has_used_up_is_refused_here(clean_redis: str) -> None:
    counted = Counted(clean_redis)
    async with (
        a_game(guest_burst=2, guest_per_minute=1, shared=counted.limits) as (one, _, ada, bob),
        a_game(guest_burst=2, guest_per_minute=1, shared=counted.limits) as (two, _, _, _),
    ):
        assert [await guest(world) for world in (one, two, one, two)] == [201, 201, 429, 429]
        await goes_on(ada, bob)
    await counted.redis.aclose()


async def guest(world: World) -> int:
    async with world.session.post(f"{world.url}/api/guests") as response:
        return response.status


async def test_seeks_and_joins_are_counted_over_gateways(clean_redis: str) -> None:
    counted = Counted(clean_redis)
    settings = {"seek_burst": 2, "seek_per_minute": 1, "join_burst": 2, "join_per_minute": 1}
    async with (
        a_game(shared=counted.limits, **settings) as (one, _, ada, bob),
        a_game(shared=counted.limits, **settings) as (two, _, _, _),
    ):
        here, there = await one.player("eve"), await two.player("eve")
        await here.ask("seek", room="blitz")
        await there.ask("seek", room="blitz")
        with pytest.raises(Refused) as refused:
            await there.ask("seek", room="bridge")
        assert refused.value.code == "limit"
        assert refused.value.event["retry_ms"] > 0
        await here.join(GAME)
        await there.join(GAME)
        await there.ask("leave", game=GAME)
        with pytest.raises(Refused, match="limit"):
            await there.ask("join", game=GAME)
        await goes_on(ada, bob)
    await counted.redis.aclose()


async def test_moves_are_never_asked_of_redis(clean_redis: str) -> None:
    """With Redis hanging, a move is answered as ever; a guest waits for his own limit's patience at most."""
    counted = Counted(clean_redis)
    asked = 0
    take = counted.limits.take

    async def counting(*args: object, **kwargs: object) -> int:
        nonlocal asked
        asked += 1
        return await take(*args, **kwargs)  # type: ignore[arg-type]

    counted.limits.take = counting  # type: ignore[method-assign]
    async with a_game(shared=counted.limits) as (_, table, ada, bob):
        before = asked
        for _ in range(20):
            await goes_on(ada, bob)
        assert asked == before
        assert len(table.plays) == 20
    await counted.redis.aclose()


# --- one gateway -------------------------------------------------------------------------------------------------


async def test_bytes_of_a_connection_are_limited() -> None:
    async with a_game(byte_burst=20_000, byte_per_minute=20_000) as (world, _, ada, bob):
        async with world.session.ws_connect(f"{world.url}/ws", compress=0) as socket:
            await socket.send_json({"op": "hello", "token": world.token("eve")})
            assert (await socket.receive_json(timeout=5))["ev"] == "hello"
            big = json.dumps({"op": "ping", "pad": "x" * 4_000})
            said = []
            for _ in range(10):
                await socket.send_str(big)
                said.append(await socket.receive_json(timeout=5))
            assert [event["ev"] for event in said].count("pong") == 4
            refused = [event for event in said if event["ev"] == "error"]
            assert {event["code"] for event in refused} == {"limit"}
            assert "bytes" in refused[0]["message"]
        await goes_on(ada, bob)


async def test_everybody_together_is_limited() -> None:
    few: dict[str, Any] = {"guest_all_burst": 2, "guest_all_per_minute": 1, "trusted_proxies": ("127.0.0.1",)}
    async with a_game(**few) as (world, _, ada, bob):
        statuses = []
        for number in range(4):
            headers = {"X-Forwarded-For": f"10.0.0.{number}"}
            async with world.session.post(f"{world.url}/api/guests", headers=headers) as response:
                statuses.append(response.status)
        assert statuses == [201, 201, 429, 429]
        assert world.metric("numbridge_gateway_limited_total", limit="guests_in_all") == 2
        await goes_on(ada, bob)
    async with a_game(connect_all_burst=3, connect_all_per_minute=1) as (world, _, ada, bob):
        async with world.session.ws_connect(f"{world.url}/ws"):
            pass
        with pytest.raises(aiohttp.WSServerHandshakeError, match="429"):
            await world.session.ws_connect(f"{world.url}/ws")
        await goes_on(ada, bob)


async def test_refused_tokens_in_messages_count_for_the_address_too() -> None:
    async with a_game(hello_burst=3, hello_per_minute=1) as (world, _, ada, bob):
        codes = []
        for _ in range(4):
            async with world.session.ws_connect(f"{world.url}/ws") as socket:
                await socket.send_json({"op": "hello", "token": "nonsense"})
                codes.append((await socket.receive_json(timeout=5))["code"])
        assert codes == ["unauthorized"] * 3 + ["limit"]
        await goes_on(ada, bob)


@pytest.mark.parametrize(
    ("header", "same"),
    [
        ("10.0.0.%d", False), ("10.0.0.%d:4711", False), ("[2001:db8:%d::1]:443", False), ("2001:db8::%d", True),
        ("10.0.0.%d, 10.9.9.9", True),  # what the client says of itself counts for nothing
        ("nonsense %d", True), ("", True),
    ],
)  # fmt: skip
async def test_a_trusted_proxys_word_is_taken_and_no_other(header: str, same: bool) -> None:
    async with a_game(guest_burst=1, trusted_proxies=("127.0.0.0/8",)) as (world, _, ada, bob):
        statuses = []
        for number in (1, 2):
            headers = {"X-Forwarded-For": header % number if "%" in header else header, "X-Real-IP": f"10.1.1.{number}"}
            async with world.session.post(f"{world.url}/api/guests", headers=headers) as response:
                statuses.append(response.status)
        assert statuses == [201, 429 if same else 201]
        await goes_on(ada, bob)


async def test_both_seats_from_one_address_are_counted() -> None:
    async with a_game() as (world, _, ada, bob):
        await eventually(lambda: world.metric("numbridge_gateway_one_address_games_total") == 1)
        await goes_on(ada, bob)
