"""Finished games for tests of the ratings service."""

import json
from typing import Any

from numbridge.ids import new_game_id
from numbridge.v1 import common_pb2, log_pb2
from ratings.decode import decode_result
from ratings.domain import FinishedGame

T0 = 1_700_000_000_000
SETTINGS: dict[str, Any] = {
    "variant": "bridge",
    "side": 9,
    "blocks": "regular",
    "givens": 30,
    "claim_price": 1,
    "highlight": True,
    "rated": True,
    "move_ms": 60_000,
    "game_ms": 900_000,
}


def a_result(
    blue: str = "ada",
    red: str = "bob",
    result: str = "blue",
    *,
    game: str | None = None,
    ended_at: int = T0,
    **settings: Any,
) -> log_pb2.GameResult:
    """A message as a table worker publishes it."""
    game = game or new_game_id(7)
    played = SETTINGS | settings
    record = {
        "format": "numbridge.record/1",
        "game": game,
        "settings": played,
        "moves": [],
        "end": {"result": result, "reason": "resign"},
    }
    return log_pb2.GameResult(
        game=game,
        record=json.dumps(record).encode(),
        final_view=json.dumps({"room": "bridge", "status": "over", "result": result}).encode(),
        version=12,
        summary=common_pb2.GameSummary(
            game=game,
            room=str(played["variant"]),
            settings=common_pb2.GameSettings(**played),
            blue=common_pb2.Player(id=blue, name=blue.title()[:32], rating=1500),
            red=common_pb2.Player(id=red, name=red.title()[:32]),
            status="over",
            started_at=ended_at - 60_000,
            version=12,
        ),
        result=result,
        reason="resign",
        ended_at=ended_at,
    )


def subject_of(result: log_pb2.GameResult) -> str:
    """Where a worker publishes it."""
    return f"result.7.{result.game}"


def a_game(*args: Any, **kwargs: Any) -> FinishedGame:
    """The same, decoded."""
    result = a_result(*args, **kwargs)
    return decode_result(subject_of(result), result.SerializeToString())
