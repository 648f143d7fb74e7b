"""An identity provider's public keys, from a file or a URL.

A URL is read at the start, again every `refresh_ms`, and sooner when a token
names a key that is not known (a provider that rotates its keys), though not
more often than every 30 s. When it can't be read, the keys read last stay good.
"""

import asyncio
from pathlib import Path

import aiohttp
import jwt
import structlog

from numbridge.clock import monotonic
from numbridge.errors import unavailable
from numbridge.tasks import Tasks, forever

log = structlog.get_logger("numbridge.gateway.jwks")

AGAIN_S = 30.0  # least time between two readings that an unknown key asks for
MAX_BYTES = 262_144
TIMEOUT_S = 5.0
_KEY_TYPES = {"RS256": "RSA", "EdDSA": "OKP"}


class Jwks:
    """Implements auth.PublicKeys."""

    def __init__(self, source: str, refresh_ms: int) -> None:
        """`source`: a path, or an http(s) URL."""
        self._source = source
        self._refresh_s = refresh_ms / 1000
        self._keys: list[jwt.PyJWK] = []
        self._read_at = float("-inf")
        self._reading: asyncio.Task[bool] | None = None
        self._tasks = Tasks()

    @property
    def ready(self) -> bool:
        """Whether any key is known."""
        return bool(self._keys)

    async def start(self) -> None:
        """Reads the keys. A URL that can't be read now is tried again; a bad file raises OSError."""
        if not await self._read() and not self._remote:
            raise OSError(f"no usable key in {self._source}")
        self._tasks.spawn(forever(self._again, self._refresh_s, "jwks"), "jwks")

    async def stop(self) -> None:
        """Ends the refreshing."""
        await self._tasks.close()

    async def find(self, kid: str | None, algorithm: str) -> list[jwt.PyJWK]:
        """Keys for that algorithm, by id where the token names one."""
        found = self._find(kid, algorithm)
        if not found and monotonic() - self._read_at >= AGAIN_S:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.ensure_future(self._read())
            await asyncio.shield(self._reading)
            found = self._find(kid, algorithm)
        if not self._keys:
            raise unavailable("the identity provider")
        return found

    def _find(self, kid: str | None, algorithm: str) -> list[jwt.PyJWK]:
        return [
            key
            for key in self._keys
            if key.key_type == _KEY_TYPES[algorithm] and (kid is None or key.key_id in (None, kid))
        ]

    @property
    def _remote(self) -> bool:
        return self._source.startswith(("http://", "https://"))

    async def _again(self) -> None:
        if monotonic() - self._read_at >= self._refresh_s / 2:
            await self._read()

    async def _read(self) -> bool:
        self._read_at = monotonic()
        try:
            text = await (self._fetch() if self._remote else asyncio.to_thread(Path(self._source).read_bytes))
            keys = _parse(text)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, jwt.PyJWTError) as error:
            log.warning("jwks_unreadable", error=type(error).__name__)
            return False
        self._keys = keys
        return True

    async def _fetch(self) -> bytes:
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(self._source) as response:
            response.raise_for_status()
            body = await response.content.read(MAX_BYTES)
            while len(body) < MAX_BYTES and (more := await response.content.read(MAX_BYTES - len(body))):
                body += more
            return body


def _parse(text: bytes) -> list[jwt.PyJWK]:
    """The usable keys of a key set. Raises jwt.PyJWTError or ValueError."""
    keys = [key for key in jwt.PyJWKSet.from_json(text.decode()).keys if key.key_type in _KEY_TYPES.values()]
    if not keys:
        raise ValueError("no RSA or OKP key")
    return keys
