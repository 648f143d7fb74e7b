"""Buckets that all gateways share, in Redis. A short wait, and a pause after each that was in vain."""

import asyncio

import structlog
from redis.asyncio import Redis

from gateway.limits.digest import Digest
from gateway.ports import LimitsAway
from gateway.session.limits import Rate
from numbridge import names, redis_io
from numbridge.clock import monotonic

log = structlog.get_logger("numbridge.gateway.limits")

PAUSE_S = 2.0  # after a question without an answer: so long nobody is asked, and nobody waits
SEATS_KEPT_MS = 6 * 3_600_000


class RedisLimits:
    """Implements ports.SharedLimits."""

    def __init__(self, redis: Redis, digest: Digest, wait_ms: int) -> None:
        self._take = redis_io.script(redis, "gateway", "take_tokens-1")
        self._sit = redis_io.script(redis, "gateway", "sit_down-1")
        self._digest = digest
        self._wait_s = wait_ms / 1000
        self._not_before = 0.0

    async def take(self, name: str, key: str, rate: Rate, *, take: bool = True) -> int:
        """See ports.SharedLimits."""
        where = names.limit_key(name, self._digest(key))
        return await self._run(self._take, where, rate.burst, rate.per_minute, 1, int(take))

    async def sit(self, game: str, seat: str, other: str, house: str) -> bool:
        """See ports.SharedLimits."""
        where = names.house_key(game)
        return bool(await self._run(self._sit, where, seat, other, house, SEATS_KEPT_MS))

    async def _run(self, script: redis_io.AsyncScript, key: str, *args: str | int) -> int:
        if monotonic() < self._not_before:
            raise LimitsAway
        try:
            async with asyncio.timeout(self._wait_s):
                return int(await script(keys=[key], args=args))
        except (*redis_io.AWAY, redis_io.RedisError) as error:
            log.warning("limits_not_shared", error=type(error).__name__)  # once a pause at most
            self._not_before = monotonic() + PAUSE_S
            raise LimitsAway from None
