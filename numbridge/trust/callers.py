"""Which service may make which gRPC call. In force where services show certificates (mutual TLS).

The common name of a caller's certificate is its role. A call that is in no list is nobody's: a new call is shut
until somebody says whose it is.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import grpc
from grpc import aio

_GATEWAY, _LOBBY, _OPERATOR = "gateway", "lobby", "operator"

_MAY: Mapping[str, Mapping[str, frozenset[str]]] = {
    "numbridge.v1.Tables": {
        "Link": frozenset({_GATEWAY}),
        **dict.fromkeys(("CreateTable", "CreateTables", "GetTable", "EndTable"), frozenset({_LOBBY})),
        **dict.fromkeys(("GetWorker", "Drain"), frozenset({_OPERATOR})),
    },
    "numbridge.v1.Lobby": {
        **dict.fromkeys(
            (
                "GetRooms", "ListSeeks", "PostSeek", "PostSeeks", "CancelSeek", "AcceptSeek", "Greet", "SetPresence",
                "KeepGateway", "ListGames", "AskRematch", "SetBlock", "EndGame",
            ),
            frozenset({_GATEWAY}),
        ),
        "GetLobby": frozenset({_OPERATOR}),
    },
    "numbridge.v1.Ratings": {
        **dict.fromkeys(
            ("EnsurePlayer", "GetPlayer", "ListPlayerGames", "GetLeaderboard", "PutDeed", "ListDeeds"),
            frozenset({_GATEWAY}),
        ),
        **dict.fromkeys(("GetRatings", "ListBlocks", "PutBlock"), frozenset({_LOBBY})),
        **dict.fromkeys(("GetArchived", "ListRestrictions"), frozenset({_GATEWAY, _LOBBY})),
        "GetBacklog": frozenset({_OPERATOR}),
    },
}  # fmt: skip


def may(role: str, method: str) -> bool:
    """Whether `role` may call `method` (/package.Service/Method). Health and reflection are anybody's with a name."""
    _, service, name = method.split("/")
    if not service.startswith("numbridge."):
        return True
    return role in _MAY.get(service, {}).get(name, frozenset())


class Callers(aio.ServerInterceptor):  # type: ignore[type-arg]
    """Refuses calls that are not the caller's to make."""

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any) -> Any:
        """See aio.ServerInterceptor."""
        handler, method = await continuation(handler_call_details), handler_call_details.method
        if handler is None:
            return None
        if handler.unary_unary is not None:

            async def one(request: Any, context: Any) -> Any:
                await _check(context, method)
                return await handler.unary_unary(request, context)

            return grpc.unary_unary_rpc_method_handler(one, handler.request_deserializer, handler.response_serializer)
        if handler.stream_stream is not None and method == "/numbridge.v1.Tables/Link":

            async def stream(requests: Any, context: Any) -> AsyncIterator[Any]:
                await _check(context, method)
                async for answer in handler.stream_stream(requests, context):
                    yield answer

            return grpc.stream_stream_rpc_method_handler(
                stream, handler.request_deserializer, handler.response_serializer
            )
        return handler


async def _check(context: Any, method: str) -> None:
    names = context.auth_context().get("x509_common_name", ())
    role = names[0].decode() if names else ""
    if not may(role, method):
        await context.abort(grpc.StatusCode.PERMISSION_DENIED, f"{role or 'nobody'} may not call {method}")
