"""Viewers of a game and seat: one subscription for all of them, each frame unpacked once."""

import asyncio
from typing import cast

from gateway.metrics import Metrics
from gateway.ports import Subscription, Viewer, Views
from gateway.presence import Presence
from numbridge.frames import Frame
from numbridge.names import SEATS, Seat

MISSING_S = 1.5  # after an answer, how long its frames may take; far longer than they do


class _Group:
    """Everybody here who sits as the same at one table."""

    def __init__(self, game: str, seat: Seat, views: Views) -> None:
        self.game = game
        self.seat = seat
        self.viewers: set[Viewer] = set()
        self.version = 0  # the highest seen live
        self.opening: asyncio.Future[Subscription] = asyncio.ensure_future(views.watch(game, seat, self.on_frames))

    def on_frames(self, frames: list[Frame]) -> None:
        """Live frames for this seat."""
        self.version = max(self.version, max((version for version, _ in frames), default=0))
        for viewer in tuple(self.viewers):
            viewer.on_frames(self.game, frames)

    def end(self) -> None:
        """Ends the subscription, also one that is only being opened."""
        if not self.opening.done():
            self.opening.cancel()
        elif not self.opening.cancelled() and self.opening.exception() is None:
            self.opening.result().end()


class Hub:
    """Groups by game and seat."""

    def __init__(self, views: Views, presence: Presence, metrics: Metrics) -> None:
        self._views = views
        self._presence = presence
        self._metrics = metrics
        self._groups: dict[tuple[str, str], _Group] = {}
        self._count = 0
        views.on_loss(self.resync_all)

    async def tune(self, viewer: Viewer, game: str, seat: str) -> None:
        """Adds a viewer; when this returns, no later frame is missed. Raises Rejected (unavailable)."""
        key = (game, seat)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(game, cast(Seat, seat), self._views)
            self._metrics.subscriptions_open(len(self._groups))
        if viewer not in group.viewers:
            group.viewers.add(viewer)
            self._count += 1
            self._metrics.views_open(self._count)
            self._presence.came(game, seat)
        try:
            await asyncio.shield(group.opening)
        except BaseException:
            self.untune(viewer, game)
            raise

    def untune(self, viewer: Viewer, game: str) -> None:
        """Takes a viewer off a table; fine if he is not there."""
        for seat in SEATS:
            group = self._groups.get((game, seat))
            if group is None or viewer not in group.viewers:
                continue
            group.viewers.discard(viewer)
            self._count -= 1
            self._metrics.views_open(self._count)
            self._presence.went(game, seat)
            if not group.viewers:
                del self._groups[(game, seat)]
                self._metrics.subscriptions_open(len(self._groups))
                group.end()

    def resync_all(self) -> None:
        """Frames may have been lost: every viewer asks for what he lacks."""
        for viewer in {viewer for group in self._groups.values() for viewer in group.viewers}:
            viewer.on_resync(None)

    def expect(self, game: str, version: int) -> None:
        """A worker said that the game has `version`: if its frames do not come, viewers ask for them."""
        if not self._seen(game, version):
            asyncio.get_running_loop().call_later(MISSING_S, self._check, game, version)

    def _check(self, game: str, version: int) -> None:
        if not self._seen(game, version):
            self._metrics.resync("missing")
            self.resync(game)

    def _seen(self, game: str, version: int) -> bool:
        groups = (self._groups.get((game, seat)) for seat in SEATS)
        return all(group is None or group.version >= version for group in groups)

    def resync(self, game: str) -> None:
        """Frames of one game may have been lost."""
        for seat in SEATS:
            group = self._groups.get((game, seat))
            for viewer in tuple(group.viewers) if group is not None else ():
                viewer.on_resync(game)
