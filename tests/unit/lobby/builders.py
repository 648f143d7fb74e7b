"""Rooms, seeks and neighbours for the lobby's tests."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from lobby.matching.seek import Limits, Seek, Span, Wish, normalise, profile
from lobby.matching.tolerance import Tolerance
from lobby.ports import Made, Making
from lobby.rooms import LobbyRoom, LobbyRooms
from lobby.stored import Match, Person, Settings, StoredSeek, Summary
from numbridge.errors import Reason, Rejected, unavailable
from numbridge.v1 import lobby_pb2

NINE = Limits(Span(22, 34), Span(22, 34), 30, highlight=True, rated=True)
STUDY = Limits(Span(22, 34), Span(22, 34), 30, highlight=True, rated=False)
SIX = Limits(Span(8, 12), Span(7, 12), 10, highlight=True, rated=True)
BARE = Limits(Span(22, 34), Span(22, 34), 30, highlight=False, rated=True)


def room(name: str, limits: Limits, variant: str = "bridge", tolerance: Tolerance | None = None) -> LobbyRoom:
    """A room with the club's usual clocks."""
    return LobbyRoom(
        id=name,
        variant=variant,
        side=6 if variant == "blitz" else 9,
        claim_price=1,
        move_ms=60_000,
        game_ms=900_000,
        guests=name != "bare",
        limits=limits,
        tolerance=tolerance or Tolerance(),
        public=b'{"id":"%s"}' % name.encode(),
    )


def rooms() -> LobbyRooms:
    """Four rooms much like the club's, and one without highlighting that is closed to guests."""
    return LobbyRooms(
        (
            room("bridge", NINE),
            room("study", STUDY),
            room("blitz", SIX, "blitz"),
            room("domains", NINE, "domains"),
            room("bare", BARE),
        )
    )


def core_seek(
    name: str,
    wish: Wish | None = None,
    *,
    limits: Limits = NINE,
    rating: int = 1500,
    since: int = 0,
    player: str = "",
    avoid: frozenset[str] = frozenset(),
    last: str | None = None,
) -> Seek:
    """An open seek of player `p-<name>`."""
    normal = normalise(wish or Wish(), limits)
    return Seek(
        name, player or f"p-{name}", "bridge", profile(normal, limits), rating, normal.rating, since, avoid, last
    )


def wish(room_id: str, **fields: Any) -> lobby_pb2.SeekWish:
    """A wish as the gateway sends it."""
    return lobby_pb2.SeekWish(room=room_id, **fields)


class FakeTables:
    """Table workers that remember what was asked. `script` may answer an attempt in their stead."""

    def __init__(self) -> None:
        self.made: dict[str, Summary] = {}
        self.attempts: list[str] = []
        self.withdrawn: list[str] = []
        self.script: Callable[[Match], Made | None] = lambda match: None
        self.looks = Making.NOT_MADE
        self.looked = 0

    async def create(self, match: Match) -> Made:
        self.attempts.append(match.game)
        await asyncio.sleep(0)
        answer = self.script(match)
        if answer is not None:
            return answer
        return Made(Making.MADE, self.put(match))

    def put(self, match: Match) -> Summary:
        """The table is there."""
        return self.made.setdefault(
            match.game,
            Summary(match.game, match.room, match.settings, match.blue, match.red, "playing", match.at, 0),
        )

    def change(self, game: str, status: str, version: int) -> None:
        """The table goes on."""
        self.made[game] = msgspec.structs.replace(self.made[game], status=status, version=version)

    def finish(self, game: str) -> None:
        """The game is over, and nobody has heard of it."""
        self.change(game, "over", 1_000)

    async def withdraw(self, game: str) -> None:
        self.withdrawn.append(game)
        self.finish(game)

    async def end(self, game: str) -> bool:
        found = self.made.get(game)
        if found is None:
            raise Rejected(Reason.NOT_FOUND, "there is no such game")
        was_over = found.status == "over"
        self.change(game, "over", 1_000)
        return was_over

    async def look(self, game: str) -> Made:
        self.looked += 1
        await asyncio.sleep(0)
        found = self.made.get(game)
        return Made(Making.MADE, found) if found is not None else Made(self.looks)


class FakeRatings:
    """Ratings and blocks in memory."""

    def __init__(self) -> None:
        self.ratings: dict[str, int] = {}
        self.blocks: set[tuple[str, str]] = set()
        self.archive: dict[str, Summary] = {}
        self.forgotten: list[str] = []
        self.settling: list[str] = []
        self.closed: frozenset[str] = frozenset()
        self.muted: dict[str, int] = {}
        self.away = False

    async def rating(self, variant: str, player: str) -> int:
        return self.ratings.get(player, 1500)

    async def avoids(self, player: str) -> frozenset[str]:
        return frozenset(
            {other for one, other in self.blocks if one == player}
            | {one for one, other in self.blocks if other == player}
        )

    async def block(self, player: str, other: str, blocked: bool) -> None:
        if blocked:
            self.blocks.add((player, other))
        else:
            self.blocks.discard((player, other))

    async def restrictions(self) -> tuple[frozenset[str], dict[str, int]]:
        if self.away:
            raise unavailable("the ratings")
        return self.closed, dict(self.muted)

    async def warm(self, player: str) -> None:
        await self.avoids(player)

    def forget_blocks(self, player: str) -> None:
        self.forgotten.append(player)

    def game_over(self, player: str) -> None:
        self.settling.append(player)

    def forget_all(self) -> None:
        self.forgotten.append("*")

    async def finished(self, game: str) -> Summary | None:
        return self.archive.get(game)


class FakeWorkers:
    """A shard map with one worker that owns some shards."""

    def __init__(self) -> None:
        self.shards = [7, 11, 200]
        self.there = True
        self.is_idle: bool | None = True

    def pick(self) -> int | None:
        return self.shards[0] if self.there else None

    @property
    def any(self) -> bool:
        return self.there

    def idle(self) -> bool | None:
        return self.is_idle


def stored_seek(
    name: str,
    player: str,
    *,
    room: str = "bridge",
    since: int = 0,
    gateway: str = "gw-1",
    avoid: tuple[str, ...] = (),
) -> StoredSeek:
    """An open seek as it lies in Redis."""
    return StoredSeek(
        seek=name,
        room=room,
        player=player,
        name=player.title(),
        rating=1500,
        since=since,
        gateway=gateway,
        givens=(22, 34),
        avoid=avoid,
    )


SETTINGS = Settings("bridge", 9, "regular", 30, 1, True, True, 60_000, 900_000)


def match_of(game: str, first: StoredSeek, second: StoredSeek) -> Match:
    """The first is blue. A seek without an id stands for an accepter."""
    seeks = tuple(seek for seek in (first, second) if seek.seek)
    return Match(game, first.room, SETTINGS, first.person, second.person, seeks, "pool", 10)


def summary_of(
    game: str,
    blue: str,
    red: str,
    *,
    status: str = "playing",
    version: int = 0,
    room: str = "bridge",
    started: int = 0,
) -> Summary:
    """A game as a worker tells of it."""
    people = Person(blue, blue.title(), 1500), Person(red, red.title(), 1500)
    return Summary(game, room, SETTINGS, *people, status, started, version)
