"""`ports.Board` on Redis: a sorted set a variant, and a hash that orders updates.

Both keys of a variant share a hash tag. They live BOARD_S at most from the moment the board is complete;
then it is built from SQL again, so that nothing a lost update left behind lasts longer.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from redis.asyncio import Redis

from numbridge import names, redis_io
from numbridge.ids import random_token
from ratings.domain import Score
from ratings.ports import BoardAway

BOARD_S = 900
_CHUNK = 250  # scores a call: a script holds up everybody else


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (redis_io.RedisError, OSError) as error:
        raise BoardAway(f"{type(error).__name__}: {error}") from error


def _keys(variant: str) -> tuple[str, str]:
    board = names.board_key(variant)
    return board, f"{{{board}}}:known"


class RedisBoard:
    """Leaderboards of all variants. Every method raises BoardAway."""

    def __init__(self, client: "Redis") -> None:
        self._client = client
        self._put = redis_io.script(client, "ratings", "put_scores-2")
        self._complete = redis_io.script(client, "ratings", "complete_board-2")

    async def put(self, variant: str, scores: list[Score]) -> None:
        """Writes scores, each unless a newer one is there."""
        with _translated():
            for start in range(0, len(scores), _CHUNK):
                chunk = scores[start : start + _CHUNK]
                arguments: list[str | int | float] = [len(chunk)]
                for score in chunk:
                    arguments += (score.id, repr(-score.rating), score.games)
                await self._put(keys=_keys(variant), args=arguments)

    async def begin(self, variant: str) -> str:
        """Leaves a mark that goes with whatever the server forgets."""
        mark = random_token()
        with _translated():
            await self._client.hset(_keys(variant)[1], f"m:{mark}", "1")
        return mark

    async def complete(self, variant: str, mark: str) -> bool:
        """Says that every player of the variant has been put since `begin`, unless the mark has gone."""
        with _translated():
            return bool(await self._complete(keys=_keys(variant), args=[mark, BOARD_S]))

    async def top(self, variant: str, limit: int) -> list[str] | None:
        """Ids, best first; None while the board is not complete."""
        board, known = _keys(variant)
        with _translated():
            async with self._client.pipeline(transaction=True) as pipe:
                pipe.hget(known, "complete")
                pipe.zrange(board, 0, limit - 1)
                complete, ids = await pipe.execute()
        return [player.decode() for player in ids] if complete and ids else None

    async def forget(self, variant: str) -> None:
        """Drops the board."""
        with _translated():
            await self._client.delete(*_keys(variant))
