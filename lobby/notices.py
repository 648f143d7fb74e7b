"""What players are told, as texts of the client protocol."""

from collections.abc import Sequence

import msgspec

from lobby.ports import Notice
from lobby.stored import Match, StoredSeek, Summary
from numbridge.wire import event

ENDED_REPLACED = "replaced"  # the player has posted another in that room
ENDED_CANCELLED = "cancelled"  # the player has taken it back
ENDED_MATCHED = "matched"  # another of the player's seeks, or his acceptance, has led to a game
ENDED_PLAYING = "playing"  # a game of the player's goes on
ENDED_LEFT = "left"  # no connection of the player's was left
ENDED_UNAVAILABLE = "unavailable"  # no table could be made for it
ENDED_ROOM_CHANGED = "room_changed"  # the room does not allow it any more
ENDED_ROOM_GONE = "room_gone"  # the room is not there any more
ENDED_MUTED = "muted"  # an operator has muted the player


def seek_ended(player: str, seek: str, reason: str) -> Notice:
    """An open seek of the player's has ended without a game of its own."""
    return Notice(player, event("seek_ended", seek=seek, reason=reason), seeks=(seek,))


def seek_reopened(player: str, seek: str) -> Notice:
    """A seek that had been matched is open again: no table could be made."""
    return Notice(player, event("seek_reopened", seek=seek))


def seating_failed(player: str, game: str) -> Notice:
    """The game that was promised will not be; there is nothing to join."""
    return Notice(player, event("seating_failed", game=game, reason=ENDED_UNAVAILABLE))


def rematch_asked(player: str, game: str, by: str) -> Notice:
    """The opponent of a finished game would like another."""
    return Notice(player, event("rematch_asked", game=game, by=by))


def seated(match: Match) -> tuple[Notice, Notice]:
    """Both players have a table."""
    return _seated(match, "blue", match.seeks), _seated(match, "red", match.seeks)


def seated_at(game: Summary, player: str) -> Notice | None:
    """The same, from what the table says, where nothing else is left of the match; None for a spectator."""
    for color, who in (("blue", game.blue), ("red", game.red)):
        if who.id == player:
            return _seated(game, color)
    return None


def _seated(game: Match | Summary, color: str, seeks: Sequence[StoredSeek] = ()) -> Notice:
    who, opponent = (game.blue, game.red) if color == "blue" else (game.red, game.blue)
    text = event(
        "seated",
        game=game.game,
        room=game.room,
        color=color,
        opponent={"id": opponent.id, "name": opponent.name, "rating": opponent.rating},
        settings=game.settings,
    )
    return Notice(who.id, text, game.game, tuple(seek.seek for seek in seeks if seek.player == who.id))


class Told(msgspec.Struct, frozen=True):
    """The `seated` notices of one game, as they are kept for those who missed them."""

    at: int
    notices: tuple[tuple[str, str, tuple[str, ...]], ...]  # player, text, seeks


_decode = msgspec.json.Decoder(Told).decode


def keep(at: int, notices: tuple[Notice, ...]) -> bytes:
    """The notices as one text."""
    kept = tuple((notice.player, notice.text.decode(), notice.seeks) for notice in notices)
    return msgspec.json.encode(Told(at, kept))


def kept(game: str, text: bytes) -> list[Notice]:
    """The kept notices of both."""
    return [Notice(who, said.encode(), game, seeks) for who, said, seeks in _decode(text).notices]


def kept_for(game: str, player: str, text: bytes) -> Notice | None:
    """The kept notice for one player."""
    return next((notice for notice in kept(game, text) if notice.player == player), None)
