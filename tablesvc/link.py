"""One gateway's link: commands in, answers out, several in a message whenever several wait.

One task reads, one writes. The writer takes everything that has gathered while its last write was under way: no
timer, so an idle link adds no delay. Beyond `link_limit` unanswered commands nothing is read, and gRPC's own
flow control slows the gateway down.
"""

import asyncio
from collections.abc import AsyncIterator

import structlog

from numbridge.clock import monotonic
from numbridge.errors import Reason, Rejected, to_proto
from numbridge.v1 import common_pb2 as common
from numbridge.v1 import table_pb2 as pb
from numbridge.wire import MAX_REF_CHARS
from tablesvc.metrics import Metrics
from tablesvc.presence import Presence
from tablesvc.registry import Registry
from tablesvc.works import (
    Accepted,
    Ask,
    Ended,
    GetRecord,
    Join,
    Joined,
    Look,
    Outcome,
    Play,
    Present,
    Seated,
    Work,
)

log = structlog.get_logger("numbridge.tablesvc.link")

_GROUP = 128  # answers in one message: joins may be tens of kilobytes each


class Link:
    """See the module."""

    def __init__(self, number: int, registry: Registry, presence: Presence, metrics: Metrics, limit: int) -> None:
        """`number`: unique in this process."""
        self._number = number
        self._registry = registry
        self._presence = presence
        self._metrics = metrics
        self._limit = limit
        self._out: list[pb.Answer] = []
        self._some = asyncio.Event()
        self._room = asyncio.Event()
        self._open = 0
        self._games: set[str] = set()
        """Games at which this link has reported somebody."""

    async def serve(self, incoming: AsyncIterator[pb.LinkUp]) -> AsyncIterator[pb.LinkDown]:
        """Yields answers until the gateway has ended the stream and everything is answered, or is gone."""
        reader = asyncio.create_task(self._read(incoming), name="link_reader")
        reader.add_done_callback(lambda _: self._some.set())
        try:
            while not (reader.done() and self._open == 0 and not self._out):
                await self._some.wait()
                self._some.clear()
                waiting, self._out = self._out, []
                for start in range(0, len(waiting), _GROUP):
                    yield pb.LinkDown(answers=waiting[start : start + _GROUP])
        finally:
            reader.cancel()
            [end] = await asyncio.gather(reader, return_exceptions=True)
            if isinstance(end, Exception):
                log.warning("link_broken", error=f"{type(end).__name__}: {end}")
            self._presence.drop_link(self._number, self._games)

    async def _read(self, incoming: AsyncIterator[pb.LinkUp]) -> None:
        async for up in incoming:
            for command in up.commands:
                self._take(command)
            while self._open >= self._limit:
                self._metrics.dropped("link_full")
                self._room.clear()
                await self._room.wait()

    def _take(self, command: pb.Command) -> None:
        number = command.request
        try:
            ask = self._ask(command)
        except Rejected as refusal:
            self._open += 1
            self._reply(number, refusal)
            return
        if number:
            self._open += 1
            self._registry.submit(command.game, Work(ask, lambda outcome: self._reply(number, outcome), monotonic()))
        else:
            self._registry.submit(command.game, Work(ask))

    def _ask(self, command: pb.Command) -> Ask:
        """Raises Rejected (bad_message) for what this release does not know."""
        match command.WhichOneof("kind"):
            case "play":
                play = command.play
                if len(play.ref) > MAX_REF_CHARS:
                    raise Rejected(Reason.BAD_MESSAGE, f"a ref has at most {MAX_REF_CHARS} characters")
                return Play(
                    play.player,
                    play.ref,
                    play.version,
                    play.action,
                    play.cell if play.HasField("cell") else None,
                    play.tile if play.HasField("tile") else None,
                    play.lag_ms,
                )
            case "join":
                join = command.join
                return Join(join.player, join.since if join.HasField("since") else None, join.arrive)
            case "presence":
                there = command.presence
                if there.blue or there.red or there.watchers:
                    self._games.add(command.game)
                else:
                    self._games.discard(command.game)
                return Present(self._number, there.blue, there.red, there.watchers)
            case "look":
                return Look(command.look.player)
            case "record":
                return GetRecord()
            case _:
                raise Rejected(Reason.BAD_MESSAGE, "a command of no kind that this worker knows")

    def _reply(self, number: int, outcome: Outcome) -> None:
        self._open -= 1
        self._room.set()
        if number:
            self._out.append(answer_of(number, outcome))
        self._some.set()


def answer_of(number: int, outcome: Outcome) -> pb.Answer:
    """An outcome as the link carries it."""
    match outcome:
        case Accepted():
            return pb.Answer(request=number, accepted=pb.Accepted(version=outcome.version))
        case Rejected():
            return pb.Answer(request=number, reject=to_proto(outcome))
        case Joined():
            joined = pb.Joined(
                seat=outcome.seat,
                version=outcome.version,
                state=outcome.state or b"",
                frames=[pb.Frame(version=version, text=text) for version, text in outcome.frames],
                presence=outcome.presence,
            )
            return pb.Answer(request=number, joined=joined)
        case Seated():
            return pb.Answer(request=number, seat=pb.Seat(seat=outcome.seat, status=outcome.status))
        case bytes():
            return pb.Answer(request=number, record=outcome)
        case None:  # presence, asked with a number
            return pb.Answer(request=number, accepted=pb.Accepted(version=0))
        case common.GameSummary() | Ended():
            raise TypeError(f"{type(outcome).__name__} is not asked for on a link")
