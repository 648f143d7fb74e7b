"""One running game: a bounded mailbox, and never more than one task that empties it.

    submit ─► mailbox ─► gate ─► judge ─► append ─► state, frames, answer
                          │                  └─ no ack? look into the log, send the very same again, or step down
                          └─ the log is away or the lease in doubt: wait, at most `answer_ms`

A table without work has no task. Nothing but this task changes the state, and only after the log has the record.
"""

import asyncio
from collections import deque
from typing import Protocol

import structlog

from numbridge import tracing
from numbridge.clock import monotonic
from numbridge.errors import Reason, Rejected, moved, unavailable
from numbridge.frames import pack
from numbridge.names import SEATS
from tablesvc import judge, reads
from tablesvc.codec import read_record, write_record
from tablesvc.engine import clock
from tablesvc.engine.events import Arrived, Moved, TakenOver
from tablesvc.engine.state import State
from tablesvc.judge import Verdict
from tablesvc.ports import Away, LogError, Refused, WrongLast
from tablesvc.story import Story, all_texts
from tablesvc.works import KIND, READS, Accepted, Ended, EndIt, Join, Outcome, Play, Present, Ring, Work
from tablesvc.world import World

log = structlog.get_logger("numbridge.tablesvc.table")
commands = structlog.get_logger("numbridge.tablesvc.commands")

_PAUSE_S = 0.25  # between looks into a log that does not answer
_RING_AGAIN_MS = 1_000  # a deadline that came while nothing could be logged


class Lost(Exception):
    """The shard is another worker's."""


class Holder(Protocol):
    """What a table knows of its shard."""

    number: int
    epoch: int

    @property
    def gone(self) -> bool:
        """Given up or lost: nothing may be done for it any more."""
        ...

    @property
    def writable(self) -> bool:
        """Owned, by a lease that runs now."""
        ...

    def lost(self) -> None:
        """The log has shown that another worker owns it."""
        ...

    def forget(self, game: str) -> None:
        """The game is done with."""
        ...

    def set_aside(self, game: str) -> None:
        """The game can't be served: a fault broke it."""
        ...


