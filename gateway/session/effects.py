"""What a session may ask for (effects and requests), and what it is given back (results).

A request is answered once, by the result named in its docstring or by a
Refusal. Requests carry no player: the connection that carries them out knows.
(Structs, not dataclasses: every move makes several, and they are made ten times quicker.)
"""

from typing import Literal

import msgspec

from numbridge import wire

Frame = tuple[int, bytes]  # version (0: none) and the JSON text that the socket carries


# --- effects -----------------------------------------------------------------------------------------------------


class Send(msgspec.Struct, frozen=True):
    """Write this JSON text."""

    text: bytes


class Close(msgspec.Struct, frozen=True):
    """Close the socket."""

    code: int
    reason: str


class Ask(msgspec.Struct, frozen=True):
    """Carry a request out and bring back its result under the same `number`."""

    number: int
    request: "Request"


class Untune(msgspec.Struct, frozen=True):
    """Frames of this table are no longer wanted."""

    game: str


# --- requests ----------------------------------------------------------------------------------------------------


class LogIn(msgspec.Struct, frozen=True):
    """Verify a token, make the player present, and ask what he must know. -> Greeting"""

    token: str


class PostSeek(msgspec.Struct, frozen=True):
    """-> Posted"""

    wish: wire.Seek


class CancelSeek(msgspec.Struct, frozen=True):
    """-> Done"""

    seek: str


class AcceptSeek(msgspec.Struct, frozen=True):
    """-> Done; `seated` comes as a notice."""

    seek: str


class WatchLobby(msgspec.Struct, frozen=True):
    """From the answer on, changes of the list are fed to the session. -> Listed"""

    room: str | None


class UnwatchLobby(msgspec.Struct, frozen=True):
    """-> Done"""

    room: str | None


class Look(msgspec.Struct, frozen=True):
    """What does the player sit as? -> Seated, or Archived if the table is only in the archive"""

    game: str


class Tune(msgspec.Struct, frozen=True):
    """Subscribe to a table's frames; when it is answered, no later frame can be missed. -> Done"""

    game: str
    seat: str


class Catch(msgspec.Struct, frozen=True):
    """What came after `since`, or a whole state. -> Joined, or Archived"""

    game: str
    seat: str
    since: int | None
    arrive: bool


class Act(msgspec.Struct, frozen=True):
    """-> Played"""

    message: wire.Play


class AskRematch(msgspec.Struct, frozen=True):
    """-> Done"""

    game: str


class SetBlock(msgspec.Struct, frozen=True):
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


class Done(msgspec.Struct, frozen=True):
    """It is done; there is nothing to tell."""


class Greeting(msgspec.Struct, frozen=True):
    """Who the player is, and what he must know first."""

    player: str
    name: str
    games: tuple[str, ...]
    seeks: tuple[str, ...]
    server_at: int
    partial: bool = False
    """Games and seeks may be missing: the lobby is away. A `games` event will say."""


class Posted(msgspec.Struct, frozen=True):
    """The seek's id."""

    seek: str


class Listed(msgspec.Struct, frozen=True):
    """JSON text of a `seeks` event."""

    snapshot: bytes


class Seated(msgspec.Struct, frozen=True):
    """What the player sits as: blue, red or watch."""

    seat: str


class Archived(msgspec.Struct, frozen=True):
    """The table is over and put into the archive: a `state` event with its version."""

    version: int
    state: bytes


class Joined(msgspec.Struct, frozen=True):
    """What a viewer lacks: frames after the asked version, or one state."""

    version: int
    state: bytes
    frames: tuple[Frame, ...]
    presence: bytes


class Played(msgspec.Struct, frozen=True):
    """The action took effect; the table's version after it."""

    version: int


class Refusal(msgspec.Struct, frozen=True):
    """The request was refused and changed nothing. `code` is one of the protocol's error codes."""

    code: str
    message: str
    version: int | None = None
    retry_ms: int | None = None
    ply: int | None = None


Result = Done | Greeting | Posted | Listed | Seated | Archived | Joined | Played | Refusal
Effect = Send | Close | Ask | Untune

Seat = Literal["blue", "red", "watch"]
