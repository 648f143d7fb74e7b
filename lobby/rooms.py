"""The rooms as the lobby needs them: limits for seeks, policy for matching, settings for tables."""

from dataclasses import dataclass
from functools import lru_cache

import msgspec

from lobby.matching.refit import refit
from lobby.matching.seek import Blocks, Limits, Span, Wish
from lobby.matching.settle import Settled
from lobby.matching.tolerance import Tolerance
from lobby.stored import Settings, StoredSeek
from numbridge.ids import GUEST_PREFIX
from numbridge.rooms import Room, RoomsError, givens_limits, load
from numbridge.wire import encode


@dataclass(frozen=True, slots=True)
class LobbyRoom:
    """One room."""

    id: str
    variant: str
    side: int
    claim_price: int
    move_ms: int
    game_ms: int
    guests: bool  # whether players without an account may seek here
    limits: Limits
    tolerance: Tolerance
    public: bytes  # its entry of `GET /api/rooms` without waiting and playing

    def admits(self, player: str) -> bool:
        """Whether this player may seek here."""
        return self.guests or not player.startswith(GUEST_PREFIX)

    def refit(self, seek: StoredSeek) -> StoredSeek | None:
        """An open seek as this room allows it, which may have changed since it was posted; None: not at all."""
        asked = (seek.blocks, seek.givens, seek.highlight, seek.rated)
        kept = _kept(asked, self.limits)
        if kept is None or not self.admits(seek.player):
            return None
        if kept == asked:
            return seek
        blocks, givens, highlight, rated = kept
        return msgspec.structs.replace(seek, blocks=blocks, givens=givens, highlight=highlight, rated=rated)

    def settings(self, settled: Settled) -> Settings:
        """The settings of a game with what the players have chosen."""
        return Settings(
            variant=self.variant,
            side=self.side,
            blocks=settled.blocks,
            givens=settled.givens,
            claim_price=self.claim_price,
            highlight=settled.highlight,
            rated=settled.rated,
            move_ms=self.move_ms,
            game_ms=self.game_ms,
        )


_Choices = tuple[Blocks | None, tuple[int, int], bool | None, bool | None]


@lru_cache(maxsize=4_096)  # there are few that anybody asks for
def _kept(asked: _Choices, limits: Limits) -> _Choices | None:
    blocks, givens, highlight, rated = asked
    wish = refit(Wish(blocks, Span(*givens), highlight, rated), limits)
    if wish is None or wish.givens is None:
        return None
    return wish.blocks, (wish.givens.lo, wish.givens.hi), wish.highlight, wish.rated


@dataclass(frozen=True, slots=True)
class Difference:
    """What another rooms file changes."""

    gone: frozenset[str]  # rooms whose seeks have nowhere to go: taken out, or another variant's now
    changed: frozenset[str]  # rooms that stay, with something about them different


class LobbyRooms:
    """All rooms, in the order of the rooms file. The rooms file may be read again while the lobby runs."""

    def __init__(self, rooms: tuple[LobbyRoom, ...]) -> None:
        self._rooms = {room.id: room for room in rooms}

    def become(self, others: "LobbyRooms") -> Difference:
        """Takes on other rooms, all at once."""
        before, self._rooms = self._rooms, dict(others._rooms)
        after = self._rooms
        gone = {room for room in before if room not in after or after[room].variant != before[room].variant}
        changed = {room for room in before.keys() - gone if before[room] != after[room]}
        return Difference(frozenset(gone), frozenset(changed))

    def get(self, room: str) -> LobbyRoom | None:
        """The room, if there is one."""
        return self._rooms.get(room)

    @property
    def all(self) -> list[LobbyRoom]:
        """Every room."""
        return list(self._rooms.values())

    @property
    def ids(self) -> list[str]:
        """Every room's id."""
        return list(self._rooms)


def load_rooms(path: str) -> LobbyRooms:
    """The rooms of a file, or the club's own. Raises RuntimeError naming every problem of the file, or OSError."""
    try:
        return read_rooms(path)
    except RoomsError as error:
        raise RuntimeError(f"{path}: " + "; ".join(error.problems)) from None


def read_rooms(path: str) -> LobbyRooms:
    """The same. Raises RoomsError, or OSError."""
    return LobbyRooms(tuple(_room(room) for room in load(path or None)))


def _room(room: Room) -> LobbyRoom:
    limits = Limits(_span(room, "regular"), _span(room, "irregular"), room.givens.default, room.highlight, room.rated)
    tolerance = Tolerance(room.tolerance_start, room.tolerance_per_s, room.tolerance_max)
    return LobbyRoom(
        id=room.id,
        variant=room.variant,
        side=room.side,
        claim_price=room.claim_price,
        move_ms=room.move_ms,
        game_ms=room.game_ms,
        guests=room.guests,
        limits=limits,
        tolerance=tolerance,
        public=encode(room.to_json()),
    )


def _span(room: Room, blocks: str) -> Span | None:
    low, high = givens_limits(room, blocks)
    return Span(low, high) if low <= high else None
