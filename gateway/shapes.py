"""Bodies of the public protocol from the cluster's messages."""

from typing import Any

import msgspec

from numbridge.v1 import common_pb2, lobby_pb2, ratings_pb2

Body = dict[str, Any]


def player(who: common_pb2.Player) -> Body:
    """`{id, name, rating?}`"""
    body: Body = {"id": who.id, "name": who.name}
    if who.HasField("rating"):
        body["rating"] = who.rating
    return body


def settings(of: common_pb2.GameSettings) -> Body:
    """A record's `settings`."""
    return {
        "variant": of.variant,
        "side": of.side,
        "blocks": of.blocks,
        "givens": of.givens,
        "claim_price": of.claim_price,
        "highlight": of.highlight,
        "rated": of.rated,
        "move_ms": of.move_ms,
        "game_ms": of.game_ms,
    }


def seek(of: lobby_pb2.Seek) -> Body:
    """A seek as the list shows it."""
    wish = of.wish
    body: Body = {
        "seek": of.seek,
        "room": wish.room,
        "player": player(of.player),
        "blocks": wish.blocks or "any",
        "givens": _givens(wish),
        "highlight": wish.highlight if wish.HasField("highlight") else "any",
        "rated": wish.rated if wish.HasField("rated") else "any",
        "since": of.since,
    }
    if wish.HasField("rating_min") and wish.HasField("rating_max"):
        body["rating"] = [wish.rating_min, wish.rating_max]
    return body


def _givens(wish: lobby_pb2.SeekWish) -> int | list[int] | str:
    if not (wish.HasField("givens_min") and wish.HasField("givens_max")):
        return "any"
    if wish.givens_min == wish.givens_max:
        return wish.givens_min
    return [wish.givens_min, wish.givens_max]


def game(of: common_pb2.GameSummary) -> Body:
    """A line of the list of games going on."""
    return {
        "game": of.game,
        "room": of.room,
        "settings": settings(of.settings),
        "players": {"blue": player(of.blue), "red": player(of.red)},
        "status": of.status,
        "started_at": of.started_at,
        "version": of.version,
    }


def room(of: lobby_pb2.RoomNow) -> Body:
    """A room with what goes on in it."""
    body: Body = msgspec.json.decode(of.room)
    body.update(waiting=of.waiting, playing=of.playing)
    if of.closed:
        body["closed"] = True
    return body


def deed(of: ratings_pb2.Deed) -> Body:
    """A line of the audit."""
    return {
        "audit": str(of.id),
        "at": of.at,
        "by": of.actor,
        "action": of.action,
        "subject": of.subject,
        "detail": of.detail,
    }


def profile(of: ratings_pb2.GetPlayerReply) -> Body:
    """A player's profile."""
    return {
        "id": of.id,
        "name": of.name,
        "ratings": {
            rating.variant: {
                "rating": rating.rating,
                "deviation": rating.deviation,
                "volatility": rating.volatility,
                "games": rating.games,
            }
            for rating in of.ratings
        },
        "games": {"won": of.won, "lost": of.lost, "drawn": of.drawn},
    }


def played(of: ratings_pb2.PlayedGame) -> Body:
    """A finished game from one player's side."""
    return {
        "game": of.game,
        "room": of.room,
        "variant": of.variant,
        "opponent": player(of.opponent),
        "color": of.color,
        "result": of.result,
        "reason": of.reason,
        "ended_at": of.ended_at,
    }


def board_row(of: ratings_pb2.LeaderboardRow) -> Body:
    """A line of a leaderboard."""
    return {
        "rank": of.rank,
        "id": of.id,
        "name": of.name,
        "rating": of.rating,
        "deviation": of.deviation,
        "games": of.games,
    }
