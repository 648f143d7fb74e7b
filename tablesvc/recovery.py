"""The log becomes tables again: one ordered pass over a shard, record by record.

A record that can't be read, or does not follow from those before it, sets its game aside; the others go on.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import structlog

from numbridge.v1 import log_pb2 as pb
from tablesvc import sanity
from tablesvc.codec import Damaged, events_of, read_record
from tablesvc.engine.evolve import evolve
from tablesvc.engine.state import State
from tablesvc.ports import Logged

log = structlog.get_logger("numbridge.tablesvc.recovery")

# What pure code raises on events that are well-formed but make no sense together.
_NONSENSE = (ValueError, LookupError, TypeError, ArithmeticError, AttributeError)


class NewerOwner(Exception):
    """The log holds a record of a later epoch: somebody else owns the shard."""

    def __init__(self, epoch: int) -> None:
        super().__init__(f"epoch {epoch}")
        self.epoch = epoch


@dataclass(slots=True)
class Found:
    """A game as its records tell it."""

    game: str
    state: State
    seq: int
    epoch: int
    append: str
    records: list[bytes] = field(default_factory=list)
    refs: dict[tuple[str, str], int] = field(default_factory=dict)


class Replay:
    """Collects the games of one shard, for the owner of `epoch`."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self.games: dict[str, Found] = {}
        self.damaged: dict[str, str] = {}
        """Game -> what is wrong with its log."""

    def take(self, logged: Logged) -> None:
        """One more message of a game. Raises NewerOwner."""
        if logged.game in self.damaged:
            return
        try:
            self._take(logged)
        except Damaged as damage:
            self.damaged[logged.game] = str(damage)
            self.games.pop(logged.game, None)
            log.error("log_damaged", game=logged.game, seq=logged.seq, error=str(damage))  # noqa: TRY400

    def take_all(self, messages: Iterable[Logged]) -> None:
        """Several, in order. Raises NewerOwner."""
        for logged in messages:
            self.take(logged)

    def _take(self, logged: Logged) -> None:
        record = read_record(logged.data)
        found = self.games.get(logged.game)
        if record.game != logged.game:
            raise Damaged(f"a record of {record.game} among those of {logged.game}")
        if record.epoch > self._epoch:
            raise NewerOwner(record.epoch)
        if found is not None and record.append == found.append:  # the same append, stored twice
            found.seq = logged.seq
            return
        if found is not None and record.epoch < found.epoch:
            raise Damaged(f"a record of epoch {record.epoch} after one of epoch {found.epoch}")
        state = self._evolve(found.state if found is not None else None, record)
        if found is None:
            found = self.games[logged.game] = Found(logged.game, state, logged.seq, record.epoch, record.append)
        found.state, found.seq, found.epoch, found.append = state, logged.seq, record.epoch, record.append
        found.records.append(logged.data)
        if record.ref:
            found.refs[record.player, record.ref] = record.version

    @staticmethod
    def _evolve(state: State | None, record: pb.LogRecord) -> State:
        try:
            for event in events_of(record):
                sanity.check_event(state, event)
                state = evolve(state, event)
                sanity.check_state(state)
        except _NONSENSE as error:
            raise Damaged(f"events that do not follow: {type(error).__name__}") from error
        if state is None:
            raise Damaged("the first record does not open a game")
        if state.version != record.version:
            raise Damaged(f"version {record.version} where {state.version} follows")
        return state
