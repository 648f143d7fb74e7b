"""`ports.Announcer` on NATS core subjects."""

import msgspec
import structlog
from nats.aio.client import Client
from nats.errors import Error as NatsError

from numbridge import frames, names
from ratings.domain import GameHead, Recorded
from ratings.model.glicko2 import Strength
from ratings.model.rules import Change

log = structlog.get_logger("numbridge.ratings")


def archived_of(subject: str) -> str:
    """`archived.<shard>.<game>` for a result that came on `result.<shard>.<game>`."""
    _, shard, game = subject.split(".")
    return names.archived_subject(int(shard), game)


def rated_frames(head: GameHead, blue: Change, red: Change) -> dict[names.Seat, bytes]:
    """The `rated` event as each seat sees it, JSON text."""
    sides = {"blue": _sides(blue), "red": _sides(red)}
    event = {"ev": "rated", "game": head.game, "variant": head.variant}
    return {
        "blue": msgspec.json.encode(event | sides["blue"]),
        "red": msgspec.json.encode(event | sides["red"]),
        "watch": msgspec.json.encode(event | sides),
    }


def _sides(change: Change) -> dict[str, dict[str, float]]:
    return {"before": _numbers(change.before), "after": _numbers(change.after.strength)}


def _numbers(strength: Strength) -> dict[str, float]:
    return {"rating": round(strength.rating, 2), "deviation": round(strength.deviation, 2)}


class NatsAnnouncer:
    """Publishes and does not wait: a worker that has missed the word sends its result again."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def archived(self, subject: str, game: GameHead, recorded: Recorded) -> None:
        """Says that the game is in SQL, and to those at the table what it did to the ratings."""
        try:
            await self._client.publish(archived_of(subject), game.game.encode())
            if recorded.blue is None or recorded.red is None:
                return
            for seat, text in rated_frames(game, recorded.blue, recorded.red).items():
                await self._client.publish(names.view_subject(game.game, seat), frames.pack([(0, text)]))
        except NatsError as error:
            log.warning("announcement_lost", game=game.game, error=f"{type(error).__name__}: {error}")

    async def restricted(self) -> None:
        """Says that restrictions have changed; who does not hear it asks by himself after a while."""
        try:
            await self._client.publish(names.RESTRICTIONS, b"")
        except NatsError as error:
            log.warning("announcement_lost", error=f"{type(error).__name__}: {error}")
