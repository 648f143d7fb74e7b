"""Moves on their way: measured until every player of the table who is simulated in this process has them."""


class Tables:
    """By game. Games are forgotten when their last player here leaves."""

    def __init__(self) -> None:
        self._players: dict[str, int] = {}
        self._moves: dict[str, tuple[int, float, int]] = {}
        """Version that the play was made at, when it was sent, how many have seen what follows."""

    def enter(self, game: str) -> None:
        """A player has come."""
        self._players[game] = self._players.get(game, 0) + 1

    def leave(self, game: str) -> None:
        """A player has gone."""
        self._players[game] = self._players.get(game, 1) - 1
        if self._players[game] <= 0:
            del self._players[game]
            self._moves.pop(game, None)

    def sent(self, game: str, version: int, at: float) -> None:
        """A play has been sent."""
        self._moves[game] = version, at, 0

    def seen(self, game: str, version: int, at: float) -> float | None:
        """Somebody has the move of `version`; seconds since its play was sent, once all have it."""
        move = self._moves.get(game)
        if move is None or version != move[0] + 1:
            return None
        seen = move[2] + 1
        self._moves[game] = move[0], move[1], seen
        return at - move[1] if seen == self._players.get(game, 1) else None


TABLES = Tables()
