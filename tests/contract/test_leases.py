"""The leases port on both twins, and the shard map that gateways and lobbies watch."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from numbridge import names, nats_io
from numbridge.routing import Owner, Routes, ShardEntry, WorkerEntry
from numbridge.settings import CommonSettings
from tablesvc.adapters.nats_leases import NatsLeases
from tablesvc.ports import LeaseAway, Leases, LeaseTaken
from tests.helpers.eventually import eventually
from tests.helpers.memory_tables import Cluster, MemoryHome


@dataclass
class Two:
    one: Leases
    two: Leases


def worker(name: str, beat: int = 1, run: str = "r1", ttl_ms: int = 2_000) -> WorkerEntry:
    return WorkerEntry(name, run, f"{name}:9", draining=False, tables=beat, ttl_ms=ttl_ms, beat=beat)


@pytest_asyncio.fixture(params=["memory", "real"])
async def leases(request: pytest.FixtureRequest, clean_nats: str) -> AsyncIterator[Two]:
    if request.param == "memory":
        cluster = Cluster()
        yield Two(MemoryHome(cluster).leases, MemoryHome(cluster).leases)
        return
    url = clean_nats
    clients, made = [], []
    for name in ("one", "two"):
        client = await nats_io.connect(CommonSettings(name=name, nats_url=url))
        js = client.jetstream(timeout=2)
        workers = await nats_io.bucket(js, names.KV_WORKERS, 1)
        lease = NatsLeases(client, workers, await nats_io.bucket(js, names.KV_SHARDS, 1))
        await lease.start()
        clients.append(client)
        made.append(lease)
    yield Two(*made)
    for lease, client in zip(made, clients, strict=True):
        await lease.stop()
        await client.close()


async def test_one_of_many_wins_a_shard(leases: Two) -> None:
    racing = [(leases.one, leases.two)[n % 2].put_shard(3, ShardEntry(f"w{n}", "r", 1, "a"), 0) for n in range(8)]
    outcomes = await asyncio.gather(*racing, return_exceptions=True)
    [won] = [(n, outcome) for n, outcome in enumerate(outcomes) if isinstance(outcome, int)]
    assert all(isinstance(outcome, LeaseTaken) for outcome in outcomes if not isinstance(outcome, int))
    await eventually(lambda: leases.two.shards()[3].entry.owner == f"w{won[0]}")
    assert leases.one.shards()[3].revision == won[1]


async def test_a_change_needs_the_latest_revision(leases: Two) -> None:
    first = await leases.one.put_shard(3, ShardEntry("w1", "r", 1, "a"), 0)
    second = await leases.two.put_shard(3, ShardEntry("w2", "r", 2, "b"), first)
    with pytest.raises(LeaseTaken):
        await leases.one.put_shard(3, ShardEntry("w1", "r", 3, "a"), first)
    await leases.one.put_shard(3, ShardEntry("", "", 2, ""), second)
    await eventually(lambda: leases.two.shards()[3].entry.owner == "")


async def test_a_beat_is_seen_by_others(leases: Two) -> None:
    revision = await leases.one.put_worker(worker("w1"), 0)
    await eventually(lambda: "w1" in leases.two.workers())
    before = leases.two.workers()["w1"].changed_at
    revision = await leases.one.put_worker(worker("w1", beat=2), revision)
    await eventually(lambda: leases.two.workers()["w1"].entry.beat == 2)
    assert leases.two.workers()["w1"].changed_at > before
    await eventually(lambda: leases.one.watched() >= revision)
    sign = await leases.two.reread_worker("w1")
    assert sign is not None
    assert (sign.revision, sign.entry.beat) == (revision, 2)


async def test_a_removed_worker_is_gone_and_may_come_back(leases: Two) -> None:
    revision = await leases.one.put_worker(worker("w1"), 0)
    with pytest.raises(LeaseTaken):
        await leases.two.remove_worker("w1", revision + 7)
    await leases.one.remove_worker("w1", revision)
    await eventually(lambda: "w1" not in leases.two.workers())
    assert await leases.one.reread_worker("w1") is None
    await leases.two.put_worker(worker("w1", run="r2"), 0)
    await eventually(lambda: "w1" in leases.one.workers())
    assert leases.one.workers()["w1"].entry.run == "r2"


async def test_changes_are_told(leases: Two) -> None:
    told: list[int] = []
    leases.two.on_change(lambda: told.append(1))
    await leases.one.put_worker(worker("w1"), 0)
    await eventually(lambda: len(told) >= 1)


async def test_routes_know_owner_and_load(clean_nats: str) -> None:
    client = await nats_io.connect(CommonSettings(name="gw", nats_url=clean_nats))
    js = client.jetstream(timeout=2)
    leases = NatsLeases(
        client, await nats_io.bucket(js, names.KV_WORKERS, 1), await nats_io.bucket(js, names.KV_SHARDS, 1)
    )
    routes = await Routes.open(js, 16, 1)
    try:
        await leases.start()
        await routes.start()
        changed: list[int] = []
        routes.on_change(changed.append)
        assert routes.owner(3) is None
        waiting = asyncio.ensure_future(routes.wait_owner(3, 5))
        revision = await leases.put_worker(worker("w1", beat=9), 0)
        first = await leases.put_shard(3, ShardEntry("w1", "r1", 1, "w1:9"), 0)
        assert await waiting == Owner("w1", "w1:9", 1)
        assert 3 in changed
        # "moved": somebody else must turn up
        waiting = asyncio.ensure_future(routes.wait_owner(3, 5, unlike=Owner("w1", "w1:9", 1)))
        await leases.put_worker(worker("w2", beat=1), 0)
        second = await leases.put_shard(3, ShardEntry("w2", "r1", 2, "w2:9"), first)
        assert await waiting == Owner("w2", "w2:9", 2)
        await leases.put_shard(4, ShardEntry("w1", "r1", 1, "w1:9"), 0)
        await eventually(lambda: routes.shards_by_worker() == {"w1": [4], "w2": [3]})
        assert {w.name for w in routes.workers()} == {"w1", "w2"}
        # a run that is over owns nothing
        await leases.put_worker(worker("w1", run="r2"), revision)
        await eventually(lambda: routes.owner(4) is None)
        assert await routes.wait_owner(4, 0.05) is None
        # after a lost connection everything is read again
        routes.refresh()
        await leases.put_shard(3, ShardEntry("", "", 2, ""), second)
        await eventually(lambda: routes.owner(3) is None)
    finally:
        await routes.stop()
        await leases.stop()
        await client.close()


async def test_a_worker_whose_entry_stands_still_is_not_live(clean_nats: str) -> None:
    client = await nats_io.connect(CommonSettings(name="gw", nats_url=clean_nats))
    js = client.jetstream(timeout=2)
    leases = NatsLeases(
        client, await nats_io.bucket(js, names.KV_WORKERS, 1), await nats_io.bucket(js, names.KV_SHARDS, 1)
    )
    routes = await Routes.open(js, 16, 1)
    try:
        await leases.start()
        await routes.start()
        await leases.put_worker(worker("w1", ttl_ms=100), 0)
        await eventually(lambda: [w.name for w in routes.workers()] == ["w1"])
        await eventually(lambda: routes.workers() == [])
    finally:
        await routes.stop()
        await leases.stop()
        await client.close()
    with pytest.raises(LeaseAway):
        await leases.put_worker(worker("w1"), 0)
