"""Runs the lobby's Lua scripts: several in one round trip whenever several wait, never by a timer.

A round trip costs Python several times what a script costs Redis. While one
is under way calls gather, and go out together in the next.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis
from redis.commands.core import AsyncScript
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError

from numbridge.redis_io import AWAY, script

_MOST_AT_ONCE = 128
_MOST_WAITING = 5_000  # beyond, a call is refused as if Redis were away: its caller is told to try again

Arg = str | bytes | int
_Call = tuple[asyncio.Future[Any], AsyncScript, Sequence[str], Sequence[Arg]]


class ScriptLane:
    """One round trip at a time. A script that the server has forgotten is loaded again, and only it is repeated."""

    def __init__(self, redis: Redis) -> None:
        self._redis: Any = redis
        self._scripts: dict[str, AsyncScript] = {}
        self._waiting: deque[_Call] = deque()
        self._runner: asyncio.Task[None] | None = None

    async def run(self, name: str, keys: Sequence[str], args: Sequence[Arg]) -> Any:
        """Runs `lua/<name>.lua`. Raises one of redis_io.AWAY; it may then have taken effect or not."""
        if len(self._waiting) >= _MOST_WAITING:
            raise RedisConnectionError("too many calls wait for Redis")
        found = self._scripts.get(name)
        if found is None:
            found = self._scripts[name] = script(self._redis, "lobby", name)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((future, found, keys, args))
        if self._runner is None:
            self._runner = asyncio.create_task(self._drain(), name="script_lane")
        return await future

    async def _drain(self) -> None:
        try:
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(_MOST_AT_ONCE, len(self._waiting)))]
                try:
                    replies = await self._send([call for _, *call in batch])
                except (*AWAY, RedisError) as error:
                    replies = [error] * len(batch)
                except asyncio.CancelledError:
                    _settle(batch, [RedisConnectionError("closing")] * len(batch))
                    raise
                _settle(batch, replies)
        finally:
            self._runner = None

    async def _send(self, calls: list[Any]) -> list[Any]:
        replies = await self._evaluate(calls)
        forgotten = [number for number, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
        if forgotten:
            for found in {calls[number][0].sha: calls[number][0] for number in forgotten}.values():
                await self._redis.script_load(found.script)
            again = await self._evaluate([calls[number] for number in forgotten])
            for number, reply in zip(forgotten, again, strict=True):
                replies[number] = reply
        return replies

    async def _evaluate(self, calls: list[Any]) -> list[Any]:
        async with self._redis.pipeline(transaction=False) as pipe:
            for found, keys, args in calls:
                pipe.evalsha(found.sha, len(keys), *keys, *args)
            replies: list[Any] = await pipe.execute(raise_on_error=False)
        return replies


def _settle(batch: Sequence[_Call], replies: Sequence[Any]) -> None:
    for (future, *_), reply in zip(batch, replies, strict=True):
        if future.done():
            continue  # whoever asked has gone
        if isinstance(reply, Exception):
            future.set_exception(reply)
        else:
            future.set_result(reply)
