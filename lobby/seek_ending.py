"""Ends a seek for a reason that its player has not given himself, and tells him."""

from lobby import notices
from lobby.adapters.redis_seeks import Ended, RedisSeeks
from lobby.metrics import Metrics
from lobby.ports import Announcer
from lobby.stored import StoredSeek


async def end_seek(seeks: RedisSeeks, announcer: Announcer, metrics: Metrics, seek: StoredSeek, reason: str) -> bool:
    """Whether this call ended it: of several replicas that try, one does, and tells. Raises one of redis_io.AWAY."""
    if await seeks.end(seek.seek, seek.player) is not Ended.ENDED:
        return False
    metrics.ended(reason)
    await announcer.tell([notices.seek_ended(seek.player, seek.seek, reason)])
    return True
