"""Limits that all gateways share: own bucket first, then the shared one, and the own one alone without it."""

import asyncio

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from gateway.limits.digest import Digest, bucket_key
from gateway.limits.gate import Gate
from gateway.limits.houses import Houses
from gateway.metrics import Metrics
from gateway.ports import LimitsAway
from gateway.session.limits import Rate
from numbridge.errors import Reason, Rejected
from tests.helpers.eventually import eventually


class Shared:
    """See ports.SharedLimits."""

    def __init__(self) -> None:
        self.waits: dict[str, int] = {}
        self.asked: list[tuple[str, str, bool]] = []
        self.seats: dict[str, dict[str, str]] = {}
        self.said: set[str] = set()
        self.away = False

    async def take(self, name: str, key: str, rate: Rate, *, take: bool = True) -> int:
        self.asked.append((name, key, take))
        if self.away:
            raise LimitsAway
        return self.waits.get(key, 0)

    async def sit(self, game: str, seat: str, other: str, house: str) -> bool:
        if self.away:
            raise LimitsAway
        seats = self.seats.setdefault(game, {})
        seats[seat] = house
        fresh = seats.get(other) == house and game not in self.said
        if fresh:
            self.said.add(game)
        return fresh


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def gate(shared: Shared | None, registry: CollectorRegistry, burst: int = 2, own: bool = True) -> Gate:
    return Gate("guests", "guests", Rate(burst, 1), shared, Metrics(registry), own=own)


async def refused(gate: Gate, key: str = "a") -> int:
    with pytest.raises(Rejected) as caught:
        await gate.take(key)
    assert caught.value.reason is Reason.LIMIT
    assert caught.value.retry_ms
    return caught.value.retry_ms


async def test_what_the_own_bucket_refuses_is_not_asked_of_the_shared_one(registry: CollectorRegistry) -> None:
    shared = Shared()
    limit = gate(shared, registry)
    await limit.take("a")
    await limit.take("a")
    assert await refused(limit) > 50_000
    assert len(shared.asked) == 2
    assert registry.get_sample_value("numbridge_gateway_limited_total", {"limit": "guests"}) == 1


async def test_the_shared_bucket_refuses_what_others_have_used_up(registry: CollectorRegistry) -> None:
    shared = Shared()
    shared.waits["a"] = 700
    limit = gate(shared, registry)
    assert await refused(limit) == 700
    await limit.take("b")


async def test_without_the_shared_one_the_own_bucket_decides(registry: CollectorRegistry) -> None:
    shared = Shared()
    shared.away = True
    limit = gate(shared, registry)
    await limit.take("a")
    await limit.take("a")
    await refused(limit)
    assert registry.get_sample_value("numbridge_gateway_limits_unshared_total") == 2


async def test_looking_takes_nothing_and_a_note_takes_without_waiting(registry: CollectorRegistry) -> None:
    shared = Shared()
    limit = gate(shared, registry, burst=1)
    for _ in range(5):
        await limit.look("a")
    limit.note("a")
    await eventually(lambda: ("guests", "a", True) in shared.asked)
    with pytest.raises(Rejected):
        await limit.look("a")
    await limit.stop()


async def test_where_the_session_counts_only_the_shared_bucket_is_asked(registry: CollectorRegistry) -> None:
    shared = Shared()
    limit = gate(shared, registry, burst=1, own=False)
    for _ in range(3):
        await limit.take("a")
    shared.waits["a"] = 5
    assert await refused(limit) == 5


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("10.1.2.3", "10.1.2.3"), ("::ffff:10.1.2.3", "10.1.2.3"), ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1", "2001:db8::/64"), ("2001:db8:0:1::1", "2001:db8:0:1::/64"), ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
    ],
)  # fmt: skip
def test_whose_bucket_an_address_is(address: str, key: str) -> None:
    assert bucket_key(address) == key


def test_a_digest_is_the_same_for_the_same_key_alone() -> None:
    assert Digest(b"k" * 100)("10.1.2.3") == Digest(b"k" * 100)("10.1.2.3")
    assert Digest(b"k" * 100)("10.1.2.3") != Digest(b"l" * 100)("10.1.2.3")
    assert "10.1" not in Digest(b"")("10.1.2.3")


# --- both seats from one address ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [Shared(), None])
async def test_both_seats_from_one_address_are_said_once_and_nobody_is_named(
    shared: Shared | None, registry: CollectorRegistry
) -> None:
    houses = Houses(Digest(b"key"), shared, Metrics(registry))
    with capture_logs() as lines:
        for _ in range(3):
            houses.sat("g1", "blue", "10.0.0.1")
            houses.sat("g1", "red", "10.0.0.1")
            houses.sat("g2", "blue", "10.0.0.1")
            houses.sat("g2", "red", "10.0.0.2")
            houses.sat("g2", "watch", "10.0.0.1")
        await eventually(lambda: len(lines) == 1 and not len(houses._notes))
        await asyncio.sleep(0)
    [line] = lines
    assert line == {"event": "both_seats_from_one_address", "game": "g1", "log_level": "warning"}
    assert registry.get_sample_value("numbridge_gateway_one_address_games_total") == 1
    await houses.stop()


async def test_they_are_seen_across_gateways_and_while_redis_is_away(registry: CollectorRegistry) -> None:
    shared, metrics = Shared(), Metrics(registry)
    one, two = (Houses(Digest(b"key"), shared, metrics) for _ in range(2))
    one.sat("g1", "blue", "2001:db8::1")
    await eventually(lambda: not len(one._notes))
    two.sat("g1", "red", "2001:db8::2")
    count = "numbridge_gateway_one_address_games_total"
    await eventually(lambda: registry.get_sample_value(count) == 1)
    shared.away = True
    one.sat("g2", "blue", "10.0.0.1")
    one.sat("g2", "red", "10.0.0.1")
    await eventually(lambda: registry.get_sample_value(count) == 2)
    for houses in (one, two):
        await houses.stop()
