"""Talks to whichever worker owns a game, through failovers.

A command is sent to the owner that is known here. If that worker says
`moved` or `unavailable`, if its link is lost, or if the shard changes hands
while the answer is awaited, the command is sent again, until the deadline.
Sending again is safe: looks and joins change nothing, and a play always
carries a ref.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import structlog

from gateway.metrics import Metrics
from gateway.ports import LinkLost, Links, Owners
from numbridge import clock, ids, tracing
from numbridge.errors import Reason, Rejected, from_proto, unavailable
from numbridge.routing import Owner
from numbridge.tasks import delays
from numbridge.v1 import table_pb2 as pb

log = structlog.get_logger("numbridge.gateway.tables")

SWEEP_S = 0.5  # how late the end of an answer's time may be noticed
MOVED_WAIT_S = 0.5  # how long the map may take to show what a worker's `moved` has said already


_AGAIN = (Reason.MOVED, Reason.UNAVAILABLE)  # refusals after which the command is sent again


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A command that was sent once and needs to be sent again."""

    why: str
    """link_lost, handed_over, moved or unavailable."""
    end: float
    """When its time is over, by the loop's clock."""
    owner: Owner
    """Whom it was sent to."""


class _HandedOver(Exception):
    """The shard changed hands while an answer was awaited."""


