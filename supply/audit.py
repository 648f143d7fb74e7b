"""Known vulnerabilities of the locked releases, one question a release to the index's JSON API.

What could not be asked is never called clean: the exit code says so.
"""

import asyncio
from dataclasses import dataclass

import aiohttp
import msgspec

from supply.lock import Release

INDEX = "https://pypi.org/pypi"
AT_ONCE = 4
TIMEOUT_S = 20


class _Vulnerability(msgspec.Struct):
    id: str
    aliases: list[str] = []
    summary: str | None = None
    details: str | None = None
    fixed_in: list[str] = []
    withdrawn: str | None = None


class _Answer(msgspec.Struct):
    vulnerabilities: list[_Vulnerability] = []


@dataclass(frozen=True, slots=True)
class Known:
    """A vulnerability that is known of a locked release."""

    release: Release
    id: str
    text: str
    fixed_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """What the index knows."""

    known: tuple[Known, ...]
    unasked: tuple[str, ...]
    """Releases that it gave no answer about."""


async def audit(releases: list[Release], index: str = INDEX) -> Audit:
    """Asks about each release."""
    room = asyncio.Semaphore(AT_ONCE)
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    async with aiohttp.ClientSession(timeout=timeout, trust_env=True) as session:

        async def ask(release: Release) -> list[Known] | None:
            async with room:
                try:
                    url = f"{index}/{release.name}/{release.version}/json"
                    async with session.get(url) as response:
                        if response.status != 200:
                            return None
                        answer = msgspec.json.decode(await response.read(), type=_Answer)
                except (aiohttp.ClientError, TimeoutError, OSError, msgspec.MsgspecError):
                    return None
            return [_known(release, found) for found in answer.vulnerabilities if found.withdrawn is None]

        answers = await asyncio.gather(*(ask(release) for release in releases))
    pairs = list(zip(releases, answers, strict=True))
    return Audit(
        tuple(known for _, answer in pairs for known in answer or ()),
        tuple(f"{release.name} {release.version}" for release, answer in pairs if answer is None),
    )


def _known(release: Release, found: _Vulnerability) -> Known:
    name = next((alias for alias in found.aliases if alias.startswith("CVE-")), found.id)
    text = (found.summary or found.details or "").strip().splitlines()
    return Known(release, name, text[0][:160] if text else "", tuple(found.fixed_in))
