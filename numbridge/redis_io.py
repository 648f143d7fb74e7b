"""Redis: connections with bounded waits, and Lua scripts read from package data."""

from importlib import resources

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.commands.core import AsyncScript
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

__all__ = ["AWAY", "AsyncScript", "RedisError", "connect", "script"]

AWAY = (RedisConnectionError, RedisTimeoutError, OSError)  # what a call raises while Redis is away


def connect(url: str, *, connections: int = 16, timeout_s: float = 2.0) -> "Redis":
    """A client on a bounded pool; a call waits at most about `timeout_s` and then raises one of AWAY."""
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=timeout_s,
        socket_timeout=timeout_s,
        socket_connect_timeout=timeout_s,
        health_check_interval=15,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), 2),
        decode_responses=False,
    )
    return Redis.from_pool(pool)  # closing the client closes the pool


def script(client: "Redis", package: str, name: str) -> AsyncScript:
    """The script `lua/<name>.lua` of `package`; it survives SCRIPT FLUSH and a restart of the server."""
    text = resources.files(package).joinpath("lua", f"{name}.lua").read_text(encoding="utf-8")
    return client.register_script(text)
