"""The ratings service over gRPC."""

from grpc import aio

from gateway.adapters.calls import Calls
from numbridge.errors import Reason, Rejected
from numbridge.tokens import Claims
from numbridge.v1 import ratings_pb2 as pb
from numbridge.v1 import ratings_pb2_grpc


class RatingsClient:
    """Implements ports.Ratings."""

    def __init__(self, channel: aio.Channel, timeout_ms: int) -> None:
        self._stub = ratings_pb2_grpc.RatingsStub(channel)
        self._calls = Calls(timeout_ms)

    async def ensure_player(self, claims: Claims) -> None:
        request = pb.EnsurePlayerRequest(id=claims.player, name=claims.name, guest=claims.guest)
        await self._calls.safe(self._stub.EnsurePlayer, request)

    async def player(self, player: str) -> pb.GetPlayerReply:
        return await self._calls.safe(self._stub.GetPlayer, pb.GetPlayerRequest(id=player))

    async def player_games(self, player: str, before: str, limit: int) -> pb.ListPlayerGamesReply:
        request = pb.ListPlayerGamesRequest(id=player, before=before, limit=limit)
        return await self._calls.safe(self._stub.ListPlayerGames, request)

    async def leaderboard(self, variant: str, limit: int) -> pb.GetLeaderboardReply:
        request = pb.GetLeaderboardRequest(variant=variant, limit=limit)
        return await self._calls.safe(self._stub.GetLeaderboard, request)

    async def deed(self, request: pb.PutDeedRequest) -> int:
        return (await self._calls.once(self._stub.PutDeed, request)).id

    async def deeds(self, before: int, limit: int) -> pb.ListDeedsReply:
        return await self._calls.safe(self._stub.ListDeeds, pb.ListDeedsRequest(before=before, limit=limit))

    async def restrictions(self) -> pb.ListRestrictionsReply:
        return await self._calls.safe(self._stub.ListRestrictions, pb.ListRestrictionsRequest())

    async def archived(self, game: str) -> pb.GetArchivedReply | None:
        try:
            return await self._calls.safe(self._stub.GetArchived, pb.GetArchivedRequest(game=game))
        except Rejected as rejected:
            if rejected.reason is Reason.NOT_FOUND:
                return None
            raise
