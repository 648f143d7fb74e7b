"""The client protocol, `numbridge.v1`: one struct a message, decoded and validated in one step.

Client messages are a union tagged by `op`, decoded with `decode_client`. Unknown
fields are ignored; a missing field, a wrong type or an unknown `op` raises
BadMessage with a sentence that names it. Server events are built with `event`
and read (by bots and the load test) as plain dicts.
"""

import re
from typing import Any, Literal

import msgspec

MAX_FRAME_BYTES = 4096
MAX_REF_CHARS = 64
MAX_ID_CHARS = 64
MAX_NAME_CHARS = 32
MAX_PROBLEM_CHARS = 160  # of a refusal's words that may be the client's own
MAX_DEPTH = 16  # no message of the protocol nests deeper than 3
SUBPROTOCOL = "numbridge.v1"

CLOSE_POLICY = 1008  # too many bad messages, or too slow
CLOSE_RESTART = 1012  # this gateway drains: connect again and resume


class BadMessage(ValueError):
    """A frame that is no message of the protocol; the text is a sentence for the client."""

    def __init__(self, message: str, ref: str | None = None) -> None:
        super().__init__(message)
        self.ref = ref


class Message(msgspec.Struct, tag_field="op", frozen=True, kw_only=True):
    """What all client messages may carry."""

    ref: str | None = None


class Hello(Message, tag="hello", frozen=True, kw_only=True):
    """First message of a connection without a bearer header."""

    token: str
    lang: str | None = None


class Seek(Message, tag="seek", frozen=True, kw_only=True):
    """Posts a seek; what is left out means any."""

    room: str
    blocks: Literal["regular", "irregular", "any"] = "any"
    givens: int | tuple[int, int] | None = None
    highlight: bool | Literal["any"] = "any"
    rated: bool | Literal["any"] = "any"
    rating: tuple[int, int] | None = None


class CancelSeek(Message, tag="cancel_seek", frozen=True, kw_only=True):
    """Takes a seek back."""

    seek: str


class AcceptSeek(Message, tag="accept_seek", frozen=True, kw_only=True):
    """Accepts another's open seek."""

    seek: str


class WatchLobby(Message, tag="watch_lobby", frozen=True, kw_only=True):
    """Asks for the seek list of a room (or of all) and its changes."""

    room: str | None = None


class UnwatchLobby(Message, tag="unwatch_lobby", frozen=True, kw_only=True):
    """Ends `watch_lobby`."""

    room: str | None = None


class Join(Message, tag="join", frozen=True, kw_only=True):
    """Comes to a table, as a player or a spectator."""

    game: str
    since: int | None = None


class Leave(Message, tag="leave", frozen=True, kw_only=True):
    """Leaves a table (the game goes on)."""

    game: str


class Place(msgspec.Struct, tag_field="kind", tag="place", frozen=True):
    """Places a tile in an empty cell."""

    tile: int
    cell: str


class Claim(msgspec.Struct, tag_field="kind", tag="claim", frozen=True):
    """Claims a given; no tile when the hand is empty."""

    cell: str
    tile: int | None = None


class Exchange(msgspec.Struct, tag_field="kind", tag="exchange", frozen=True):
    """Exchanges the whole hand."""


class Pie(msgspec.Struct, tag_field="kind", tag="pie", frozen=True):
    """Takes the first stone."""


class Resign(msgspec.Struct, tag_field="kind", tag="resign", frozen=True):
    """Gives the game up."""


class OfferDraw(msgspec.Struct, tag_field="kind", tag="offer_draw", frozen=True):
    """Offers a draw."""


class AcceptDraw(msgspec.Struct, tag_field="kind", tag="accept_draw", frozen=True):
    """Accepts it."""


class DeclineDraw(msgspec.Struct, tag_field="kind", tag="decline_draw", frozen=True):
    """Declines it."""


class OfferAdjourn(msgspec.Struct, tag_field="kind", tag="offer_adjourn", frozen=True):
    """Offers to put the table away."""


class AcceptAdjourn(msgspec.Struct, tag_field="kind", tag="accept_adjourn", frozen=True):
    """Accepts that."""


class DeclineAdjourn(msgspec.Struct, tag_field="kind", tag="decline_adjourn", frozen=True):
    """Declines that."""


class Resume(msgspec.Struct, tag_field="kind", tag="resume", frozen=True):
    """Asks to go on with an adjourned game."""


