"""Rows as the domain's shapes, and back."""

import json
import zlib
from typing import Any

from sqlalchemy import Row

from ratings.domain import GameHead, Seated
from ratings.model.glicko2 import Strength
from ratings.model.rules import Change, Standing


def pack(text: bytes) -> bytes:
    """Records shrink to about a fifth."""
    return zlib.compress(text)


def unpack(data: bytes) -> bytes:
    """What `pack` was given."""
    return zlib.decompress(data)


def head_values(head: GameHead) -> dict[str, Any]:
    """Columns of `games` that the head fills."""
    return {
        "id": head.game,
        "room": head.room,
        "variant": head.variant,
        "blue": head.blue.id,
        "red": head.red.id,
        "blue_name": head.blue.name,
        "red_name": head.red.name,
        "blue_rating": head.blue.rating,
        "red_rating": head.red.rating,
        "rated": head.rated,
        "result": head.result,
        "reason": head.reason,
        "started_at": head.started_at,
        "ended_at": head.ended_at,
        "version": head.version,
        "settings": json.dumps(head.settings, separators=(",", ":")),
    }


def head_of(row: Row[Any]) -> GameHead:
    """The head of a row of `games`."""
    return GameHead(
        game=row.id,
        room=row.room,
        variant=row.variant,
        settings=json.loads(row.settings),
        blue=Seated(row.blue, row.blue_name, row.blue_rating),
        red=Seated(row.red, row.red_name, row.red_rating),
        rated=row.rated,
        result=row.result,
        reason=row.reason,
        started_at=row.started_at,
        ended_at=row.ended_at,
        version=row.version,
    )


def standing_values(standing: Standing) -> dict[str, Any]:
    """Columns that say a standing, in `ratings` and `rating_history`."""
    return {
        "rating": standing.strength.rating,
        "deviation": standing.strength.deviation,
        "volatility": standing.strength.volatility,
        "games": standing.games,
        "last_at": standing.last_at,
    }


def standing_of(row: Row[Any]) -> Standing:
    """The standing of a row of either table."""
    return Standing(Strength(row.rating, row.deviation, row.volatility), row.games, row.last_at)


def history_values(seq: int, color: str, player: str, variant: str, change: Change) -> dict[str, Any]:
    """A row of `rating_history`."""
    return {
        "seq": seq,
        "color": color,
        "player": player,
        "variant": variant,
        "rating_before": change.before.rating,
        "deviation_before": change.before.deviation,
        "volatility_before": change.before.volatility,
        **standing_values(change.after),
    }


def change_of(row: Row[Any]) -> Change:
    """The change of a row of `rating_history`."""
    before = Strength(row.rating_before, row.deviation_before, row.volatility_before)
    return Change(before=before, after=standing_of(row))
