"""A seek, and the way from what a client asks for to what a room allows.

BadSeek   the wish lies outside of the room's limits
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

Blocks = Literal["regular", "irregular"]


class Span(NamedTuple):
    """A closed range of whole numbers."""

    lo: int
    hi: int

    def overlap(self, other: "Span") -> "Span | None":
        """What both hold, or None."""
        lo, hi = max(self.lo, other.lo), min(self.hi, other.hi)
        return Span(lo, hi) if lo <= hi else None

    def __str__(self) -> str:
        return str(self.lo) if self.lo == self.hi else f"{self.lo} to {self.hi}"


class BadSeek(ValueError):
    """A wish that the room cannot grant; `field` is the seek's field, the text a sentence."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Limits:
    """What a room allows. A span of None: such blocks cannot be had at all."""

    regular: Span | None
    irregular: Span | None
    default: int  # givens of a game whose players do not mind
    highlight: bool
    rated: bool

    @property
    def givens(self) -> Span:
        """Every number of givens that some layout allows."""
        spans = [span for span in (self.regular, self.irregular) if span is not None]
        return Span(min(span.lo for span in spans), max(span.hi for span in spans))

    def span(self, blocks: Blocks) -> Span | None:
        """Numbers of givens that can be had with such blocks."""
        return self.regular if blocks == "regular" else self.irregular


@dataclass(frozen=True, slots=True)
class Wish:
    """What a player looks for. None means any."""

    blocks: Blocks | None = None
    givens: Span | None = None
    highlight: bool | None = None
    rated: bool | None = None
    rating: Span | None = None  # of the opponent


@dataclass(frozen=True, slots=True)
class Profile:
    """The choices of a seek, apart from ratings and persons. Seeks of equal profile match alike."""

    regular: Span | None  # givens acceptable with regular blocks
    irregular: Span | None
    highlight: bool | None
    rated: bool | None


@dataclass(frozen=True, slots=True)
class Seek:
    """An open seek, its wish normalised."""

    id: str
    player: str
    room: str
    profile: Profile
    rating: int  # the player's own, in the room's variant
    want: Span | None  # ratings the opponent may have; None: whoever the tolerance lets in
    since: int  # milliseconds; age for preference and tolerance
    avoid: frozenset[str] = frozenset()  # players blocked, or blocking, in either direction
    last: str | None = None  # opponent of the player's latest game


def normalise(wish: Wish, limits: Limits) -> Wish:
    """The wish with the room's limits filled in: `givens` is set, `highlight` and `rated` are False where the
    room has none, and what no deal can grant is taken away. Raises BadSeek."""
    blocks, givens = _layout(wish, limits)
    return Wish(
        blocks,
        givens,
        _switch("highlight", wish.highlight, limits.highlight, "candidate highlighting is not allowed in this room"),
        _switch("rated", wish.rated, limits.rated, "games in this room are not rated"),
        _rating(wish.rating),
    )


def profile(wish: Wish, limits: Limits) -> Profile:
    """The choices of a normalised wish."""
    givens = wish.givens or limits.givens

    def acceptable(blocks: Blocks) -> Span | None:
        span = limits.span(blocks)
        return None if span is None or wish.blocks not in (None, blocks) else span.overlap(givens)

    return Profile(acceptable("regular"), acceptable("irregular"), wish.highlight, wish.rated)


def _layout(wish: Wish, limits: Limits) -> tuple[Blocks | None, Span]:
    room = limits.givens
    asked = wish.givens or room
    if asked.lo > asked.hi:
        raise BadSeek("givens", f"`givens` runs from {asked.lo} down to {asked.hi}; this room allows {room}")
    if asked.lo < room.lo or asked.hi > room.hi:
        raise BadSeek("givens", f"`givens` {asked} is outside of this room's limits, {room}")
    if wish.blocks is not None:
        span = limits.span(wish.blocks)
        if span is None:
            raise BadSeek("blocks", f"`blocks` {wish.blocks} cannot be had in this room")
        got = span.overlap(asked)
        if got is None:
            raise BadSeek("givens", _impossible(wish.blocks, asked, span, limits))
        return wish.blocks, got
    # A wish that leaves blocks open gets those that can be had with its givens.
    can: list[tuple[Blocks, Span]] = []
    for blocks in ("regular", "irregular"):
        span = limits.span(blocks)
        if span is not None and (got := span.overlap(asked)) is not None:
            can.append((blocks, got))
    if not can:
        raise BadSeek("givens", f"`givens` {asked} is outside of this room's limits, {room}")
    return can[0] if len(can) == 1 else (None, asked)


def _impossible(blocks: Blocks, asked: Span, span: Span, limits: Limits) -> str:
    what = f"`givens` {asked} cannot be had with {blocks} blocks"
    if asked.hi < span.lo and limits.givens.lo < span.lo:
        return f"{what}: no such field has exactly one solution; this room allows {span} with {blocks} blocks"
    return f"{what}; this room allows {span} with them"


def _switch(field: str, wanted: bool | None, allowed: bool, why: str) -> bool | None:
    if allowed:
        return wanted
    if wanted:
        raise BadSeek(field, f"`{field}` cannot be true: {why}")
    return False


def _rating(wanted: Span | None) -> Span | None:
    if wanted is not None and wanted.lo > wanted.hi:
        raise BadSeek("rating", f"`rating` runs from {wanted.lo} down to {wanted.hi}; give the lower number first")
    return wanted
