"""The club's HTTP side, and who a bot is there.

Guest    a token from POST /api/guests; a fresh one when it is refused
Signed   a token that this process signs itself, for a player of the club's own
Given    a token that somebody has handed over
NoClub   nothing that could be played at answers at the address, or it takes no guests
"""

import asyncio
from typing import Any, Protocol

import aiohttp
import msgspec

from numbridge.bots.line import retry_after_ms
from numbridge.tasks import delays
from numbridge.tokens import DAY_MS, KeyRing, sign

START_S = 20.0  # a club that has not answered by then is not there
_CALL_S = 10.0
_LONGEST_WAIT_S = 60.0  # what Retry-After may ask for

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class NoClub(Exception):
    """There is no use in trying on; one sentence."""


class Unreachable(NoClub):
    """Nobody answers; later somebody may."""


class Club:
    """Calls of one club. A call is repeated while nobody answers, is busy or asks to wait, within a bound."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self.session = session
        self.url = url.rstrip("/")

    async def rooms(self) -> list[dict[str, Any]]:
        """The rooms with what goes on in them. Raises NoClub."""
        rooms = (await self._call("GET", "/api/rooms")).get("rooms")
        if not isinstance(rooms, list):
            raise NoClub(f"what answers at {self.url} is no Numbridge club")
        return rooms

    async def guest(self, name: str) -> str:
        """A new guest's token. Raises NoClub."""
        return str((await self._call("POST", "/api/guests", {"name": name}))["token"])

    async def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        end = loop.time() + START_S
        problem = ""
        for pause in delays(0.2, 3.0):
            wait_s = pause
            try:
                async with (
                    asyncio.timeout(_CALL_S),
                    self.session.request(method, self.url + path, json=body, allow_redirects=False) as response,
                ):
                    if response.status < 300:
                        return _decode(await response.read())
                    problem = f"{method} {path} was answered with {response.status}"
                    if response.status == 403:
                        raise NoClub("the club takes no guests; give tokens with --tokens")
                    if response.status == 429:
                        wait_s = min(retry_after_ms(response.headers) / 1000, _LONGEST_WAIT_S) + pause
                        end = max(end, loop.time() + wait_s + 1)  # told to wait is not unanswered
                    elif response.status < 500:
                        raise NoClub(f"what answers at {self.url} is no Numbridge club: {problem}")
            except (OSError, TimeoutError, aiohttp.ClientError) as error:
                problem = getattr(error, "strerror", None) or str(error) or type(error).__name__
            except (msgspec.MsgspecError, ValueError):
                raise NoClub(f"what answers at {self.url} is no Numbridge club") from None
            if loop.time() + wait_s > end:
                break
            await asyncio.sleep(wait_s)
        raise Unreachable(f"the club at {self.url} can't be reached: {problem}")


class Identity(Protocol):
    """Who a bot is."""

    name: str

    async def token(self) -> str:
        """A token for the next hello. Raises NoClub."""

    def refused(self) -> bool:
        """The token was refused as unauthorized; whether another try can help."""


class Guest:
    """A guest; another one when the token is no good any more."""

    def __init__(self, club: Club, name: str) -> None:
        self.name = name
        self._club = club
        self._token = ""

    async def token(self) -> str:
        """See Identity."""
        if not self._token:
            self._token = await self._club.guest(self.name)
        return self._token

    def refused(self) -> bool:
        """See Identity."""
        self._token = ""
        return True


class Signed:
    """A player of the club's own, by the cluster's signing key."""

    def __init__(self, ring: KeyRing, player: str, name: str, audience: str = "") -> None:
        self.name = name
        self._ring = ring
        self._player = player
        self._audience = audience

    async def token(self) -> str:
        """See Identity."""
        return sign(self._ring, self._player, self.name, lifetime_ms=DAY_MS, audience=self._audience)

    def refused(self) -> bool:
        """See Identity. The same key would be refused again."""
        return False


class Given:
    """A player whose token was handed over."""

    def __init__(self, token: str, name: str) -> None:
        self.name = name
        self._token = token

    async def token(self) -> str:
        """See Identity."""
        return self._token

    def refused(self) -> bool:
        """See Identity."""
        return False
