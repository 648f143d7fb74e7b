"""One unary call: bounded in time, its failures as Rejected."""

from collections.abc import Awaitable
from typing import Protocol, TypeVar

from grpc import aio

from numbridge.errors import Rejected, from_proto
from numbridge.rpc import reason_of
from numbridge.v1 import lobby_pb2 as pb

Reply = TypeVar("Reply")
Request_contra = TypeVar("Request_contra", contravariant=True)
Reply_co = TypeVar("Reply_co", covariant=True)


class Method(Protocol[Request_contra, Reply_co]):
    """A stub's method."""

    def __call__(self, request: Request_contra, *, timeout: float | None = None) -> Awaitable[Reply_co]: ...


class Calls:
    """Calls of one service."""

    def __init__(self, timeout_ms: int, retries: int = 1) -> None:
        self._timeout_s = timeout_ms / 1000
        self._retries = retries

    async def once(self, method: Method[Request_contra, Reply_co], request: Request_contra) -> Reply_co:
        """One try. Raises Rejected."""
        try:
            return await method(request, timeout=self._timeout_s)
        except aio.AioRpcError as error:
            raise reason_of(error) from error

    async def safe(self, method: Method[Request_contra, Reply_co], request: Request_contra) -> Reply_co:
        """A call that may be repeated: tried again (on another replica, if there is one) when the first is away."""
        for _ in range(self._retries):
            try:
                return await self.once(method, request)
            except Rejected as rejected:
                if rejected.reason != "unavailable":
                    raise
        return await self.once(method, request)


Refusable = (
    pb.ListSeeksReply
    | pb.PostSeekReply
    | pb.CancelSeekReply
    | pb.AcceptSeekReply
    | pb.ListGamesReply
    | pb.AskRematchReply
    | pb.SetBlockReply
    | pb.EndGameReply
)


def checked(reply: Refusable) -> None:
    """Raises Rejected if the reply carries a refusal."""
    if reply.HasField("reject"):
        raise from_proto(reply.reject)
