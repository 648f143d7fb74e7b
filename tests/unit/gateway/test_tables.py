"""A command sent without a task of its own: what ends it, and how `ask` goes on where it was not the usual way."""

import asyncio
from collections.abc import Callable
from typing import cast

import pytest
from prometheus_client import CollectorRegistry

from gateway import tables as tables_module
from gateway.metrics import Metrics
from gateway.ports import LinkLost, Owners
from gateway.tables import Tables, Unfinished
from numbridge.errors import Reason, Rejected, to_proto
from numbridge.routing import Owner
from numbridge.v1 import table_pb2 as pb
from tests.helpers.eventually import eventually
from tests.unit.gateway.games import GAME

FIRST, SECOND = Owner("w1", "one:1", 1), Owner("w2", "two:2", 2)


class Map:
    """Who owns the shards: one owner for all."""

    count = 16

    def __init__(self) -> None:
        self.now: Owner | None = FIRST
        self.tell: Callable[[int], None] = lambda _shard: None

    def owner(self, _shard: int) -> Owner | None:
        return self.now

    async def wait_owner(self, _shard: int, _timeout_s: float, unlike: Owner | None = None) -> Owner | None:
        await asyncio.sleep(0)
        return None if self.now == unlike else self.now

    def on_change(self, tell: Callable[[int], None]) -> None:
        self.tell = tell


class Wires:
    """Links that keep what is sent; the test answers."""

    def __init__(self) -> None:
        self.sent: list[tuple[Owner, pb.Command, asyncio.Future[pb.Answer]]] = []
        self.full = False

    def send(self, owner: Owner, command: pb.Command) -> "asyncio.Future[pb.Answer]":
        if self.full:
            raise Rejected(Reason.UNAVAILABLE, "too many")
        future: asyncio.Future[pb.Answer] = asyncio.get_running_loop().create_future()
        self.sent.append((owner, command, future))
        return future


class World:
    """Tables over a map and wires, and what `start` has said."""

    def __init__(self, *, deadline_ms: int = 5000, link_timeout_ms: int = 3000) -> None:
        self.map, self.wires = Map(), Wires()
        self.registry = CollectorRegistry()
        self.tables = Tables(
            cast(Owners, self.map),
            self.wires,  # type: ignore[arg-type]  # what else links can do is not asked for
            Metrics(self.registry),
            deadline_ms=deadline_ms,
            link_timeout_ms=link_timeout_ms,
        )
        self.said: list[pb.Answer | Unfinished] = []

    def start(self, version: int = 1) -> bool:
        return self.tables.start(command(version), self.said.append)

    async def unfinished(self) -> Unfinished:
        await eventually(lambda: self.said)
        (said,) = self.said
        assert isinstance(said, Unfinished)
        return said

    def retried(self, why: str) -> float | None:
        return self.registry.get_sample_value("numbridge_gateway_command_retries_total", {"why": why})


def command(version: int = 1) -> pb.Command:
    return pb.Command(game=GAME, play=pb.Play(player="p", version=version))


def accepted(version: int = 2) -> pb.Answer:
    return pb.Answer(accepted=pb.Accepted(version=version))


def rejected(reason: Reason) -> pb.Answer:
    return pb.Answer(reject=to_proto(Rejected(reason, "as told")))


async def test_an_answer_arrives_as_it_is_accepted_or_refused() -> None:
    for answer in (accepted(), rejected(Reason.ILLEGAL)):
        world = World()
        assert world.start()
        assert world.said == []
        world.wires.sent[0][2].set_result(answer)
        await asyncio.sleep(0)
        assert world.said == [answer]


async def test_without_an_owner_or_room_on_the_link_nothing_is_sent_and_nothing_said() -> None:
    world = World()
    world.map.now = None
    assert not world.start()
    world.map.now, world.wires.full = FIRST, True
    assert not world.start()
    assert world.said == world.wires.sent == []


async def test_a_game_that_cannot_be_is_refused_at_once() -> None:
    with pytest.raises(Rejected):
        World().tables.start(pb.Command(game="nonsense"), lambda _answer: None)


@pytest.mark.parametrize("reason", [Reason.MOVED, Reason.UNAVAILABLE])
async def test_after_moved_or_unavailable_ask_goes_on_with_the_owner_there_is(reason: Reason) -> None:
    world = World()
    world.start()
    world.wires.sent[0][2].set_result(rejected(reason))
    after = await world.unfinished()
    assert (after.why, after.owner) == (str(reason), FIRST)
    world.map.now = SECOND
    going_on = asyncio.create_task(world.tables.ask(command(), after=after))
    await eventually(lambda: len(world.wires.sent) == 2)
    owner, again, future = world.wires.sent[1]
    assert (owner, again) == (SECOND, command())
    assert again is not world.wires.sent[0][1]  # the first may still wait on its link, under its own number
    future.set_result(accepted())
    assert await going_on == accepted()
    assert world.retried(str(reason)) == 1


async def test_a_lost_link_and_a_shard_handed_over_are_gone_on_with() -> None:
    world = World()
    world.start()
    world.wires.sent[0][2].set_exception(LinkLost("one:1"))
    assert (await world.unfinished()).why == "link_lost"
    world.said.clear()
    world.start()
    world.map.now = SECOND
    world.map.tell(world.tables.shard(GAME))
    assert (await world.unfinished()).why == "handed_over"


async def test_an_answer_that_takes_too_long_counts_as_a_lost_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "SWEEP_S", 0.01)
    world = World(link_timeout_ms=20)
    world.start()
    assert (await world.unfinished()).why == "link_lost"
    await eventually(lambda: world.tables._sweeper is None)  # no timer runs while nothing waits


async def test_the_time_goes_on_from_where_it_began() -> None:
    world = World(deadline_ms=0)
    world.start()
    world.wires.sent[0][2].set_result(rejected(Reason.UNAVAILABLE))
    with pytest.raises(Rejected, match="table"):
        await world.tables.ask(command(), after=await world.unfinished())
    assert len(world.wires.sent) == 1
