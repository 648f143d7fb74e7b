"""Who is connected here, what they are told, and what the lobby is told about them.

A player may have several connections. The first one makes him present at the
lobby and subscribes to his notices; after the last one he is absent, and his
seeks end after the lobby's grace. A heartbeat says the whole truth every few
seconds, so that a lost call or notice heals.

Nobody is kept from a table because the lobby is away: a hello that it does not
answer in time says so (`partial`), and a `games` event says the rest once it does.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog

from gateway.metrics import Metrics
from gateway.ports import Listener, Lobby, Notices, Ratings, Subscription
from numbridge.clock import monotonic
from numbridge.errors import Reason, Rejected
from numbridge.tasks import Tasks, forever
from numbridge.tokens import Claims
from numbridge.v1 import common_pb2, lobby_pb2
from numbridge.wire import event

log = structlog.get_logger("numbridge.gateway.players")

T = TypeVar("T")

KEEP_S = 3.0  # between heartbeats; a lease at the lobby outlives three of them
AGAIN_S = 0.5  # between heartbeats while the lobby does not answer
GREET_S = 5.0  # how long a hello waits for the lobby; longer than it may hold answers after a loss of Redis
GREETED_AGAIN_MOST = 100  # players that are told the rest after one heartbeat; others after the next
LINGER_S = 20.0  # how long seeks are remembered after the last connection; longer than the lobby's grace
SEATED_MOST = 32  # games announced lately, remembered for each player to drop repeats
KNOWN_MOST = 50_000  # players remembered as known to the ratings service
SEEKS_MOST = 64  # open seeks remembered for each player; the oldest is forgotten first


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a player must know first. `partial`: the lobby did not say, there may be more."""

    games: tuple[str, ...] = ()
    seeks: tuple[str, ...] = ()
    partial: bool = False


