"""What the lobby keeps in Redis, and its forms for the wire and for the matching core.

StoredSeek   an open seek, whole: any replica can match it without asking anyone
Match        two players taken for one game, not yet seated
Summary      a game as lists show it
"""

from functools import lru_cache
from typing import Any, Literal

import msgspec

from lobby.matching.seek import Limits, Profile, Seek, Span, Wish, profile
from numbridge.v1 import common_pb2, lobby_pb2

Blocks = Literal["regular", "irregular"]
_BLOCKS: dict[str, Blocks] = {"regular": "regular", "irregular": "irregular"}


class Person(msgspec.Struct, frozen=True, omit_defaults=True):
    """A player as others see one."""

    id: str
    name: str
    rating: int | None = None

    def to_proto(self) -> common_pb2.Player:
        """For the cluster's services."""
        return common_pb2.Player(id=self.id, name=self.name, rating=self.rating)

    @classmethod
    def of(cls, player: common_pb2.Player) -> "Person":
        """From the cluster's services."""
        return cls(player.id, player.name, player.rating if player.HasField("rating") else None)


@lru_cache(maxsize=4_096)  # there are few that anybody asks for
def _profile(
    blocks: Blocks | None, givens: tuple[int, int], highlight: bool | None, rated: bool | None, limits: Limits
) -> Profile:
    return profile(Wish(blocks, Span(*givens), highlight, rated), limits)


class StoredSeek(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An open seek with its wish normalised. None means any. The scripts read `player`, `room` and `since`."""

    seek: str
    room: str
    player: str
    name: str
    rating: int
    since: int
    gateway: str
    givens: tuple[int, int]
    blocks: Blocks | None = None
    highlight: bool | None = None
    rated: bool | None = None
    want: tuple[int, int] | None = None
    avoid: tuple[str, ...] = ()
    last: str | None = None  # opponent of the latest game; filled in when the seek is read for matching

    @property
    def person(self) -> Person:
        """Who seeks."""
        return Person(self.player, self.name, self.rating)

    def wish(self) -> Wish:
        """The wish alone."""
        want = None if self.want is None else Span(*self.want)
        return Wish(self.blocks, Span(*self.givens), self.highlight, self.rated, want)

    def profile(self, limits: Limits) -> Profile:
        """The choices, for matching and settling."""
        return _profile(self.blocks, self.givens, self.highlight, self.rated, limits)

    def to_core(self, limits: Limits) -> Seek:
        """The seek as the matching core knows it."""
        return Seek(
            self.seek,
            self.player,
            self.room,
            self.profile(limits),
            self.rating,
            None if self.want is None else Span(*self.want),
            self.since,
            frozenset(self.avoid),
            self.last,
        )

    def to_client(self) -> dict[str, Any]:
        """The seek as clients see it."""
        lo, hi = self.givens
        body: dict[str, Any] = {
            "seek": self.seek,
            "room": self.room,
            "player": {"id": self.player, "name": self.name, "rating": self.rating},
            "blocks": self.blocks or "any",
            "givens": lo if lo == hi else [lo, hi],
            "highlight": "any" if self.highlight is None else self.highlight,
            "rated": "any" if self.rated is None else self.rated,
        }
        if self.want is not None:
            body["rating"] = list(self.want)
        body["since"] = self.since
        return body

    def to_proto(self) -> lobby_pb2.Seek:
        """The seek for the cluster's services."""
        wish = lobby_pb2.SeekWish(
            room=self.room,
            blocks=self.blocks or "any",
            givens_min=self.givens[0],
            givens_max=self.givens[1],
            highlight=self.highlight,
            rated=self.rated,
        )
        if self.want is not None:
            wish.rating_min, wish.rating_max = self.want
        return lobby_pb2.Seek(seek=self.seek, player=self.person.to_proto(), wish=wish, since=self.since)


def wish_of(message: lobby_pb2.SeekWish, limits: Limits) -> Wish:
    """A wish as it came over the wire; what is unset means any, also one end of a range."""
    givens = None
    if message.HasField("givens_min") or message.HasField("givens_max"):
        givens = Span(
            message.givens_min if message.HasField("givens_min") else limits.givens.lo,
            message.givens_max if message.HasField("givens_max") else limits.givens.hi,
        )
    rating = None
    if message.HasField("rating_min") or message.HasField("rating_max"):
        rating = Span(
            message.rating_min if message.HasField("rating_min") else -(1 << 31),
            message.rating_max if message.HasField("rating_max") else (1 << 31) - 1,
        )
    return Wish(
        _BLOCKS.get(message.blocks),
        givens,
        message.highlight if message.HasField("highlight") else None,
        message.rated if message.HasField("rated") else None,
        rating,
    )


class Settings(msgspec.Struct, frozen=True):
    """What a game is played under; the record's `settings`."""

    variant: str
    side: int
    blocks: Blocks
    givens: int
    claim_price: int
    highlight: bool
    rated: bool
    move_ms: int
    game_ms: int

    def to_proto(self) -> common_pb2.GameSettings:
        """For the cluster's services."""
        return common_pb2.GameSettings(**msgspec.structs.asdict(self))

    @classmethod
    def of(cls, message: common_pb2.GameSettings) -> "Settings":
        """From the cluster's services."""
        return cls(
            message.variant,
            message.side,
            "irregular" if message.blocks == "irregular" else "regular",
            message.givens,
            message.claim_price,
            message.highlight,
            message.rated,
            message.move_ms,
            message.game_ms,
        )


class Match(msgspec.Struct, frozen=True):
    """Two players taken for one game. `seeks` are what they sought with; an accepter and a rematch have none."""

    game: str
    room: str
    settings: Settings
    blue: Person
    red: Person
    seeks: tuple[StoredSeek, ...]
    how: Literal["pool", "accept", "rematch"]
    at: int


class Summary(msgspec.Struct, frozen=True):
    """A game as lists show it. The scripts read `version`, `status`, `room`, `started_at` and the players' ids."""

    game: str
    room: str
    settings: Settings
    blue: Person
    red: Person
    status: str
    started_at: int
    version: int

    def to_proto(self) -> common_pb2.GameSummary:
        """For the cluster's services."""
        return common_pb2.GameSummary(
            game=self.game,
            room=self.room,
            settings=self.settings.to_proto(),
            blue=self.blue.to_proto(),
            red=self.red.to_proto(),
            status=self.status,
            started_at=self.started_at,
            version=self.version,
        )

    @classmethod
    def of(cls, message: common_pb2.GameSummary) -> "Summary":
        """From the cluster's services."""
        return cls(
            message.game,
            message.room,
            Settings.of(message.settings),
            Person.of(message.blue),
            Person.of(message.red),
            message.status,
            message.started_at,
            message.version,
        )


class Mine(msgspec.Struct, frozen=True):
    """A player's open seeks by room, and the gateway whose lease they hang on."""

    g: str
    s: dict[str, str]


encode = msgspec.json.Encoder().encode
decode_seek = msgspec.json.Decoder(StoredSeek).decode
decode_match = msgspec.json.Decoder(Match).decode
decode_summary = msgspec.json.Decoder(Summary).decode
decode_seats = msgspec.json.Decoder(dict[str, tuple[str, int]]).decode
decode_mine = msgspec.json.Decoder(Mine).decode
