"""The ratings service over gRPC: questions that wait go out together, and answers are kept while nothing changes them.

A rating changes when a game of the player's ends, a block list when somebody
blocks; of both every replica hears by the stream of changes. What was not
heard ages out.
"""

import asyncio
from collections import deque

from grpc import StatusCode, aio

from lobby.adapters.cache import Cache
from lobby.stored import Summary
from numbridge import rpc
from numbridge.clock import monotonic
from numbridge.errors import Rejected, unavailable
from numbridge.settings import CommonSettings
from numbridge.v1 import ratings_pb2, ratings_pb2_grpc

_TIMEOUT_S = 2.0
_KEEP_S = 60.0
_SETTLING_S = 15.0  # after a game: so long its result may still be on its way into the rating
_MOST = 50_000  # entries of each cache; the least recently used go first
_MOST_ASKED = 100  # players in one call
_MOST_WAITING = 5_000  # questions; beyond, a caller is told to try again
_WARMING = 32  # block lists read ahead at the same time


class RatingsClient:
    """Raises Rejected(UNAVAILABLE) when the service does not answer in time: no rule is skipped for its sake.

    Reads wait for a service that is just coming back, within the same time.
    """

    def __init__(self, settings: CommonSettings, address: str) -> None:
        self._channel = rpc.channel(settings, address, "ratings")
        stub: ratings_pb2_grpc.RatingsAsyncStub = ratings_pb2_grpc.RatingsStub(self._channel)
        self._stub = stub
        self._ratings: Cache[int] = Cache(_MOST, _KEEP_S)
        self._avoids: Cache[frozenset[str]] = Cache(_MOST, _KEEP_S)
        self._variants: set[str] = set()  # that were asked for; there are three
        self._settling: dict[str, float] = {}
        self._waiting: dict[str, deque[tuple[str, asyncio.Future[int]]]] = {}
        self._askers: dict[str, asyncio.Task[None]] = {}
        self._warm = asyncio.Semaphore(_WARMING)

    async def rating(self, variant: str, player: str) -> int:
        """The player's rating, rounded."""
        self._variants.add(variant)
        if self._settling.get(player, 0.0) > monotonic():
            return await self._ask(variant, player)
        return await self._ratings.get(f"{variant}|{player}", lambda: self._ask(variant, player))

    async def _ask(self, variant: str, player: str) -> int:
        waiting = self._waiting.setdefault(variant, deque())
        if len(waiting) >= _MOST_WAITING:
            raise unavailable("the ratings")
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        waiting.append((player, future))
        if variant not in self._askers:
            self._askers[variant] = asyncio.create_task(self._answer(variant, waiting), name="ask_ratings")
        return await future

    async def _answer(self, variant: str, waiting: deque[tuple[str, asyncio.Future[int]]]) -> None:
        """One call at a time for each variant, for all who wait when it goes out."""
        try:
            while waiting:
                asked = [waiting.popleft() for _ in range(min(_MOST_ASKED, len(waiting)))]
                request = ratings_pb2.GetRatingsRequest(variant=variant, players={player for player, _ in asked})
                refused: Rejected | None = None
                try:
                    reply = await self._stub.GetRatings(request, timeout=_TIMEOUT_S, wait_for_ready=True)
                except aio.AioRpcError:
                    refused = unavailable("the ratings")
                for player, future in asked:
                    if future.done():
                        continue
                    if refused is not None:
                        future.set_exception(refused)
                    else:
                        future.set_result(round(reply.ratings[player].rating))
        finally:
            del self._askers[variant]
            while waiting:  # only if this task was cancelled
                waiting.popleft()[1].cancel()

    async def avoids(self, player: str) -> frozenset[str]:
        """Whom the player blocks or is blocked by."""

        async def load() -> frozenset[str]:
            try:
                reply = await self._stub.ListBlocks(
                    ratings_pb2.ListBlocksRequest(player=player), timeout=_TIMEOUT_S, wait_for_ready=True
                )
            except aio.AioRpcError:
                raise unavailable("the block lists") from None
            return frozenset((*reply.blocks, *reply.blocked_by))

        return await self._avoids.get(player, load)

    async def warm(self, player: str) -> None:
        """Reads ahead what a seek of the player's will need; skipped while enough is being read."""
        if self._warm.locked():
            return
        async with self._warm:
            try:
                await self.avoids(player)
            except Rejected:
                pass  # the seek itself will say so

    async def block(self, player: str, other: str, blocked: bool) -> None:
        """Writes or lifts a block."""
        request = ratings_pb2.PutBlockRequest(player=player, other=other, blocked=blocked)
        try:
            await self._stub.PutBlock(request, timeout=_TIMEOUT_S)
        except aio.AioRpcError as error:
            raise rpc.reason_of(error) from None
        self.forget_blocks(player)
        self.forget_blocks(other)

    def forget_blocks(self, player: str) -> None:
        """Reads this player's block list afresh next time."""
        self._avoids.drop(player)

    def game_over(self, player: str) -> None:
        """A game of this player's has ended: his ratings are about to change."""
        now = monotonic()
        if len(self._settling) >= _MOST:
            self._settling = {name: until for name, until in self._settling.items() if until > now}
        self._settling[player] = now + _SETTLING_S
        for variant in self._variants:
            self._ratings.drop(f"{variant}|{player}")

    def forget_all(self) -> None:
        """Some change was not heard."""
        self._avoids.clear()
        self._ratings.clear()

    async def restrictions(self) -> tuple[frozenset[str], dict[str, int]]:
        """Rooms closed for new seeks; players who may not seek, with the end of it."""
        try:
            reply = await self._stub.ListRestrictions(
                ratings_pb2.ListRestrictionsRequest(), timeout=_TIMEOUT_S, wait_for_ready=True
            )
        except aio.AioRpcError:
            raise unavailable("the ratings") from None
        closed = frozenset(one.subject for one in reply.restrictions if one.kind == "room")
        return closed, {one.subject: one.until for one in reply.restrictions if one.kind == "player"}

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
        for asker in list(self._askers.values()):
            asker.cancel()
        await self._channel.close(1.0)