class _Here:
    """One player with at least one connection, or gone a moment ago."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self.listeners: set[Listener] = set()
        self.unsure: set[Listener] = set()  # those whose hello was partial
        self.opening: asyncio.Task[Subscription] | None = None
        self.seeks: dict[str, lobby_pb2.Seek] = {}
        self.seated: list[str] = []
        self.told = False  # what the lobby was told last
        self.telling: asyncio.Task[Any] | None = None  # the last of the calls about this player
        self.gone_at = 0.0

    def hear(self, notice: lobby_pb2.PlayerNotice) -> None:
        """A notice for this player; a game that was announced before is not announced again."""
        for seek in notice.seeks:
            self.seeks.pop(seek, None)
        if notice.game:
            if notice.game in self.seated:
                return
            self.seated = [*self.seated[1 - SEATED_MOST :], notice.game]
        if notice.text:
            for listener in tuple(self.listeners):
                listener.on_notice(notice.text)


class Players:
    """The register of who is here."""

    def __init__(self, gateway: str, lobby: Lobby, ratings: Ratings, notices: Notices, metrics: Metrics) -> None:
        self._gateway = gateway
        self._lobby = lobby
        self._ratings = ratings
        self._notices = notices
        self._metrics = metrics
        self._here: dict[str, _Here] = {}
        self._tasks = Tasks()
        self._known: OrderedDict[str, str] = OrderedDict()  # player -> name that the ratings service has
        self._hurry = asyncio.Event()
        self.lobby_answers = False  # whether the last heartbeat was answered
        notices.on_loss(self._hurry.set)

    async def start(self) -> None:
        """Says for the first time that this gateway lives, and goes on saying it."""
        self._hurry.set()
        self._tasks.spawn(forever(self._beat, 0.0, "gateway_heartbeat"), "gateway_heartbeat")

    async def stop(self) -> None:
        """Ends the heartbeat."""
        await self._tasks.close()

    async def settle(self, timeout_s: float = 1.0) -> None:
        """Waits until the lobby has been told of those who left, for a while."""
        telling = [here.telling for here in self._here.values() if here.telling is not None]
        if telling:
            await asyncio.wait(telling, timeout=timeout_s)

    async def arrive(self, listener: Listener, claims: Claims) -> Arrival:
        """A connection of the player's has come. From now on it hears his notices. Raises Rejected."""
        here = self._here.get(claims.player)
        if here is None:
            here = self._here[claims.player] = _Here(claims)
            self._metrics.players_here(len(self._here))
        here.claims = claims
        here.listeners.add(listener)
        if here.opening is None:
            here.opening = asyncio.ensure_future(self._notices.player(claims.player, here.hear))
        opening = here.opening
        try:
            await asyncio.shield(opening)
            self._know(claims)
            return await self._greeted(here, listener)
        except BaseException:
            self.leave(listener, claims.player)
            if opening.done() and here.opening is opening and (opening.cancelled() or opening.exception()):
                here.opening = None  # the next connection subscribes anew
            raise

    async def _greeted(self, here: _Here, listener: Listener) -> Arrival:
        try:
            async with asyncio.timeout(GREET_S):
                reply = await self._in_turn(here, lambda: self._greet(here))
        except TimeoutError:
            pass
        except Rejected as rejected:
            if rejected.reason is not Reason.UNAVAILABLE:
                raise
        else:
            return Arrival(tuple(reply.games), tuple(reply.seeks))
        log.info("hello_partial")
        here.unsure.add(listener)
        return Arrival(seeks=tuple(here.seeks), partial=True)

    def leave(self, listener: Listener, player: str) -> None:
        """A connection has gone; fine if it is not known."""
        here = self._here.get(player)
        if here is None or listener not in here.listeners:
            return
        here.listeners.discard(listener)
        here.unsure.discard(listener)
        if not here.listeners:
            here.gone_at = monotonic()
            self._end(here)
            self._tasks.spawn(self._tell_quietly(here), "presence")

    def seek_posted(self, player: str, seek: lobby_pb2.Seek) -> None:
        """A seek of the player's is open; it is posted again if the lobby loses it."""
        here = self._here.get(player)
        if here is None:
            return
        for known, other in list(here.seeks.items()):
            if other.wish.room == seek.wish.room or len(here.seeks) >= SEEKS_MOST:
                del here.seeks[known]
        here.seeks[seek.seek] = seek

    def seek_ended(self, player: str, seek: str) -> None:
        """A seek of the player's has ended."""
        here = self._here.get(player)
        if here is not None:
            here.seeks.pop(seek, None)

    def count(self) -> int:
        """Players with at least one connection."""
        return sum(bool(here.listeners) for here in self._here.values())

    # --- what the lobby is told ------------------------------------------------------------------------------

    async def _in_turn(self, here: _Here, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Runs `call` after all calls about this player that were begun before, so that the last word stays.

        It runs to its end even if whoever waits for it goes away.
        """
        before = here.telling

        async def turn() -> T:
            if before is not None:
                await asyncio.wait((before,))
            return await call()

        task = asyncio.ensure_future(turn())
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, though nobody may wait
        here.telling = task
        return await asyncio.shield(task)

    async def _greet(self, here: _Here) -> lobby_pb2.GreetReply:
        """Greeting a player tells the lobby that he is here."""
        request = lobby_pb2.GreetRequest(player=as_player(here.claims), gateway=self._gateway)
        reply = await self._lobby.greet(request)
        here.told = True
        return reply

    async def _greet_again(self, here: _Here) -> None:
        """The lobby answers again: the rest of a partial hello."""
        try:
            reply = await self._in_turn(here, lambda: self._greet(here))
        except Rejected as rejected:  # after another heartbeat
            log.info("still_partial", reason=str(rejected.reason))
            return
        text = event("games", games=list(reply.games), seeks=list(reply.seeks))
        for listener in tuple(here.unsure):
            listener.on_notice(text)
        here.unsure.clear()

    async def _tell(self, here: _Here) -> None:
        """Brings the lobby's knowledge up to date, if it is not."""
        connected = bool(here.listeners)
        if here.told != connected:
            await self._lobby.set_presence(
                lobby_pb2.SetPresenceRequest(gateway=self._gateway, player=here.claims.player, connected=connected)
            )
            here.told = connected

    async def _tell_quietly(self, here: _Here) -> None:
        try:
            await self._in_turn(here, lambda: self._tell(here))
        except Rejected as rejected:  # the heartbeat will say it
            log.warning("presence_not_told", reason=str(rejected.reason))

    def _know(self, claims: Claims) -> None:
        """Makes the player known to the ratings service, in the background, once for each name."""
        if self._known.get(claims.player) != claims.name:
            self._tasks.spawn(self._ensure(claims), "ensure_player")

    async def _ensure(self, claims: Claims) -> None:
        try:
            await self._ratings.ensure_player(claims)
        except Rejected as rejected:  # the next hello says it again
            log.warning("player_not_ensured", reason=str(rejected.reason))
            return
        self._known[claims.player] = claims.name
        if len(self._known) > KNOWN_MOST:
            self._known.popitem(last=False)

    async def _beat(self) -> None:
        try:
            async with asyncio.timeout(KEEP_S if self.lobby_answers else AGAIN_S):
                await self._hurry.wait()
        except TimeoutError:
            pass
        self._hurry.clear()
        self._forget()
        present = {player: here for player, here in self._here.items() if here.listeners}
        request = lobby_pb2.KeepGatewayRequest(
            gateway=self._gateway,
            players=list(present),
            seeks=[seek for here in present.values() for seek in here.seeks.values()],
        )
        try:
            reply = await self._lobby.keep(request)
        except Rejected as rejected:
            log.warning("heartbeat_refused", reason=str(rejected.reason))
            self.lobby_answers = False
            return
        self.lobby_answers = True
        for here in self._here.values():
            for seek in reply.ended:
                here.seeks.pop(seek, None)
        for here in [here for here in present.values() if here.unsure][:GREETED_AGAIN_MOST]:
            if here.telling is None or here.telling.done():
                self._tasks.spawn(self._greet_again(here), "greet_again")
        for notice in reply.seated:
            known = self._here.get(notice.player)
            if known is not None and known.listeners:
                known.hear(notice)

    def _forget(self) -> None:
        now = monotonic()
        for player, here in list(self._here.items()):
            if not here.listeners and now - here.gone_at > LINGER_S and (here.telling is None or here.telling.done()):
                del self._here[player]
        self._metrics.players_here(self.count())

    def _end(self, here: _Here) -> None:
        opening, here.opening = here.opening, None
        if opening is None:
            return
        if not opening.done():
            opening.cancel()
        elif not opening.cancelled() and opening.exception() is None:
            opening.result().end()


def as_player(claims: Claims) -> common_pb2.Player:
    """The player as the lobby knows him; it looks the rating up itself."""
    return common_pb2.Player(id=claims.player, name=claims.name)
