"""Whether a player really sits at a game that goes on. Redis is a cache; the table is the truth."""

from lobby.adapters.redis_seats import Forgot, RedisSeats, Seats
from lobby.ports import Making, Tables
from numbridge.clock import now_ms
from numbridge.errors import Reason, Rejected, unavailable

_TRIES = 4  # games to look at; a player has one, unless the operator allows more


class SeatCheck:
    """Asked before a player may seek, accept or have a rematch."""

    def __init__(self, seats: RedisSeats, tables: Tables, on: bool) -> None:
        self._seats = seats
        self._tables = tables
        self._on = on

    async def free(self, player: str, seats: Seats | None = None) -> None:
        """Passes if no game of the player's is being played or seated; what turns out to be over is forgotten on the
        way. Raises Rejected: FORBIDDEN naming the game, UNAVAILABLE if nobody can say."""
        if not self._on:
            return
        if seats is None:
            [seats] = await self._seats.of([player])
        busy = [game for game, (status, _) in seats.items() if status != "adjourned"]
        for game in busy[:_TRIES]:
            await self.refuse_if_true(player, game)

    async def refuse_if_true(self, player: str, game: str) -> None:
        """The player is said to sit at a game: refuses if it goes on, or is being seated, else forgets it."""
        asked_at = now_ms()
        found = await self._tables.look(game)
        if found.outcome is Making.MADE and found.summary is not None:
            if found.summary.status == "playing":
                raise _playing(game)
            await self._seats.note([found.summary], now_ms())  # over, or put away
        elif found.outcome is Making.UNKNOWN:
            raise unavailable(f"your game {game}")
        elif await self._seats.forget(game, asked_at, player) is Forgot.STAYS:
            raise _playing(game)


def _playing(game: str) -> Rejected:
    return Rejected(Reason.FORBIDDEN, f"you have a game under way, {game}; finish or adjourn it first")
