"""One line of what `numbridge doctor` says."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

from numbridge.cli.errors import CliError

Level = Literal["ok", "warn", "fail"]
CLOCK_MS = 1_000  # clocks further apart make times in logs, tokens and records hard to believe


@dataclass(frozen=True, slots=True)
class Finding:
    """`about` is good, doubtful or wrong; `mend` says what to do, empty where there is nothing to do."""

    level: Level
    about: str
    said: str
    mend: str = ""

    def line(self) -> str:
        """For eyes."""
        return f"{self.level:<5}{self.about:<11}{self.said}" + (f". {self.mend}" if self.mend else "")

    def to_json(self) -> dict[str, str]:
        """For programs."""
        return asdict(self)


def ok(about: str, said: str) -> Finding:
    """All is well."""
    return Finding("ok", about, said)


def warn(about: str, said: str, mend: str) -> Finding:
    """It works, and should be looked at."""
    return Finding("warn", about, said, mend)


def fail(about: str, said: str, mend: str) -> Finding:
    """It does not work."""
    return Finding("fail", about, said, mend)


def clock(about: str, ahead_ms: int) -> Finding:
    """Another machine's clock against this one's."""
    said = f"its clock is {abs(ahead_ms)} ms {'ahead of' if ahead_ms > 0 else 'behind'} this machine's"
    if abs(ahead_ms) <= CLOCK_MS:
        return ok(about, said)
    return warn(about, said, "Let both follow the same time server (chrony, systemd-timesyncd)")


def reading(about: str, mend: str, read: Callable[[], Finding], *errors: type[Exception]) -> Finding:
    """What `read` finds; one of `errors` is a finding too."""
    try:
        return read()
    except errors as error:
        return fail(about, said_of(error), mend)


def said_of(error: BaseException) -> str:
    """What an error says in one line; its name where it says nothing."""
    text = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    if isinstance(error, OSError) and error.filename:
        text = f"{error.filename}: {text}"
    if isinstance(error, CliError):
        return text
    return " ".join(text.split()) or type(error).__name__
