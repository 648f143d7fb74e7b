"""The safety net: ends what nobody stands behind any more, and counts what should not have been there."""

import structlog

from lobby import notices
from lobby.adapters.redis_presence import RedisPresence
from lobby.adapters.redis_seating import RedisSeating
from lobby.adapters.redis_seats import Forgot, RedisSeats
from lobby.gate import Gate
from lobby.metrics import Metrics
from lobby.ports import Announcer, Making, Tables
from numbridge.clock import monotonic, now_ms

log = structlog.get_logger("lobby.sweeper")

PAUSE_S = 0.5
_BATCH = 200  # players, or games, in one round
_RARE_S = 5.0
_SELDOM_S = 60.0
_SILENT_MS = 75_000  # two repeats of the workers have been missed
_UNENTERED_MS = 20_000  # a match that old without an entry in the stream has lost it
_OVER_MS = 120_000
_LAST_MS = 2 * 3_600_000  # "just paired" is forgotten after two hours: longer than any game
_REMATCH_MS = 120_000
_CONSUMER_IDLE_MS = 120_000


class Sweeper:
    """Every replica sweeps; everything it does may be done twice."""

    def __init__(
        self,
        presence: RedisPresence,
        seating: RedisSeating,
        seats: RedisSeats,
        tables: Tables,
        announcer: Announcer,
        gate: Gate,
        metrics: Metrics,
        strand_ms: int,
    ) -> None:
        self._presence = presence
        self._seating = seating
        self._seats = seats
        self._tables = tables
        self._announcer = announcer
        self._gate = gate
        self._metrics = metrics
        self._strand_ms = strand_ms
        self._rare = self._seldom = monotonic()

    async def sweep(self) -> None:
        """One round. Raises one of redis_io.AWAY."""
        if not self._gate.open:
            return  # after a loss of Redis everybody has to speak up first
        now = now_ms()
        for player in await self._presence.due(now, _BATCH):
            ended = await self._presence.end_player(player, now)
            self._metrics.swept("left", len(ended))
            self._metrics.ended(notices.ENDED_LEFT, len(ended))
            await self._announcer.tell([notices.seek_ended(player, seek, notices.ENDED_LEFT) for seek in ended])
        if await self._presence.lapsed_gateways(now):
            self._metrics.swept("stranded", await self._presence.strand(now, now + self._strand_ms))
        if monotonic() - self._rare >= _RARE_S:
            self._rare = monotonic()
            await self._matches(now)
            await self._silent_games(now)
        if monotonic() - self._seldom >= _SELDOM_S:
            self._seldom = monotonic()
            await self._seats.forget_ended(now - _OVER_MS)
            await self._presence.forget_old(now - _REMATCH_MS, now - _LAST_MS)
            await self._seating.forget_idle_consumers(_CONSUMER_IDLE_MS)

    async def _matches(self, now: int) -> None:
        """Matches without an entry in the seating stream would never get a table."""
        old = [match for match in await self._seating.matches() if now - match.at > _UNENTERED_MS]
        if not old:
            return
        entered = await self._seating.entry_games()
        for match in old:
            if match.game not in entered:
                log.warning("match_without_entry", game=match.game)
                self._metrics.swept("match_without_table")
                await self._seating.enter_again(match.game)

    async def _silent_games(self, now: int) -> None:
        """Seats at a game that no worker speaks of."""
        for game in await self._seats.silent(now - _SILENT_MS, _BATCH):
            found = await self._tables.look(game)
            if found.outcome is Making.MADE and found.summary is not None:
                await self._seats.note([found.summary], now)
            elif found.outcome in (Making.NOT_MADE, Making.REFUSED):
                if await self._seats.forget(game, now - _SILENT_MS) is Forgot.STAYS:
                    continue
                log.warning("seat_without_game", game=game)
                self._metrics.swept("seat_without_game")