class Table:
    """A game and its mailbox."""

    __slots__ = (
        "_box", "_busy", "_ringing", "armed", "closed", "credited_at", "due", "game", "lags", "present", "refs",
        "seq", "shard", "state", "story", "unsaid", "world",
    )  # fmt: skip

    def __init__(self, game: str, shard: Holder, world: World, state: State, seq: int, story: Story) -> None:
        """`seq`: the sequence of the last message on the game's subject."""
        self.game = game
        self.shard = shard
        self.world = world
        self.state = state
        self.seq = seq
        self.story = story
        self.refs: dict[tuple[str, str], int] = {}
        """(player, ref) -> the version that was answered, for the game's life."""
        self.lags = [0, 0]
        self.present: dict[int, Present] = {}
        """By link."""
        self.credited_at = 0
        """Stalls up to then have been given back."""
        self.unsaid = False
        """The latest frames were not sent, or may be lost."""
        self.closed: Rejected | None = None
        """Why nothing is taken in any more."""
        self.due: int | None = None
        self.armed: int | None = None
        self._box: deque[Work] = deque()
        self._busy = False
        self._ringing = False

    # --- mailbox

    def submit(self, work: Work) -> None:
        """Takes work in. It is answered in order; at once with a refusal if the table is closed or its mailbox full."""
        if self.closed is not None:
            self._answer(work, self.closed)
        elif not self._busy and isinstance(work.ask, READS) and self.shard.writable and not self._arrives(work.ask):
            self._read(work)
        elif len(self._box) >= self.world.settings.mailbox_limit:
            self.world.metrics.dropped("mailbox")
            self._answer(work, Rejected(Reason.UNAVAILABLE, "the table is busy; nothing was lost, try again"))
        else:
            self._box.append(work)
            self._wake()

    def ring(self) -> None:
        """The deadline has come, or time may be owed: asks the clock in the table's own turn."""
        if not self._ringing and self.closed is None:
            self._ringing = True
            self._box.append(Work(Ring()))  # one at a time, so the limit need not count it
            self._wake()

    def close(self, why: Rejected) -> None:
        """Takes nothing in any more; what waits is refused. The command under way finishes, if its append does."""
        if self.closed is None:
            self.closed = why
        self.world.clocks.arm(self, None)
        while self._box:
            self._answer(self._box.popleft(), self.closed)

    @property
    def waiting(self) -> int:
        """Commands in the mailbox."""
        return len(self._box)

    @property
    def busy(self) -> bool:
        """Whether a command is under way."""
        return self._busy

    def _wake(self) -> None:
        if not self._busy:
            self._busy = True
            self.world.tasks.spawn(self._drain(), "table")

    async def _drain(self) -> None:
        work: Work | None = None
        sound = False
        try:
            while self._box:
                work = self._box.popleft()
                self.world.metrics.queue_wait.observe(monotonic() - work.at)
                await self._do(work)
            sound = True
        except asyncio.CancelledError:  # the process ends; what is in the log is in the log
            sound = True
            raise
        except Lost:
            sound = True
            self.shard.lost()
            self.close(moved())
            if work is not None:
                self._answer(work, moved())
        finally:
            self._busy = False
            if not sound:  # a fault, which the supervisor logs
                self.close(Rejected(Reason.INTERNAL, "this table is out of order; the operator has been told"))
                if work is not None:
                    self._answer(work, self.closed)
                self.world.on_fault(self)

    def _answer(self, work: Work, outcome: Outcome) -> None:
        if work.answered:
            return
        work.answered = True
        said = str(outcome.reason) if isinstance(outcome, Rejected) else "ok"
        self.world.metrics.answered(KIND[type(work.ask)], said, monotonic() - work.at)
        if isinstance(work.ask, Play):  # the one id that is found again at the gateway and in the log's record
            commands.debug("play", game=self.game, player=work.ask.player, ref=work.ask.ref, outcome=said)
        work.reply(outcome)

    # --- one command

    async def _do(self, work: Work) -> None:
        refusal = await self._gate(work)
        if refusal is not None:
            if isinstance(work.ask, Ring):
                self._ringing = False
                self.world.clocks.arm(self, self.world.clock() + _RING_AGAIN_MS)
            self._answer(work, refusal)
            return
        match work.ask:
            case Play():
                await self._play(work, work.ask)
            case Ring():
                self._ringing = False
                self._rearm()
                now = self.world.clock()
                await self._commit(work, judge.ring(self.state, now, self._owed(now), self.lags, self.world.dice))
            case EndIt():
                verdict = judge.end_it(self.state, self.world.clock(), self.world.dice)
                if await self._commit(work, verdict):
                    self._answer(work, Ended(was_over=not verdict.accepted))
            case Join() if self._arrives(work.ask):
                await self._arrive(work, work.ask)
            case _:
                self._read(work)

    async def _gate(self, work: Work) -> Rejected | None:
        """Waits until the lease runs and, for what must be logged, the log answers. Raises Lost."""
        until = work.at + self.world.settings.answer_ms / 1000
        while True:
            if self.shard.gone:
                raise Lost
            if self.closed is not None:
                return self.closed
            self.world.pulse()
            logs = not isinstance(work.ask, READS) or self._arrives(work.ask)
            if self.shard.writable and not (logs and self.world.stalls.open):
                return None
            left = until - monotonic()
            if left <= 0 or isinstance(work.ask, Ring):
                return unavailable("the table's log")
            await self.world.changed.wait(left)

    async def _play(self, work: Work, ask: Play) -> None:
        seat = judge.seat_of(self.state, ask.player)
        if seat is None:
            self._answer(work, Rejected(Reason.FORBIDDEN, "only the two players of this game can act at its table"))
            return
        self.lags[seat] = judge.capped(ask.lag_ms)
        if ask.ref and (first := self.refs.get((ask.player, ask.ref))) is not None:
            self._answer(work, Accepted(first))
            return
        now = self.world.clock()
        started = monotonic()
        verdict = judge.play(self.state, seat, ask, now, self._owed(now), self.lags, self.world.dice)
        self.world.metrics.decide.observe(monotonic() - started)
        if await self._commit(work, verdict, ask if verdict.accepted else None):
            self._answer(work, verdict.rejected or Accepted(self.state.version))

    async def _arrive(self, work: Work, ask: Join) -> None:
        seat = judge.seat_of(self.state, ask.player)
        if seat is not None:
            now = self.world.clock()
            verdict = judge.arrive(self.state, seat, now, self._owed(now), self.lags, self.world.dice)
            if not await self._commit(work, verdict):
                return
        self._read(work)

    def _arrives(self, ask: object) -> bool:
        if not isinstance(ask, Join) or not ask.arrive or self.state.over:
            return False
        seat = judge.seat_of(self.state, ask.player)
        return seat is not None and not self.state.arrived[seat]

    def _owed(self, now: int) -> int:
        return self.world.stalls.since(max(self.state.last_at, self.credited_at), now)

    def _read(self, work: Work) -> None:
        self._answer(work, reads.answer(self, work.ask))

    # --- the log

    async def _commit(self, work: Work, verdict: Verdict, play: Play | None = None) -> bool:
        """Logs what has happened, then makes it so. False if the log would not have it: the work is answered then.

        Raises Lost.
        """
        if not verdict.steps:
            return True
        world, now = self.world, self.world.clock()
        append = world.append_id()
        data = write_record(
            self.game,
            verdict.state.version,
            self.shard.epoch,
            append,
            now,
            [event for event, _ in verdict.steps],
            play.ref if play is not None else "",
            play.player if play is not None else "",
        )
        started = monotonic()
        try:
            ack = await world.log.append(self.shard.number, self.game, data, self.seq, append)
            shown = all_texts(self.game, verdict.steps)  # while the log is at work
            world.metrics.encode.observe(monotonic() - started)
            seq = await ack
        except Refused as refused:
            log.warning("append_refused", game=self.game, error=str(refused))
            world.metrics.appended("refused")
            world.stalls.add(now, world.clock() + _RING_AGAIN_MS)  # nobody can move: no clock runs
            world.clocks.arm(self, world.clock() + _RING_AGAIN_MS)
            self._answer(work, unavailable("the table's log"))
            return False
        except (WrongLast, Away) as unknown:
            world.metrics.appended("conflict" if isinstance(unknown, WrongLast) else "unknown")
            seq = await self._settle(work, data, append)
            shown = all_texts(self.game, verdict.steps)
        else:
            world.metrics.appended("ok")
        safe = monotonic()
        world.metrics.append.observe(safe - started)
        before, self.state, self.seq = self.state, verdict.state, seq
        self.story.add(data, shown)
        if play is not None and play.ref:
            self.refs[play.player, play.ref] = verdict.state.version
        if any(isinstance(event, TakenOver) for event, _ in verdict.steps):
            self.credited_at = now
        await self._tell(before, verdict, shown)
        if tracing.current is not None and play is not None:
            tracing.current.at_worker(self.game, play.player, play.ref, work.at, started, safe, monotonic())
        return True

    async def _settle(self, work: Work, data: bytes, append: str) -> int:
        """Finds out what became of an append; sends the very same again until it has landed. Raises Lost."""
        world, shard = self.world, self.shard
        while True:
            self._expire(work)
            if shard.gone:
                raise Lost
            try:
                found = await world.log.read_game(shard.number, self.game, self.seq)
            except Away:
                await world.changed.wait(_PAUSE_S)
                continue
            if found:
                if read_record(found[0].data).append == append:
                    world.metrics.appended("landed")
                    return found[0].seq
                world.metrics.appended("lost")
                raise Lost
            try:
                return await (await world.log.append(shard.number, self.game, data, self.seq, append))
            except LogError:
                await world.changed.wait(_PAUSE_S)

    def _expire(self, work: Work) -> None:
        """Answers what has waited too long. What is under way may still take effect; its ref then tells."""
        oldest = monotonic() - self.world.settings.answer_ms / 1000
        refusal = unavailable("the table's log")
        if work.at <= oldest:
            self._answer(work, refusal)
        while self._box and self._box[0].at <= oldest and not isinstance(self._box[0].ask, Ring):
            self._answer(self._box.popleft(), refusal)

    async def _tell(self, before: State, verdict: Verdict, shown: list[tuple[int, tuple[bytes, bytes, bytes]]]) -> None:
        """Says what has happened, now that the log has it."""
        world = self.world
        started = monotonic()
        if shown and self.shard.writable:
            for place, seat in enumerate(SEATS):
                await world.views.frames(self.game, seat, pack([(version, texts[place]) for version, texts in shown]))
            self.unsaid = world.stalls.open
        elif shown:
            self.unsaid = True
        world.metrics.publish.observe(monotonic() - started)
        world.metrics.moved(sum(isinstance(event, Moved) for event, _ in verdict.steps))
        self._rearm()
        if any(isinstance(event, Arrived | TakenOver) for event, _ in verdict.steps):
            world.on_presence(self)
        if self.state.status != before.status:
            world.on_status(self)
            if self.state.over:
                world.on_over(self)

    async def repeat(self) -> None:
        """Says the latest frames again: some may have been lost with the connection."""
        self.unsaid = False
        latest = self.story.latest()
        if latest is not None and self.shard.writable:
            for place, seat in enumerate(SEATS):
                await self.world.views.frames(self.game, seat, pack([(latest[0], latest[1][place])]))

    def _rearm(self) -> None:
        due = clock.deadline(self.state)
        mover = self.state.to_move
        if due is not None and mover is not None and self.state.both_arrived:
            due += self.lags[mover]  # the mover's last word may still be on its way
        self.world.clocks.arm(self, due)

    def start(self) -> None:
        """Begins to keep time: the table is served from now on."""
        self._rearm()
