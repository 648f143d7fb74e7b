"""Shapes of the ratings service, free of SQL and protobuf.

Times are milliseconds since the epoch. Colours, results, reasons and variants are the words of the
client protocol.
"""

from dataclasses import dataclass

from ratings.model.rules import Change, Standing

# Settings of a game under the names of the record's `settings`.
Settings = dict[str, str | int | bool]


@dataclass(frozen=True, slots=True)
class Seated:
    """A player as seated in a game: the name and the rounded rating of that day."""

    id: str
    name: str
    rating: int | None


@dataclass(frozen=True, slots=True)
class GameHead:
    """A finished game without its moves."""

    game: str
    room: str
    variant: str
    settings: Settings
    blue: Seated
    red: Seated
    rated: bool
    result: str
    reason: str
    started_at: int
    ended_at: int
    version: int


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A finished game whole: `record` and `final_view` are JSON text."""

    head: GameHead
    record: bytes
    final_view: bytes


@dataclass(frozen=True, slots=True)
class Recorded:
    """A game is in SQL: `fresh` if this call put it there; the changes if it counted for ratings."""

    fresh: bool
    blue: Change | None
    red: Change | None


@dataclass(frozen=True, slots=True)
class Profile:
    """A player, the standings by variant (those with a rated game), and games of all kinds."""

    id: str
    name: str
    standings: dict[str, Standing]
    won: int
    lost: int
    drawn: int


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A finished game from one player's side. `opponent.name` is the present one."""

    game: str
    room: str
    variant: str
    opponent: Seated
    color: str
    result: str
    reason: str
    ended_at: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """A player on a leaderboard."""

    id: str
    name: str
    standing: Standing


@dataclass(frozen=True, slots=True)
class Score:
    """What a board needs to know of a player; `games` only grows and so orders updates."""

    id: str
    rating: float
    games: int


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that an operator does."""

    at: int
    actor: str
    action: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class Restriction:
    """A room closed for new seeks, or a player who may not seek; until then, None: until it is lifted."""

    kind: str
    subject: str
    until: int | None


@dataclass(frozen=True, slots=True)
class Blocks:
    """Whom a player blocks, and who blocks the player."""

    blocks: list[str]
    blocked_by: list[str]
