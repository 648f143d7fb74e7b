"""The gateway's subscriptions on a real NATS server: nothing is missed, and what may be lost is told of."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import nats
import pytest
from nats.aio.client import Client
from prometheus_client import CollectorRegistry

from gateway.adapters.nats_bus import Bus
from gateway.adapters.nats_notices import NatsNotices
from gateway.adapters.nats_views import NatsViews
from gateway.adapters.owners import ClusterOwners
from gateway.metrics import Metrics
from numbridge import frames, names, nats_io, routing
from numbridge.errors import Reason, Rejected
from numbridge.local_servers import nats_server
from numbridge.nats_io import bucket
from numbridge.settings import CommonSettings
from numbridge.v1 import lobby_pb2
from tests.helpers.eventually import eventually


@asynccontextmanager
async def a_bus(url: str) -> AsyncIterator[tuple[Bus, Client]]:
    """The gateway's connection, and another one that publishes."""
    bus = Bus(CommonSettings(name="g1", nats_url=url), Metrics(CollectorRegistry()))
    await bus.start()
    other = await nats.connect(url)
    yield bus, other
    await other.close()
    await bus.stop()


async def test_what_is_said_after_the_return_is_heard(nats_url: str) -> None:
    async with a_bus(nats_url) as (bus, other):
        views = NatsViews(bus)
        heard: list[tuple[int, list[frames.Frame]]] = []
        for number in range(20):
            await views.watch(f"g{number}", "blue", lambda said, n=number: heard.append((n, said)))  # type: ignore[misc]
            await other.publish(names.view_subject(f"g{number}", "blue"), frames.pack([(1, b"{}"), (0, b"[]")]))
            await other.publish(names.view_subject(f"g{number}", "red"), frames.pack([(1, b"secret")]))
        await eventually(lambda: len(heard) == 20)
        assert heard == [(number, [(1, b"{}"), (0, b"[]")]) for number in range(20)]


async def test_an_ended_subscription_is_silent(nats_url: str) -> None:
    async with a_bus(nats_url) as (bus, other):
        heard: list[bytes] = []
        first = await bus.subscribe("view.g.blue", heard.append)
        second = await bus.subscribe("view.g.blue", heard.append)
        first.end()
        first.end()
        await nats_io.settle(bus.client)
        await other.publish("view.g.blue", b"x")
        await eventually(lambda: heard == [b"x"])
        second.end()


async def test_notices_and_deltas_come_as_messages(nats_url: str) -> None:
    async with a_bus(nats_url) as (bus, other):
        notices = NatsNotices(bus)
        told: list[lobby_pb2.PlayerNotice] = []
        changed: list[lobby_pb2.SeekDelta] = []
        foreign = "x.y>* z"  # an id of a foreign provider's
        await notices.player(foreign, told.append)
        await notices.seeks("blitz", changed.append)
        notice = lobby_pb2.PlayerNotice(player=foreign, text=b"{}", game="g1")
        delta = lobby_pb2.SeekDelta(room="blitz", run="r", seq=4)
        await other.publish(names.player_subject(foreign), notice.SerializeToString())
        await other.publish(names.seeks_subject("blitz"), delta.SerializeToString())
        await eventually(lambda: (told, changed) == ([notice], [delta]))


async def test_payloads_that_are_none_are_dropped_and_the_next_one_comes(nats_url: str) -> None:
    async with a_bus(nats_url) as (bus, other):
        heard: list[list[frames.Frame]] = []
        told: list[lobby_pb2.PlayerNotice] = []
        await NatsViews(bus).watch("g", "watch", heard.append)
        await NatsNotices(bus).player("p", told.append)
        for payload in (b"garbage", b"\xff\xff\xff", b"1", b"-1 {}\n", b"1 {}"):
            await other.publish(names.view_subject("g", "watch"), payload)
            await other.publish(names.player_subject("p"), payload)
        await other.publish(names.player_subject("p"), lobby_pb2.PlayerNotice(player="p").SerializeToString())
        await eventually(lambda: heard[-1:] == [[(1, b"{}")]] and told[-1:] == [lobby_pb2.PlayerNotice(player="p")])


async def test_a_burst_is_heard_whole_and_a_fault_in_one_callback_is_nobody_elses(nats_url: str) -> None:
    async with a_bus(nats_url) as (bus, other):
        heard: list[bytes] = []

        def faulty(payload: bytes) -> None:
            raise ValueError(payload)

        await bus.subscribe("view.g.blue", faulty)
        await bus.subscribe("view.g.blue", heard.append)
        for number in range(20_000):
            await other.publish("view.g.blue", b"%d" % number)
        await eventually(lambda: len(heard) == 20_000)
        assert heard == [b"%d" % number for number in range(20_000)]
        assert bus.connected


async def test_a_reconnect_is_told_of(tmp_path: Path) -> None:
    server = nats_server(tmp_path, sync="2m")
    await server.start()
    async with a_bus(f"nats://127.0.0.1:{server.port}") as (bus, other):
        losses: list[int] = []
        bus.on_loss(lambda: losses.append(1))
        heard: list[bytes] = []
        await bus.subscribe("view.g.blue", heard.append)
        await server.stop()
        await eventually(lambda: not bus.connected)
        with pytest.raises(Rejected) as caught:
            await bus.subscribe("view.g.red", heard.append)
        assert caught.value.reason is Reason.UNAVAILABLE
        await server.start()
        await eventually(lambda: bus.connected and losses)
        heard.clear()

        async def said() -> bool:
            await other.publish("view.g.blue", b"again")
            return b"again" in heard

        await eventually(said)  # the old subscription stands again
    await server.stop()


async def test_nobody_at_the_other_end_fails_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nats_io, "FIRST_CONNECT_S", 0.5)
    bus = Bus(CommonSettings(name="g1", nats_url="nats://127.0.0.1:9"), Metrics(CollectorRegistry()))
    with pytest.raises((OSError, TimeoutError)):
        await bus.start()
    with pytest.raises(Rejected):
        await bus.subscribe("x", lambda _: None)
    await bus.stop()


async def test_the_shard_map_is_followed(clean_nats: str) -> None:
    settings = CommonSettings(name="g1", nats_url=clean_nats)
    async with a_bus(clean_nats) as (bus, other):
        owners = ClusterOwners(settings, bus)
        assert owners.owner(7) is None
        assert await owners.wait_owner(7, 0.01) is None
        changed: list[int] = []
        owners.on_change(changed.append)
        await owners.start()
        js = other.jetstream()
        workers, shards = [await bucket(js, name, 1) for name in (names.KV_WORKERS, names.KV_SHARDS)]
        worker = routing.WorkerEntry(
            name="w1", run="r1", addr="127.0.0.1:1", draining=False, tables=0, ttl_ms=60_000, beat=1
        )
        await workers.put("w1", routing.encode_entry(worker))
        shard = routing.ShardEntry(owner="w1", run="r1", epoch=3, addr="127.0.0.1:1")
        waiting = asyncio.create_task(owners.wait_owner(7, 5))
        await shards.put("7", routing.encode_entry(shard))
        assert await waiting == routing.Owner("w1", "127.0.0.1:1", 3)
        assert owners.owner(7) == routing.Owner("w1", "127.0.0.1:1", 3)
        assert 7 in changed
        await owners.stop()
