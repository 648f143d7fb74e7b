"""The lobby and the ratings service of a gateway under test: they record what is asked and answer from a script."""

import msgspec

from numbridge import wire
from numbridge.errors import Reason, Rejected
from numbridge.tokens import Claims
from numbridge.v1 import common_pb2, lobby_pb2, ratings_pb2
from tests.unit.gateway.games import GAME


def a_seek(seek: str, room: str = "blitz", player: str = "p1") -> lobby_pb2.Seek:
    """An open seek."""
    return lobby_pb2.Seek(
        seek=seek,
        player=common_pb2.Player(id=player, name="Ada", rating=1500),
        wish=lobby_pb2.SeekWish(room=room, blocks="any", givens_min=7, givens_max=12),
        since=5,
    )


class Lobby:
    """The lobby service."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []
        self.refusal: Rejected | None = None
        self.fault: Exception | None = None
        self.open: dict[str, list[lobby_pb2.Seek]] = {"blitz": [], "bridge": []}
        self.marks: dict[str, tuple[str, int]] = {"blitz": ("r1", 0), "bridge": ("r1", 0)}
        self.greeting = lobby_pb2.GreetReply()
        self.kept = lobby_pb2.KeepGatewayReply(lease_ms=10_000)
        self.playing: list[common_pb2.GameSummary] = []
        self.over: set[str] = set()

    def _said(self, call: str, request: object = None) -> None:
        self.calls.append((call, request))
        if self.fault is not None:
            raise self.fault
        if self.refusal is not None:
            raise self.refusal

    def asked(self, call: str) -> list[object]:
        """Requests of one kind, in order."""
        return [request for name, request in self.calls if name == call]

    async def rooms(self) -> lobby_pb2.GetRoomsReply:
        self._said("rooms")
        return lobby_pb2.GetRoomsReply(
            rooms=[
                lobby_pb2.RoomNow(id=room, room=wire.encode({"id": room, "name": room}), waiting=len(seeks), playing=2)
                for room, seeks in self.open.items()
            ]
        )

    async def seeks(self, room: str) -> lobby_pb2.ListSeeksReply:
        self._said("seeks", room)
        if room and room not in self.open:
            raise Rejected(Reason.NOT_FOUND, "there is no such room")
        rooms = [room] if room else list(self.open)
        reply = lobby_pb2.ListSeeksReply(seeks=[seek for name in rooms for seek in self.open[name]])
        for name in rooms:
            run, seq = self.marks[name]
            reply.marks[name].run, reply.marks[name].seq = run, seq
        return reply

    async def post(self, request: lobby_pb2.PostSeekRequest) -> lobby_pb2.Seek:
        self._said("post", request)
        return lobby_pb2.Seek(seek=request.seek, player=request.player, wish=request.wish, since=9)

    async def cancel(self, request: lobby_pb2.CancelSeekRequest) -> None:
        self._said("cancel", request)

    async def accept(self, request: lobby_pb2.AcceptSeekRequest) -> str:
        self._said("accept", request)
        return GAME

    async def greet(self, request: lobby_pb2.GreetRequest) -> lobby_pb2.GreetReply:
        self._said("greet", request)
        return self.greeting

    async def set_presence(self, request: lobby_pb2.SetPresenceRequest) -> None:
        self._said("set_presence", request)

    async def keep(self, request: lobby_pb2.KeepGatewayRequest) -> lobby_pb2.KeepGatewayReply:
        self._said("keep", request)
        return self.kept

    async def games(self, room: str, limit: int) -> lobby_pb2.ListGamesReply:
        self._said("games", (room, limit))
        return lobby_pb2.ListGamesReply(games=self.playing)

    async def rematch(self, request: lobby_pb2.AskRematchRequest) -> bool:
        self._said("rematch", request)
        return False

    async def block(self, request: lobby_pb2.SetBlockRequest) -> None:
        self._said("block", request)

    async def end_game(self, game: str) -> bool:
        self._said("end_game", game)
        return game in self.over


class Ratings:
    """The ratings service."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.archive: dict[str, ratings_pb2.GetArchivedReply] = {}
        self.refusal: Rejected | None = None
        self.done: list[ratings_pb2.PutDeedRequest] = []
        self.standing: list[ratings_pb2.Restriction] = []

    def _said(self) -> None:
        if self.refusal is not None:
            raise self.refusal

    async def ensure_player(self, claims: Claims) -> None:
        self._said()
        self.known[claims.player] = claims.name

    async def player(self, player: str) -> ratings_pb2.GetPlayerReply:
        self._said()
        if player not in self.known:
            raise Rejected(Reason.NOT_FOUND, "there is no such player")
        rating = ratings_pb2.Rating(variant="blitz", rating=1510.5, deviation=80.25, volatility=0.06, games=3)
        return ratings_pb2.GetPlayerReply(id=player, name=self.known[player], ratings=[rating], won=2, lost=1)

    async def player_games(self, player: str, before: str, limit: int) -> ratings_pb2.ListPlayerGamesReply:
        self._said()
        opponent = common_pb2.Player(id="p2", name="Bob")
        game = ratings_pb2.PlayedGame(
            game=GAME, room="blitz", variant="blitz", opponent=opponent, color="red", result="blue", reason="time"
        )
        return ratings_pb2.ListPlayerGamesReply(games=[game] * min(limit, 2), next="" if before else "cursor")

    async def leaderboard(self, variant: str, limit: int) -> ratings_pb2.GetLeaderboardReply:
        self._said()
        if variant != "blitz":
            raise Rejected(Reason.BAD_MESSAGE, "no such variant")
        row = ratings_pb2.LeaderboardRow(rank=1, id="p1", name="Ada", rating=1600, deviation=60, games=9)
        return ratings_pb2.GetLeaderboardReply(players=[row][:limit])

    async def deed(self, request: ratings_pb2.PutDeedRequest) -> int:
        self._said()
        self.done.append(request)
        return len(self.done)

    async def deeds(self, before: int, limit: int) -> ratings_pb2.ListDeedsReply:
        self._said()
        rows = [
            ratings_pb2.Deed(
                id=number, at=5, actor=deed.actor, action=deed.action, subject=deed.subject, detail=deed.detail
            )
            for number, deed in enumerate(self.done, 1)
            if not before or number < before
        ]
        return ratings_pb2.ListDeedsReply(deeds=rows[::-1][:limit])

    async def restrictions(self) -> ratings_pb2.ListRestrictionsReply:
        self._said()
        return ratings_pb2.ListRestrictionsReply(restrictions=self.standing)

    async def archived(self, game: str) -> ratings_pb2.GetArchivedReply | None:
        self._said()
        return self.archive.get(game)


def an_end(game: str, blue: str, red: str, version: int = 9) -> ratings_pb2.GetArchivedReply:
    """A finished game in the archive."""
    summary = common_pb2.GameSummary(
        game=game, room="blitz", status="over", blue=common_pb2.Player(id=blue), red=common_pb2.Player(id=red)
    )
    return ratings_pb2.GetArchivedReply(
        record=b'{"format":"numbridge.record/1","archived":true}',
        final_view=msgspec.json.encode({"status": "over", "result": "blue"}),
        version=version,
        summary=summary,
        result="blue",
        reason="resign",
    )
