"""The rooms as the lobby needs them: limits for seeks, policy for matching, settings for tables."""

from dataclasses import dataclass

from lobby.matching.seek import Limits
from lobby.matching.settle import Settled
from lobby.matching.tolerance import Tolerance
from lobby.stored import Settings


@dataclass(frozen=True, slots=True)
class LobbyRoom:
    """One room."""

    id: str
    variant: str
    side: int
    claim_price: int
    move_ms: int
    game_ms: int
    limits: Limits
    tolerance: Tolerance
    public: bytes  # its entry of `GET /api/rooms` without waiting and playing

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


class LobbyRooms:
    """All rooms, in the order of the rooms file."""

    def __init__(self, rooms: tuple[LobbyRoom, ...]) -> None:
        self._rooms = {room.id: room for room in rooms}

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
    """The rooms of a file, or the club's own. Raises RuntimeError naming every problem of the file."""
    raise RuntimeError(path)
