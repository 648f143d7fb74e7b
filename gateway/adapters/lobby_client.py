"""The lobby over gRPC."""

from collections.abc import Sequence

from grpc import aio

from gateway.adapters.calls import Calls, checked
from numbridge.errors import unavailable
from numbridge.together import Together, TooMany
from numbridge.v1 import lobby_pb2 as pb
from numbridge.v1 import lobby_pb2_grpc


class LobbyClient:
    """Implements ports.Lobby."""

    def __init__(self, channel: aio.Channel, timeout_ms: int) -> None:
        self._stub = lobby_pb2_grpc.LobbyStub(channel)
        self._calls = Calls(timeout_ms)
        self._posts: Together[pb.PostSeekRequest, pb.PostSeekReply] = Together(
            self._post, most=50, in_flight=4, waiting=5_000
        )

    async def rooms(self) -> pb.GetRoomsReply:
        return await self._calls.safe(self._stub.GetRooms, pb.GetRoomsRequest())

    async def seeks(self, room: str) -> pb.ListSeeksReply:
        reply = await self._calls.safe(self._stub.ListSeeks, pb.ListSeeksRequest(room=room))
        checked(reply)
        return reply

    async def post(self, request: pb.PostSeekRequest) -> pb.Seek:
        try:
            reply = await self._posts.ask(request)
        except TooMany:
            raise unavailable("the lobby") from None
        checked(reply)
        return reply.seek

    async def _post(self, seeks: Sequence[pb.PostSeekRequest]) -> Sequence[pb.PostSeekReply]:
        return (await self._calls.safe(self._stub.PostSeeks, pb.PostSeeksRequest(seeks=seeks))).replies

    async def cancel(self, request: pb.CancelSeekRequest) -> None:
        checked(await self._calls.once(self._stub.CancelSeek, request))

    async def accept(self, request: pb.AcceptSeekRequest) -> str:
        reply = await self._calls.once(self._stub.AcceptSeek, request)
        checked(reply)
        return reply.game

    async def greet(self, request: pb.GreetRequest) -> pb.GreetReply:
        return await self._calls.safe(self._stub.Greet, request)

    async def set_presence(self, request: pb.SetPresenceRequest) -> None:
        await self._calls.safe(self._stub.SetPresence, request)

    async def keep(self, request: pb.KeepGatewayRequest) -> pb.KeepGatewayReply:
        return await self._calls.once(self._stub.KeepGateway, request)

    async def games(self, room: str, limit: int) -> pb.ListGamesReply:
        reply = await self._calls.safe(self._stub.ListGames, pb.ListGamesRequest(room=room, limit=limit))
        checked(reply)
        return reply

    async def rematch(self, request: pb.AskRematchRequest) -> bool:
        reply = await self._calls.safe(self._stub.AskRematch, request)
        checked(reply)
        return reply.agreed

    async def end_game(self, game: str) -> bool:
        reply = await self._calls.safe(self._stub.EndGame, pb.EndGameRequest(game=game))
        checked(reply)
        return reply.was_over

    async def block(self, request: pb.SetBlockRequest) -> None:
        checked(await self._calls.safe(self._stub.SetBlock, request))
