"""A gateway's link: grouped answers, bounded reading, presence that ends with the stream."""

import asyncio
from collections.abc import AsyncIterator

from prometheus_client import CollectorRegistry

from numbridge.v1 import table_pb2 as pb
from tablesvc.link import Link
from tablesvc.metrics import Metrics
from tablesvc.presence import Presence
from tablesvc.registry import Registry
from tablesvc.works import Accepted, Look, Play, Present, Work
from tablesvc.world import World
from tests.helpers.eventually import eventually

GAME = "07-ABCDEFGHIJKLMNOP"


class Kept(Registry):
    """Keeps what is submitted."""

    def __init__(self) -> None:
        super().__init__(16, Metrics(CollectorRegistry()))
        self.works: list[tuple[str, Work]] = []

    def submit(self, game: str, work: Work) -> None:
        self.works.append((game, work))


class Stream:
    """A gateway's side."""

    def __init__(self, link: Link) -> None:
        self._in: asyncio.Queue[pb.LinkUp | None] = asyncio.Queue(maxsize=100)
        self.out: list[pb.LinkDown] = []
        self.task = asyncio.create_task(self._run(link))

    async def _incoming(self) -> AsyncIterator[pb.LinkUp]:
        while (up := await self._in.get()) is not None:
            yield up

    async def _run(self, link: Link) -> None:
        async for down in link.serve(self._incoming()):
            self.out.append(down)

    def send(self, *commands: pb.Command) -> None:
        self._in.put_nowait(pb.LinkUp(commands=commands))

    def end(self) -> None:
        self._in.put_nowait(None)


def look(number: int) -> pb.Command:
    return pb.Command(request=number, game=GAME, look=pb.Look(player="ada"))


async def test_answers_that_wait_travel_together(world: World) -> None:
    registry = Kept()
    stream = Stream(Link(1, registry, Presence(world, registry), registry._metrics, limit=100))
    stream.send(*(look(number) for number in range(1, 51)))
    await eventually(lambda: len(registry.works) == 50)
    for _, work in reversed(registry.works):
        work.reply(Accepted(3))
    stream.end()
    await stream.task
    assert len(stream.out) == 1
    assert [answer.request for answer in stream.out[0].answers] == list(range(50, 0, -1))


async def test_beyond_the_limit_nothing_is_read(world: World) -> None:
    registry = Kept()
    stream = Stream(Link(1, registry, Presence(world, registry), registry._metrics, limit=3))
    for number in range(1, 9):
        stream.send(look(number))
    await eventually(lambda: len(registry.works) == 3)
    full = registry._metrics._dropped.labels("link_full")._value
    await eventually(lambda: full.get() == 1)
    assert len(registry.works) == 3
    for number in range(8):
        await eventually(lambda number=number: len(registry.works) > number)  # type: ignore[misc]
        registry.works[number][1].reply(Accepted(number))
    stream.end()
    await stream.task
    assert sum(len(down.answers) for down in stream.out) == 8


async def test_commands_are_read_as_they_were_meant(world: World) -> None:
    registry = Kept()
    stream = Stream(Link(4, registry, Presence(world, registry), registry._metrics, limit=100))
    stream.send(
        pb.Command(request=1, game=GAME, play=pb.Play(player="ada", version=3, action="claim", cell="e3", lag_ms=9)),
        pb.Command(game=GAME, presence=pb.Presence(blue=1)),
        pb.Command(request=2, game=GAME),
        pb.Command(request=3, game=GAME, play=pb.Play(player="ada", ref="x" * 65, action="pie")),
    )
    await eventually(lambda: len(registry.works) == 2)
    assert registry.works[0][1].ask == Play("ada", "", 3, "claim", "e3", None, 9)
    assert registry.works[1][1].ask == Present(4, 1, 0, 0)
    registry.works[0][1].reply(Accepted(4))
    stream.end()
    await stream.task
    answers = {answer.request: answer for down in stream.out for answer in down.answers}
    assert answers[1].accepted.version == 4
    assert {answers[n].reject.message[:5] for n in (2, 3)} == {"a com", "a ref"}
    # the stream's end takes its presence along
    assert [work.ask for _, work in registry.works[2:]] == [Present(4, 0, 0, 0)]


async def test_a_stream_that_breaks_takes_its_presence_along(world: World) -> None:
    registry = Kept()
    stream = Stream(Link(4, registry, Presence(world, registry), registry._metrics, limit=100))
    stream.send(pb.Command(game=GAME, presence=pb.Presence(watchers=2)), look(1))
    await eventually(lambda: len(registry.works) == 2)
    stream.task.cancel()
    await asyncio.gather(stream.task, return_exceptions=True)
    await eventually(lambda: len(registry.works) == 3)
    assert registry.works[2][1].ask == Present(4, 0, 0, 0)
    registry.works[1][1].reply(Accepted(1))  # nobody hears it, and nothing breaks
    assert registry.works[1][1].ask == Look("ada")