class Tables:
    """Commands to tables."""

    def __init__(
        self, owners: Owners, links: Links, metrics: Metrics, *, deadline_ms: int, link_timeout_ms: int
    ) -> None:
        """`link_timeout_ms`: how long one answer may take; then the command is sent again."""
        self._owners = owners
        self._links = links
        self._metrics = metrics
        self._deadline_s = deadline_ms / 1000
        self._link_timeout_s = link_timeout_ms / 1000
        self._shard_of = lru_cache(8_192)(lambda game: ids.shard_of(game, owners.count))
        self._awaiting: dict[int, dict[asyncio.Future[pb.Answer], Owner]] = {}
        self._started: deque[tuple[float, Owner, asyncio.Future[pb.Answer], pb.Command]] = deque()
        """Commands of `start`, with the end of their time, in order."""
        self._sweeper: asyncio.TimerHandle | None = None
        owners.on_change(self._owner_changed)

    def shard(self, game: str) -> int:
        """The game's shard. Raises Rejected (not_found) if it is no game's id."""
        try:
            return self._shard_of(game)
        except ValueError:
            raise not_found() from None

    def start(self, command: pb.Command, done: Callable[[pb.Answer | Unfinished], None]) -> bool:
        """The usual way of a command, without a task of its own: sends it to the owner that is known now.

        False if there is none, or it can't be sent: then `ask`. Else `done` is called once, with the answer, or with
        what `ask` needs to go on with it.
        """
        shard = self.shard(command.game)
        owner = self._owners.owner(shard)
        if owner is None:
            return False
        try:
            future = self._links.send(owner, command)
        except Rejected:
            return False
        loop = asyncio.get_running_loop()
        began, arrived = loop.time(), clock.monotonic()
        self._awaiting.setdefault(shard, {})[future] = owner

        def ended(future: "asyncio.Future[pb.Answer]") -> None:
            self._forget(shard, future)
            error = None if future.cancelled() else future.exception()
            if future.cancelled() or isinstance(error, LinkLost):
                why = "link_lost"
            elif error is not None:
                why = "handed_over"
            else:
                answer = future.result()
                why = from_proto(answer.reject).reason if answer.WhichOneof("kind") == "reject" else ""
                if why not in _AGAIN:
                    _tell(command, owner, str(why), arrived)
                    done(answer)
                    return
            done(Unfinished(str(why), began + self._deadline_s, owner))

        future.add_done_callback(ended)
        self._started.append((began + self._link_timeout_s, owner, future, command))
        if self._sweeper is None:
            self._sweeper = loop.call_later(SWEEP_S, self._sweep)
        return True

    def _sweep(self) -> None:
        """Ends what has waited too long; one timer for all, and none while nothing waits."""
        loop = asyncio.get_running_loop()
        now, started = loop.time(), self._started
        while started and (started[0][0] <= now or started[0][2].done()):
            _, owner, future, command = started.popleft()
            if not future.done():
                log.warning("link_timeout", worker=owner.worker, game=command.game, ref=_ref(command))
                future.set_exception(LinkLost(owner.addr))
        self._sweeper = loop.call_later(SWEEP_S, self._sweep) if started else None

    async def ask(
        self, command: pb.Command, deadline_s: float | None = None, *, after: Unfinished | None = None
    ) -> pb.Answer:
        """The answer to a command, whichever worker gives it. Raises Rejected, `unavailable` after the deadline.

        `after`: the command has been sent once already, by `start`, and its time goes on.
        """
        shard = self.shard(command.game)
        loop, arrived = asyncio.get_running_loop(), clock.monotonic()
        end = loop.time() + (self._deadline_s if deadline_s is None else deadline_s) if after is None else after.end
        pauses = delays(0.02, 0.25)
        avoid: Owner | None = None
        sent = after is not None
        if after is not None:
            self._metrics.command_retried(after.why)
            if after.why == Reason.MOVED:
                avoid = after.owner
            elif after.why != "handed_over":
                await asyncio.sleep(min(next(pauses), max(0.0, end - loop.time())))
        while True:
            left = end - loop.time()
            if left <= 0:
                raise unavailable("the table")
            owner = self._owners.owner(shard) if avoid is None else None
            if owner is None:
                # After `moved`, the map may need a moment; if it stays as it is, ask the same worker again.
                patience = left if avoid is None else min(left, MOVED_WAIT_S)
                owner = await self._owners.wait_owner(shard, patience, unlike=avoid) or self._owners.owner(shard)
                avoid = None
                if owner is None:
                    continue
            if sent:  # what was sent before may still wait on its link under its own number
                again = pb.Command()
                again.CopyFrom(command)
                command = again
            sent = True
            try:
                answer = await self._once(shard, owner, command, end)
            except LinkLost:
                self._metrics.command_retried("link_lost")
                await asyncio.sleep(min(next(pauses), max(0.0, end - loop.time())))
                continue
            except _HandedOver:
                self._metrics.command_retried("handed_over")
                continue
            if answer.WhichOneof("kind") == "reject":
                rejected = from_proto(answer.reject)
                if rejected.reason is Reason.MOVED:
                    self._metrics.command_retried("moved")
                    avoid = owner
                    continue
                if rejected.reason is Reason.UNAVAILABLE and loop.time() < end:
                    self._metrics.command_retried("unavailable")
                    await asyncio.sleep(min(next(pauses), max(0.0, end - loop.time())))
                    continue
                _tell(command, owner, str(rejected.reason), arrived)
                raise rejected
            _tell(command, owner, "", arrived)
            return answer

    async def _once(self, shard: int, owner: Owner, command: pb.Command, end: float) -> pb.Answer:
        future = self._links.send(owner, command)
        self._awaiting.setdefault(shard, {})[future] = owner
        try:
            async with asyncio.timeout_at(min(end, asyncio.get_running_loop().time() + self._link_timeout_s)):
                return await future
        except TimeoutError:
            log.warning("link_timeout", worker=owner.worker, game=command.game, ref=_ref(command))
            raise LinkLost(owner.addr) from None
        finally:
            self._forget(shard, future)

    def _forget(self, shard: int, future: "asyncio.Future[pb.Answer]") -> None:
        awaiting = self._awaiting.get(shard)
        if awaiting is not None:
            awaiting.pop(future, None)
            if not awaiting:
                del self._awaiting[shard]

    def _owner_changed(self, shard: int) -> None:
        now = self._owners.owner(shard)
        if now is None:  # between two owners: the former one may still answer
            return
        for future, owner in tuple(self._awaiting.get(shard, {}).items()):
            if owner != now and not future.done():
                future.set_exception(_HandedOver())


def _ref(command: pb.Command) -> str:
    """The player's own name for a play, which is found again at the worker and in the log's record."""
    return command.play.ref if command.HasField("play") else ""


def _tell(command: pb.Command, owner: Owner, refused: str, arrived: float) -> None:
    """One line a play, for who looks for a move from hop to hop; and its trace, if there are any."""
    if command.HasField("play"):
        game, ref, outcome = command.game, command.play.ref, refused or "ok"
        log.debug("play", game=game, ref=ref, worker=owner.worker, outcome=outcome)
        if tracing.current is not None:
            tracing.current.at_gateway(game, command.play.player, ref, arrived, owner.worker, outcome)


def not_found() -> Rejected:
    """The refusal where there is no such game."""
    return Rejected(Reason.NOT_FOUND, "there is no such game")
