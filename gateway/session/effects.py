"""What a session may ask for (effects and requests), and what it is given back (results).

A request is answered once, by the result named in its docstring or by a
Refusal. Requests carry no player: the connection that carries them out knows.
"""

from dataclasses import dataclass
from typing import Literal

from numbridge import wire

Frame = tuple[int, bytes]  # version (0: none) and the JSON text that the socket carries


# --- effects -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """Write this JSON text."""

    text: bytes


@dataclass(frozen=True, slots=True)
class Close:
    """Close the socket."""

    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Carry a request out and bring back its result under the same `number`."""

    number: int
    request: "Request"


@dataclass(frozen=True, slots=True)
class Untune:
    """Frames of this table are no longer wanted."""

    game: str


# --- requests ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LogIn:
    """Verify a token, make the player present, and ask what he must know. -> Greeting"""

    token: str


@dataclass(frozen=True, slots=True)
class PostSeek:
    """-> Posted"""

    wish: wire.Seek


@dataclass(frozen=True, slots=True)
class CancelSeek:
    """-> Done"""

    seek: str


@dataclass(frozen=True, slots=True)
class AcceptSeek:
    """-> Done; `seated` comes as a notice."""

    seek: str


@dataclass(frozen=True, slots=True)
class WatchLobby:
    """From the answer on, changes of the list are fed to the session. -> Listed"""

    room: str | None


@dataclass(frozen=True, slots=True)
class UnwatchLobby:
    """-> Done"""

    room: str | None


@dataclass(frozen=True, slots=True)
class Look:
    """What does the player sit as? -> Seated, or Archived if the table is only in the archive"""

    game: str


@dataclass(frozen=True, slots=True)
class Tune:
    """Subscribe to a table's frames; when it is answered, no later frame can be missed. -> Done"""

    game: str
    seat: str


@dataclass(frozen=True, slots=True)
class Catch:
    """What came after `since`, or a whole state. -> Joined, or Archived"""

    game: str
    seat: str
    since: int | None
    arrive: bool


@dataclass(frozen=True, slots=True)
class Act:
    """-> Played"""

    message: wire.Play


@dataclass(frozen=True, slots=True)
class AskRematch:
    """-> Done"""

    game: str


@dataclass(frozen=True, slots=True)
class SetBlock:
    """-> Done"""

    player: str
    blocked: bool


Request = (
    LogIn
    | PostSeek
    | CancelSeek
    | AcceptSeek
    | WatchLobby
    | UnwatchLobby
    | Look
    | Tune
    | Catch
    | Act
    | AskRematch
    | SetBlock
)


# --- results -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Done:
    """It is done; there is nothing to tell."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """Who the player is, and what he must know first."""

    player: str
    name: str
    games: tuple[str, ...]
    seeks: tuple[str, ...]
    server_at: int


@dataclass(frozen=True, slots=True)
class Posted:
    """The seek's id."""

    seek: str


@dataclass(frozen=True, slots=True)
class Listed:
    """JSON text of a `seeks` event."""

    snapshot: bytes


@dataclass(frozen=True, slots=True)
class Seated:
    """What the player sits as: blue, red or watch."""

    seat: str


@dataclass(frozen=True, slots=True)
class Archived:
    """The table is over and put into the archive: a `state` event with its version."""

    version: int
    state: bytes


@dataclass(frozen=True, slots=True)
class Joined:
    """What a viewer lacks: frames after the asked version, or one state."""

    version: int
    state: bytes
    frames: tuple[Frame, ...]
    presence: bytes


@dataclass(frozen=True, slots=True)
class Played:
    """The action took effect; the table's version after it."""

    version: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """The request was refused and changed nothing. `code` is one of the protocol's error codes."""

    code: str
    message: str
    version: int | None = None
    retry_ms: int | None = None
    ply: int | None = None


Result = Done | Greeting | Posted | Listed | Seated | Archived | Joined | Played | Refusal
Effect = Send | Close | Ask | Untune

Seat = Literal["blue", "red", "watch"]
