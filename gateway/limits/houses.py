"""Games whose two seats are held from one address: operators see how many, and which games.

A household, a school or somebody who plays both sides: the log line names the game and nobody. Nothing is refused.
"""

from collections import OrderedDict

import structlog

from gateway.limits.digest import Digest, bucket_key
from gateway.metrics import Metrics
from gateway.ports import LimitsAway, SharedLimits
from numbridge.tasks import Tasks

log = structlog.get_logger("numbridge.gateway.houses")

GAMES_MOST = 20_000  # games remembered here; the one that was touched least recently is forgotten first
NOTES_MOST = 1_000  # questions to Redis under way; beyond it only what this gateway has seen itself counts
_OTHER = {"blue": "red", "red": "blue"}


class Houses:
    """Notes from where players come to their tables."""

    def __init__(self, digest: Digest, shared: SharedLimits | None, metrics: Metrics) -> None:
        self._digest = digest
        self._shared = shared
        self._metrics = metrics
        self._games: OrderedDict[str, dict[str, str]] = OrderedDict()
        self._notes = Tasks()

    def sat(self, game: str, seat: str, address: str) -> None:
        """A player has come to a table. Never waits, never refuses."""
        other = _OTHER.get(seat)
        if other is None:
            return
        house = self._digest(bucket_key(address))
        known = self._games.setdefault(game, {})
        self._games.move_to_end(game)
        if len(self._games) > GAMES_MOST:
            self._games.popitem(last=False)
        known[seat] = house
        if self._shared is not None and len(self._notes) < NOTES_MOST:
            self._notes.spawn(self._ask(self._shared, game, seat, other, house), "house_note")
        else:
            self._look(game, other, house)

    async def stop(self) -> None:
        """Ends questions under way."""
        await self._notes.close()

    async def _ask(self, shared: SharedLimits, game: str, seat: str, other: str, house: str) -> None:
        try:
            if await shared.sit(game, seat, other, house):
                self._say(game)
        except LimitsAway:
            self._look(game, other, house)

    def _look(self, game: str, other: str, house: str) -> None:
        known = self._games.get(game, {})
        if known.get(other) == house and "said" not in known:
            known["said"] = house
            self._say(game)

    def _say(self, game: str) -> None:
        self._metrics.one_house()
        log.warning("both_seats_from_one_address", game=game)
