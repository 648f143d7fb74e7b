"""Reads as the rest of the cluster asks for them: as of now, page by page, within limits."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable
from dataclasses import dataclass

from numbridge.errors import Reason, Rejected
from ratings.domain import FinishedGame, PlayedGame, Profile, Ranked
from ratings.leaderboards import Leaderboards
from ratings.model.rules import NEWCOMER, VARIANTS, Standing, strength_at
from ratings.ports import Library

GAMES_DEFAULT, GAMES_MOST = 20, 100
BOARD_DEFAULT, BOARD_MOST = 50, 200
RATINGS_MOST = 100
_CURSOR_TIME = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class GamesPage:
    """Games, newest first, and the cursor of the next page; empty on the last."""

    games: list[PlayedGame]
    next: str


class Archive:
    """Players, boards and finished games. Every method raises StoreAway and Rejected."""

    def __init__(self, library: Library, leaderboards: Leaderboards, now: Callable[[], int]) -> None:
        self._library = library
        self._leaderboards = leaderboards
        self._now = now

    async def profile(self, player: str) -> Profile:
        """The player, deviations as of now."""
        profile = await self._library.profile(player)
        if profile is None:
            raise _unknown_player()
        standings = {variant: self._as_of_now(standing) for variant, standing in profile.standings.items()}
        return Profile(profile.id, profile.name, standings, profile.won, profile.lost, profile.drawn)

    async def ratings(self, variant: str, players: list[str]) -> dict[str, Standing]:
        """Standings of all who are asked for; newcomers have the initial one."""
        _check_variant(variant)
        if len(players) > RATINGS_MOST:
            raise Rejected(Reason.BAD_MESSAGE, f"at most {RATINGS_MOST} players at once")
        found = await self._library.standings(variant, players) if players else {}
        return {player: self._as_of_now(found.get(player, NEWCOMER)) for player in players}

    async def games_of(self, player: str, before: str, limit: int) -> GamesPage:
        """A page of the player's finished games."""
        wanted = _limit(limit, GAMES_DEFAULT, GAMES_MOST)
        games = await self._library.games_of(player, _parse_cursor(before) if before else None, wanted + 1)
        if not games and await self._library.profile(player) is None:
            raise _unknown_player()
        page = games[:wanted]
        return GamesPage(page, _cursor(page[-1]) if len(games) > wanted else "")

    async def leaderboard(self, variant: str, limit: int) -> list[Ranked]:
        """Best first, ties by id."""
        _check_variant(variant)
        rows = await self._leaderboards.best(variant, _limit(limit, BOARD_DEFAULT, BOARD_MOST))
        return [Ranked(row.id, row.name, self._as_of_now(row.standing)) for row in rows]

    async def game(self, game: str) -> FinishedGame:
        """A finished game with its record."""
        found = await self._library.archived(game)
        if found is None:
            raise Rejected(Reason.NOT_FOUND, "no such game in the archive")
        return found

    def _as_of_now(self, standing: Standing) -> Standing:
        return Standing(strength_at(standing, self._now()), standing.games, standing.last_at)


def _unknown_player() -> Rejected:
    return Rejected(Reason.NOT_FOUND, "no such player")


def _check_variant(variant: str) -> None:
    if variant not in VARIANTS:
        raise Rejected(Reason.BAD_MESSAGE, f"variant must be one of {', '.join(VARIANTS)}")


def _limit(asked: int, default: int, most: int) -> int:
    if asked < 0:
        raise Rejected(Reason.BAD_MESSAGE, "limit must not be negative")
    return min(asked or default, most)


def _cursor(last: PlayedGame) -> str:
    return urlsafe_b64encode(f"{last.ended_at}.{last.game}".encode()).decode().rstrip("=")


def _parse_cursor(text: str) -> tuple[int, str]:
    try:
        at, _, game = urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)).decode().partition(".")
    except (ValueError, Base64Error):
        at = game = ""
    if not _CURSOR_TIME.fullmatch(at) or not game or "\0" in game:
        raise Rejected(Reason.BAD_MESSAGE, "before is not a cursor of an earlier answer")
    return int(at), game
