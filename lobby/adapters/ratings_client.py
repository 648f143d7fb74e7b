"""The ratings service over gRPC, with short bounded caches."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from grpc import StatusCode, aio

from lobby.stored import Summary
from numbridge import rpc
from numbridge.clock import monotonic
from numbridge.errors import unavailable
from numbridge.settings import CommonSettings
from numbridge.v1 import ratings_pb2, ratings_pb2_grpc

_TIMEOUT_S = 2.0
_RATING_S = 5.0  # a rating changes when a game ends, and its player then has this long until it shows in a seek
_BLOCKS_S = 30.0  # blocks made through any replica are told at once; this heals what was not heard
_MOST = 20_000  # entries of each cache; the least recently used go first

V = TypeVar("V")


class Cache(Generic[V]):
    """Values by key for a limited time, least recently used out first."""

    def __init__(self, most: int, keep_s: float, clock: Callable[[], float] = monotonic) -> None:
        self._most = most
        self._keep = keep_s
        self._clock = clock
        self._held: OrderedDict[str, tuple[float, V]] = OrderedDict()
        self._drops = 0

    def __len__(self) -> int:
        return len(self._held)

    def drop(self, key: str) -> None:
        """Forgets a key, also one that is being loaded just now."""
        self._drops += 1
        self._held.pop(key, None)

    async def get(self, key: str, load: Callable[[], Awaitable[V]]) -> V:
        """The value, loaded if there is no fresh one. What `load` raises goes on to the caller."""
        held = self._held.get(key)
        if held is not None and self._clock() - held[0] < self._keep:
            self._held.move_to_end(key)
            return held[1]
        at, drops = self._clock(), self._drops
        value = await load()
        if drops != self._drops:
            return value  # it may be older than what was dropped
        self._held[key] = (at, value)
        self._held.move_to_end(key)
        while len(self._held) > self._most:
            self._held.popitem(last=False)
        return value


class RatingsClient:
    """Raises Rejected(UNAVAILABLE) when the service does not answer in time: no rule is skipped for its sake."""

    def __init__(self, settings: CommonSettings, address: str) -> None:
        self._channel = rpc.channel(settings, address)
        stub: ratings_pb2_grpc.RatingsAsyncStub = ratings_pb2_grpc.RatingsStub(self._channel)
        self._stub = stub
        self._ratings: Cache[int] = Cache(_MOST, _RATING_S)
        self._avoids: Cache[frozenset[str]] = Cache(_MOST, _BLOCKS_S)

    async def rating(self, variant: str, player: str) -> int:
        """The player's rating, rounded."""

        async def load() -> int:
            request = ratings_pb2.GetRatingsRequest(variant=variant, players=[player])
            try:
                reply = await self._stub.GetRatings(request, timeout=_TIMEOUT_S)
            except aio.AioRpcError:
                raise unavailable("the ratings") from None
            return round(reply.ratings[player].rating)

        return await self._ratings.get(f"{variant}|{player}", load)

    async def avoids(self, player: str) -> frozenset[str]:
        """Whom the player blocks or is blocked by."""

        async def load() -> frozenset[str]:
            try:
                reply = await self._stub.ListBlocks(ratings_pb2.ListBlocksRequest(player=player), timeout=_TIMEOUT_S)
            except aio.AioRpcError:
                raise unavailable("the block lists") from None
            return frozenset((*reply.blocks, *reply.blocked_by))

        return await self._avoids.get(player, load)

    async def block(self, player: str, other: str, blocked: bool) -> None:
        """Writes or lifts a block."""
        request = ratings_pb2.PutBlockRequest(player=player, other=other, blocked=blocked)
        try:
            await self._stub.PutBlock(request, timeout=_TIMEOUT_S)
        except aio.AioRpcError as error:
            raise rpc.reason_of(error) from None
        self.forget(player)
        self.forget(other)

    def forget(self, player: str) -> None:
        """Reads this player's block list afresh next time."""
        self._avoids.drop(player)

    async def finished(self, game: str) -> Summary | None:
        """A finished game of the archive."""
        try:
            reply = await self._stub.GetArchived(ratings_pb2.GetArchivedRequest(game=game), timeout=_TIMEOUT_S)
        except aio.AioRpcError as error:
            if error.code() is StatusCode.NOT_FOUND:
                return None
            raise unavailable("the archive") from None
        return Summary.of(reply.summary)

    async def close(self) -> None:
        """Closes the channel."""
        await self._channel.close(1.0)
