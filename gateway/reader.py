"""Games as anybody may read them: from the worker while it holds them, from the archive afterwards."""

import msgspec

from gateway.ports import Ratings
from gateway.session.effects import Archived
from gateway.tables import Tables, not_found
from numbridge import wire
from numbridge.errors import Reason, Rejected
from numbridge.v1 import ratings_pb2
from numbridge.v1 import table_pb2 as pb

READ_DEADLINE_S = 5.0  # an HTTP reader is told to come back sooner than a player at the table


class _State(msgspec.Struct):
    game: str
    version: int
    view: msgspec.Raw


_state = msgspec.json.Decoder(_State)
_view = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Reader:
    """Reads games."""

    def __init__(self, tables: Tables, ratings: Ratings) -> None:
        self._tables = tables
        self._ratings = ratings

    async def public_view(self, game: str) -> bytes:
        """`{game, version, view}` as a spectator sees it, JSON text. Rejected: not_found, unavailable."""
        try:
            command = pb.Command(game=game, join=pb.Join(arrive=False))
            answer = await self._tables.ask(command, READ_DEADLINE_S)
        except Rejected as rejected:
            if rejected.reason is not Reason.NOT_FOUND:
                raise
            found = await self._archived(game)
            return wire.encode({"game": game, "version": found.version, "view": msgspec.Raw(found.final_view)})
        state = _state.decode(answer.joined.state)
        return wire.encode({"game": state.game, "version": state.version, "view": state.view})

    async def record(self, game: str) -> bytes:
        """The record of a finished game, JSON text. Raises InProgress, or Rejected: not_found, unavailable."""
        found = await self._find(game)
        if found is not None:
            return found.record
        try:
            seat = await self._tables.ask(pb.Command(game=game, look=pb.Look()), READ_DEADLINE_S)
            if seat.seat.status != "over":
                raise InProgress
            answer = await self._tables.ask(pb.Command(game=game, record=pb.GetRecord()), READ_DEADLINE_S)
        except Rejected as rejected:
            if rejected.reason is not Reason.NOT_FOUND:
                raise
            return (await self._archived(game)).record  # it was archived and let go in between
        return answer.record

    async def archived_state(self, game: str, player: str) -> Archived:
        """A finished game's end as a `state` event for `player`. Rejected: not_found, unavailable."""
        found = await self._archived(game)
        view = msgspec.Raw(found.final_view)
        seat = _seat(found, player)
        if seat is not None:
            fields = _view.decode(found.final_view)
            fields["you"] = msgspec.Raw(wire.encode(seat))
            view = msgspec.Raw(wire.encode(fields))
        return Archived(found.version, wire.event("state", game=game, version=found.version, view=view))

    async def refuse_finished(self, game: str, player: str) -> None:
        """Raises what a play at a table that no worker holds is refused with: over, forbidden or not_found."""
        found = await self._archived(game)
        if _seat(found, player) is None:
            raise Rejected(Reason.FORBIDDEN, "you are not a player of this game")
        raise Rejected(Reason.OVER, "the game is over")

    async def _archived(self, game: str) -> ratings_pb2.GetArchivedReply:
        found = await self._find(game)
        if found is None:
            raise not_found()
        return found

    async def _find(self, game: str) -> ratings_pb2.GetArchivedReply | None:
        self._tables.shard(game)  # anything but a game's id is refused without asking
        return await self._ratings.archived(game)


class InProgress(Exception):
    """The game's record is asked for before the game is over."""


def _seat(found: ratings_pb2.GetArchivedReply, player: str) -> str | None:
    if player and player == found.summary.blue.id:
        return "blue"
    if player and player == found.summary.red.id:
        return "red"
    return None