Action = (
    Place
    | Claim
    | Exchange
    | Pie
    | Resign
    | OfferDraw
    | AcceptDraw
    | DeclineDraw
    | OfferAdjourn
    | AcceptAdjourn
    | DeclineAdjourn
    | Resume
)


class Play(Message, tag="play", frozen=True, kw_only=True):
    """Acts at a table; `version` is the last one the client has seen."""

    game: str
    version: int
    action: Action


class Rematch(Message, tag="rematch", frozen=True, kw_only=True):
    """Asks for another game after this one."""

    game: str


class Block(Message, tag="block", frozen=True, kw_only=True):
    """Blocks a player."""

    player: str


class Unblock(Message, tag="unblock", frozen=True, kw_only=True):
    """Lifts a block."""

    player: str


class Ping(Message, tag="ping", frozen=True, kw_only=True):
    """Asks for a pong with the server's time."""

    sent_at: int | float | None = None


ClientMessage = (
    Hello
    | Seek
    | CancelSeek
    | AcceptSeek
    | WatchLobby
    | UnwatchLobby
    | Join
    | Leave
    | Play
    | Rematch
    | Block
    | Unblock
    | Ping
)

_decoder: msgspec.json.Decoder[ClientMessage] = msgspec.json.Decoder(ClientMessage)
_encoder = msgspec.json.Encoder()
_IDS = ("seek", "game", "player", "room")
_CELL = re.compile(r"[a-z][0-9]{1,2}")


def _depth_ok(text: bytes) -> bool:
    """Whether brackets nest at most MAX_DEPTH deep; those in strings count too, which errs on the strict side."""
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return True
    depth = 0
    for byte in text:
        if byte in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                return False
        elif byte in b"]}":
            depth -= 1
    return True


class _RefOnly(msgspec.Struct):
    ref: Any = None


_ref_decoder = msgspec.json.Decoder(_RefOnly)


def _ref_of(data: bytes) -> str | None:
    """The ref of a frame that is otherwise bad, so that its sender can tell which one it was."""
    try:
        ref = _ref_decoder.decode(data).ref
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return ref if isinstance(ref, str) and len(ref) <= MAX_REF_CHARS else None


def decode_client(data: bytes | str) -> ClientMessage:
    """One text frame as a message. Raises BadMessage; never anything else, whatever the bytes."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > MAX_FRAME_BYTES:
        raise BadMessage(f"the message has {len(raw)} bytes; the limit is {MAX_FRAME_BYTES}")
    if not _depth_ok(raw):
        raise BadMessage(f"the message nests deeper than {MAX_DEPTH}")
    try:
        message = _decoder.decode(raw)
    except msgspec.ValidationError as error:
        raise BadMessage(f"malformed message: {_short(error)}", _ref_of(raw)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessage(f"not a JSON object: {_short(error)}") from None
    if message.ref is not None and len(message.ref) > MAX_REF_CHARS:
        raise BadMessage(f"`ref` has {len(message.ref)} characters; the limit is {MAX_REF_CHARS}")
    for name in _IDS:
        value = getattr(message, name, None)
        if value is not None and not 1 <= len(value) <= MAX_ID_CHARS:
            raise BadMessage(f"`{name}` must have 1 to {MAX_ID_CHARS} characters", message.ref)
    if isinstance(message, Play):
        _check_play(message)
    return message


def _short(error: Exception) -> str:
    """What is wrong, without all that was sent: it may quote the message."""
    text = str(error)
    return text if len(text) <= MAX_PROBLEM_CHARS else f"{text[:MAX_PROBLEM_CHARS]}…"


def _check_play(message: Play) -> None:
    if not 0 <= message.version < 2**53:
        raise BadMessage("`version` must be 0 or more", message.ref)
    cell = getattr(message.action, "cell", None)
    if cell is not None and not _CELL.fullmatch(cell):
        raise BadMessage(f"`action.cell` is no cell name like e3: {cell[:8]!r}", message.ref)
    tile = getattr(message.action, "tile", None)
    if tile is not None and not 1 <= tile <= 9:
        raise BadMessage("`action.tile` must be a digit from 1 to 9", message.ref)


def event(ev: str, **fields: Any) -> bytes:
    """A server event as JSON text; fields that are None are left out."""
    body: dict[str, Any] = {"ev": ev}
    body.update((key, value) for key, value in fields.items() if value is not None)
    return _encoder.encode(body)


def encode(body: Any) -> bytes:
    """Any of the protocol's bodies as compact JSON text."""
    return _encoder.encode(body)
