"""A message of the results stream as a FinishedGame.

Poison   it is none, and will be none the next time
"""

import msgspec
from google.protobuf.message import DecodeError

from numbridge.v1 import common_pb2, log_pb2
from ratings.domain import FinishedGame, GameHead, Seated, Settings
from ratings.model.rules import VARIANTS

MAX_ID = 64
MAX_NAME = 32
RESULTS = ("blue", "red", "draw", "none")


class Poison(Exception):
    """The message is no result; says why, without quoting it."""


def decode_result(subject: str, payload: bytes) -> FinishedGame:
    """The game that a message of the results stream holds. Raises Poison."""
    try:
        result = log_pb2.GameResult.FromString(payload)
    except DecodeError as error:
        raise Poison("not a GameResult") from error
    summary = result.summary
    parts = subject.split(".")
    if len(parts) != 3 or parts[2] != result.game or summary.game != result.game:
        raise Poison("the game is not the subject's")
    if result.result not in RESULTS:
        raise Poison("unknown result")
    if summary.settings.variant not in VARIANTS:
        raise Poison("unknown variant")
    if result.ended_at <= 0 or summary.started_at <= 0:
        raise Poison("no times")
    blue, red = _seated(summary.blue), _seated(summary.red)
    if blue.id == red.id:
        raise Poison("one player on both sides")
    for text in (result.game, summary.room, result.reason):
        if not text or "\0" in text:
            raise Poison("a name is missing or malformed")
    _check_json(result.record)
    _check_json(result.final_view)
    head = GameHead(
        game=result.game,
        room=summary.room,
        variant=summary.settings.variant,
        settings=settings_of(summary.settings),
        blue=blue,
        red=red,
        rated=summary.settings.rated,
        result=result.result,
        reason=result.reason,
        started_at=summary.started_at,
        ended_at=result.ended_at,
        version=result.version,
    )
    return FinishedGame(head=head, record=result.record, final_view=result.final_view)


def settings_of(settings: common_pb2.GameSettings) -> Settings:
    """Settings under the names of the record, every field present."""
    return {field.name: getattr(settings, field.name) for field in settings.DESCRIPTOR.fields}


def _seated(player: common_pb2.Player) -> Seated:
    if not 1 <= len(player.id) <= MAX_ID or "\0" in player.id:
        raise Poison("a player's id is missing or malformed")
    return Seated(
        id=player.id,
        name=player.name.replace("\0", "")[:MAX_NAME] or player.id[:MAX_NAME],
        rating=player.rating if player.HasField("rating") else None,
    )


def _check_json(text: bytes) -> None:
    try:
        msgspec.json.decode(text, type=dict)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Poison("record or view is not a JSON object") from error
