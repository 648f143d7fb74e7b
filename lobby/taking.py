"""Taking two players for a game that they have agreed on themselves: an accepted seek, a rematch."""

from collections.abc import Callable
from typing import Literal

from lobby import notices
from lobby.adapters.redis_seating import RedisSeating, Side, Took
from lobby.metrics import Metrics
from lobby.ports import Announcer, Workers
from lobby.seat_check import SeatCheck
from lobby.stored import Match, Person, Settings, StoredSeek
from numbridge.clock import now_ms
from numbridge.errors import Reason, Rejected, unavailable
from numbridge.ids import new_game_id

_TRIES = 3  # a stale seat found by the script is forgotten, then the script is asked again


class Taker:
    """Puts such a match to Redis for its decision."""

    def __init__(
        self,
        seating: RedisSeating,
        check: SeatCheck,
        workers: Workers,
        announcer: Announcer,
        metrics: Metrics,
        new_id: Callable[[int], str] = new_game_id,
    ) -> None:
        self._seating = seating
        self._check = check
        self._workers = workers
        self._announcer = announcer
        self._metrics = metrics
        self._new_id = new_id

    async def take(
        self,
        room: str,
        settings: Settings,
        blue: Person,
        red: Person,
        how: Literal["accept", "rematch"],
        host: str,
        guest: str,
        seek: StoredSeek | None = None,
    ) -> Match:
        """Takes `host` (with his seek, if it is about one) and `guest`, who asks. Raises Rejected: GONE if the seek
        is, FORBIDDEN if the guest has a game (or the host, where no seek is in play), UNAVAILABLE."""
        shard = self._workers.pick()
        if shard is None:
            raise unavailable("the tables")
        seeks = () if seek is None else (seek,)
        match = Match(self._new_id(shard), room, settings, blue, red, seeks, how, now_ms())
        for _ in range(_TRIES):
            [answer] = await self._seating.take([(match, Side(host, seek.seek if seek else ""), Side(guest))])
            self._metrics.took(answer.code.name.lower())
            match answer.code:
                case Took.TAKEN | Took.TAKEN_BEFORE:
                    fell = [(player, name) for player, name in answer.fell if seek is None or name != seek.seek]
                    self._metrics.ended(notices.ENDED_MATCHED, len(fell))
                    await self._announcer.tell(
                        [notices.seek_ended(player, name, notices.ENDED_MATCHED) for player, name in fell]
                    )
                    return match
                case Took.FIRST_GONE | Took.SECOND_GONE:
                    raise gone()
                case Took.FIRST_HAS_GAME:
                    await self._host_is_free(host, answer.game, seek)
                case Took.SECOND_HAS_GAME:
                    await self._check.refuse_if_true(guest, answer.game)
                case Took.HELD:
                    raise unavailable("the lobby")
        raise unavailable("a seat")

    async def came_of(self, seek: str, game: str) -> bool:
        """Whether the seek led to this game just now."""
        return await self._seating.came_of(seek, game)

    async def _host_is_free(self, host: str, game: str, seek: StoredSeek | None) -> None:
        try:
            await self._check.refuse_if_true(host, game)
        except Rejected as refused:
            if refused.reason is not Reason.FORBIDDEN:
                raise
            if seek is not None:
                raise gone() from None
            raise Rejected(Reason.FORBIDDEN, "your opponent is playing another game") from None


def gone() -> Rejected:
    """The refusal of a seek that is not open any more."""
    return Rejected(Reason.GONE, "that seek has been taken or cancelled")


def blocked() -> Rejected:
    """The refusal between two of whom one blocks the other; it does not say who."""
    return Rejected(Reason.FORBIDDEN, "you and this player can't be brought together: one has blocked the other")
