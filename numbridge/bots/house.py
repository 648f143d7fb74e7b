"""Players of the club's own: they take on people who wait in vain, and play among themselves so that there is
something to watch.

One bot at least stays free for people while two of them play; a person's seek is
left to other people for a while first.
"""

import asyncio
from collections.abc import Sequence
from random import Random

from numbridge.bots.line import Event, LineLost, Refused
from numbridge.bots.lobby import Lobby, OpenSeek
from numbridge.bots.player import Player
from numbridge.ids import HOUSE_PREFIX
from numbridge.tasks import Tasks

NAME = "House bot"
PATIENCE_S = 5.0  # a person's seek is open for so long before a bot accepts it
_TICK_S = 0.25
_RETRY_S = 1.0  # after a refusal that may pass
_PAUSE_S = (5.0, 15.0)  # between two exhibition games
_FAILED_PAUSE_S = 10.0  # after one that did not come about


def is_house(player: str, name: str) -> bool:
    """Whether somebody is a house bot, this process's or another's."""
    return player.startswith(HOUSE_PREFIX) or name.startswith(f"{NAME} ")


class House:
    """The players, and who watches the lobby for all of them."""

    def __init__(self, players: Sequence[Player], rooms: Sequence[str], all_rooms: bool, rng: Random) -> None:
        """`rooms`: where they accept seeks and play; `all_rooms`: that is every room."""
        self._players = list(players)
        self._rooms = list(rooms)
        self._all_rooms = all_rooms
        self._rng = rng
        self._lobby = Lobby()
        self._lookout: Player | None = None
        self._watching = False
        self._claimed: set[Player] = set()  # about to be asked something
        self._show: tuple[Player, Player] | None = None
        self._next_show = 0.0
        self._tasks = Tasks()

    # --- what its players hear -------------------------------------------------------------------------------

    def heard(self, player: Player, event: Event) -> None:
        """A lobby event."""
        if player is self._lookout:
            self._lobby.take(event, asyncio.get_running_loop().time())

    def lost(self, player: Player) -> None:
        """A player's line has gone; another will watch the lobby."""
        if player is self._lookout:
            self._lookout, self._watching = None, False
            self._lobby = Lobby()

    # --- what it does ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Looks after people and exhibition games until cancelled."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                self._look_out()
                if self._watching:
                    self._welcome(loop.time())
                    self._exhibit(loop.time())
                await asyncio.sleep(_TICK_S)
        finally:
            await self._tasks.close()

    def _look_out(self) -> None:
        if self._lookout is None:
            self._lookout = next((player for player in self._players if player.connected), None)
            if self._lookout is not None:
                self._tasks.spawn(self._watch(self._lookout), "bot_lookout")

    async def _watch(self, player: Player) -> None:
        try:
            await player.watch_lobby()
        except Refused:
            await asyncio.sleep(_RETRY_S)
            self.lost(player)
        except LineLost:
            self.lost(player)
        else:
            self._watching = player is self._lookout

    def _free(self) -> list[Player]:
        return [player for player in self._players if player.idle and player not in self._claimed]

    def _people(self) -> list[OpenSeek]:
        """Seeks of people, those first that have waited longest."""
        mine = {player.id for player in self._players}
        seeks = [
            seek
            for seek in self._lobby.seeks.values()
            if seek.player not in mine and not is_house(seek.player, seek.name)
            if self._all_rooms or seek.room in self._rooms
        ]
        return sorted(seeks, key=lambda seek: seek.seen_at)

    def _welcome(self, now: float) -> None:
        free = self._free()
        self._rng.shuffle(free)
        served = set()
        for seek in self._people():
            if seek.seen_at + PATIENCE_S > now or seek.not_before > now or seek.player in served:
                continue
            bot = next((player for player in free if player.name not in seek.refused), None)
            if bot is None:
                continue
            free.remove(bot)
            served.add(seek.player)
            seek.not_before = now + _RETRY_S
            self._claimed.add(bot)
            self._tasks.spawn(self._accept(bot, seek), "bot_accept")

    async def _accept(self, bot: Player, seek: OpenSeek) -> None:
        loop = asyncio.get_running_loop()
        try:
            await bot.accept(seek.seek)
        except Refused as refused:
            seek.not_before = loop.time() + max(_RETRY_S, min((refused.retry_ms or 0) / 1000, 60.0))
            if refused.code in ("gone", "not_found"):
                self._lobby.drop(seek.seek)
            elif refused.code not in ("limit", "unavailable", "internal"):
                seek.refused.add(bot.name)  # at most one entry for each player
        except LineLost:
            pass
        else:
            self._lobby.drop(seek.seek)
        finally:
            self._claimed.discard(bot)

    def _exhibit(self, now: float) -> None:
        if self._show is not None:
            if all(player.idle and player not in self._claimed for player in self._show):
                self._show = None
                self._next_show = now + self._rng.uniform(*_PAUSE_S)
            return
        free = self._free()
        if now < self._next_show or len(free) < 3 or self._people():
            return
        one, two = self._rng.sample(free, 2)
        self._show = one, two
        self._claimed |= {one, two}
        self._tasks.spawn(self._begin(one, two), "bot_exhibition")

    async def _begin(self, one: Player, two: Player) -> None:
        """An unrated game between two of them; a person may still come between and be welcome."""
        self._next_show = asyncio.get_running_loop().time() + _FAILED_PAUSE_S
        try:
            await two.accept(await one.seek(self._rng.choice(self._rooms), rated=False))
        except (Refused, LineLost):
            try:
                await one.cancel_seeks()
            except (Refused, LineLost):
                pass  # it ends with the line, or somebody has taken it
        finally:
            self._claimed -= {one, two}
