"""A game's history as its table keeps it: the log's records, and the latest frames ready to send.

Records are kept as the bytes that the log holds, a tenth of what objects take. Frames older than the ring are
made again from the records: the same events give the same bytes.
"""

from collections import deque
from collections.abc import Callable, Iterable

from numbridge import wire
from numbridge.frames import Frame
from numbridge.names import SEATS, Seat
from tablesvc.codec import events_of, read_record
from tablesvc.engine.events import Event
from tablesvc.engine.evolve import evolve
from tablesvc.engine.frames import frames
from tablesvc.engine.state import State

Texts = tuple[bytes, bytes, bytes]
"""One event's JSON text for blue, red and a watcher, in the order of names.SEATS."""

_RING = 4  # versions, 1.2 KB each; who was away for longer is rare enough to have his frames made again
_PLACE = {seat: place for place, seat in enumerate(SEATS)}


def texts_of(game: str, event: Event, after: State) -> Texts | None:
    """An event as each viewer may see it; None for an event that has no version."""
    seen = frames(game, event, after)
    if seen is None:
        return None
    watch = wire.encode(seen.watch)
    if seen.blue is seen.watch:
        return watch, watch, watch
    # A player's frame is the watcher's and the own hand at its end.
    blue = b'%b,"hand":%b}' % (watch[:-1], wire.encode(seen.blue["hand"]))
    red = b'%b,"hand":%b}' % (watch[:-1], wire.encode(seen.red["hand"]))
    return blue, red, watch


def all_texts(game: str, steps: Iterable[tuple[Event, State]]) -> list[tuple[int, Texts]]:
    """The frames of a run of events, each with its version."""
    found = []
    for event, after in steps:
        texts = texts_of(game, event, after)
        if texts is not None:
            found.append((after.version, texts))
    return found


class Story:
    """What has happened at one table."""

    __slots__ = ("_game", "_records", "_ring")

    def __init__(self, game: str, records: list[bytes]) -> None:
        self._game = game
        self._records = records
        self._ring: deque[tuple[int, Texts]] = deque(maxlen=_RING)

    def add(self, record: bytes, shown: list[tuple[int, Texts]]) -> None:
        """One more record, with its frames."""
        self._records.append(record)
        self._ring.extend(shown)

    def events(self) -> list[Event]:
        """Everything that happened, in order."""
        found: list[Event] = []
        for data in self._records:
            found.extend(events_of(read_record(data)))
        return found

    def latest(self) -> tuple[int, Texts] | None:
        """The latest frames; None right after a takeover or before the first event with a version."""
        return self._ring[-1] if self._ring else None

    def since(
        self, version: int, now: int, seat: Seat, may_remake: Callable[[], bool] = lambda: True
    ) -> list[Frame] | None:
        """A viewer's frames after `version`, up to version `now`; None if they can't be had without a gap.

        `may_remake` is asked before frames older than the ring are made again: that takes milliseconds.
        """
        if not 0 <= version <= now:
            return None
        place = _PLACE[seat]
        if version == now:
            return []
        ring: Iterable[tuple[int, Texts]] = self._ring
        if not self._ring or self._ring[0][0] > version + 1:
            if not may_remake():
                return None
            ring = made = self._again()
            if not self._ring:  # the table was rebuilt: whoever comes next finds the latest ones ready
                self._ring.extend(made[-_RING:])
        found = [(number, texts[place]) for number, texts in ring if number > version]
        return found if [number for number, _ in found] == list(range(version + 1, now + 1)) else None

    def _again(self) -> list[tuple[int, Texts]]:
        state: State | None = None
        steps = []
        for event in self.events():
            state = evolve(state, event)
            steps.append((event, state))
        return all_texts(self._game, steps)
