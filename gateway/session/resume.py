"""One viewed table: which frames the client still lacks, by arithmetic on versions.

A client must get every version once and in order, though frames come by two
ways: live from the subscription, and from the worker for what was missed.
While the worker is being asked, live frames are held; afterwards those that
overlap are dropped and the rest goes out. A gap means: ask again.
"""

from collections.abc import Iterable

from gateway.session.effects import Frame, Joined

HELD_MAX = 512  # live frames held while the worker is asked; beyond it they are let go and asked for again


class View:
    """A table that one client views. `asking` is the number of the request under way, 0 when live."""

    __slots__ = ("_again", "_held", "asking", "game", "muted", "seat", "version", "wanting")

    def __init__(self, game: str, seat: str, since: int | None) -> None:
        self.game = game
        self.seat = seat
        self.version = since  # the last one the client has; None: it needs a state
        self.asking = 0
        self.muted = False  # the client reads too slowly: nothing is sent
        self.wanting = False  # the last question was refused: ask again in a while
        self._held: list[Frame] = []
        self._again = False

    @property
    def playing(self) -> bool:
        """Whether the viewer is one of the two players."""
        return self.seat != "watch"

    def ask(self, number: int) -> None:
        """The worker is being asked under `number`: hold what comes live."""
        self.asking = number

    def retake(self, other: "View") -> None:
        """Takes its place back from one that was refused: what came meanwhile has to be asked for."""
        self.asking = 0
        self._held.clear()
        self.wanting = True
        if other.muted:
            self.mute()
        else:
            self.muted = False

    def mute(self) -> None:
        """The client reads too slowly: it gets nothing until `unmute`, and then needs a fresh state."""
        self.muted = True
        self.version = None
        self._held.clear()

    def resync(self) -> bool:
        """Something may have been missed. True: ask now; False: it is being asked, and will be asked once more."""
        if self.asking:
            self._again = True
            return False
        return True

    def live(self, frames: Iterable[Frame]) -> tuple[list[bytes], bool]:
        """Frames from the subscription. -> texts to send, and whether the worker must be asked (again)."""
        if self.muted:
            return [], False
        if not self.asking:
            return self._pass(frames)
        for frame in frames:
            if len(self._held) >= HELD_MAX:
                self._held.clear()
                self._again = True
            self._held.append(frame)
        return [], False

    def joined(self, answer: Joined) -> tuple[list[bytes], bool]:
        """The worker's answer. -> texts to send, and whether the worker must be asked again."""
        self.asking = 0
        held, self._held = self._held, []
        again, self._again = self._again, False
        if self.muted:
            return [], False
        texts: list[bytes] = []
        if answer.state:
            texts.append(answer.state)
            self.version = answer.version
        else:
            passed, gap = self._pass(answer.frames)
            texts += passed
            if gap or self.version != answer.version:
                self.version = None  # the run has a hole: only a whole state helps
                return texts, True
        if answer.presence:
            texts.append(answer.presence)
        passed, gap = self._pass(held)
        return texts + passed, gap or again

    def _pass(self, frames: Iterable[Frame]) -> tuple[list[bytes], bool]:
        texts: list[bytes] = []
        for version, text in frames:
            if version == 0:
                texts.append(text)
            elif self.version is None:
                return texts, True
            elif version == self.version + 1:
                texts.append(text)
                self.version = version
            elif version > self.version:
                return texts, True
        return texts, False
