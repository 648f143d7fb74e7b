"""Leaderboards: ranks from the cache where it is whole, from SQL where it is not; the numbers always from SQL."""

import structlog

from numbridge.clock import monotonic
from numbridge.tasks import Tasks
from ratings.domain import Ranked, Score
from ratings.metrics import Metrics
from ratings.ports import Board, BoardAway, Library, StoreAway

log = structlog.get_logger("numbridge.ratings")

AWAY_S = 3.0  # after a failure the cache is left alone for this long, so that nobody waits for it again and again
BUILD_EVERY_S = 5.0  # a variant's board is built at most this often
PAGE = 1_000


class Leaderboards:
    """All variants' boards."""

    def __init__(self, library: Library, board: Board, tasks: Tasks, metrics: Metrics) -> None:
        self._library = library
        self._board = board
        self._tasks = tasks
        self._metrics = metrics
        self._away_until = 0.0
        self._missed: set[str] = set()  # variants whose board lacks an update
        self._built_at: dict[str, float] = {}

    async def changed(self, variant: str, scores: list[Score]) -> None:
        """Writes new scores; if the cache is away, the board is built again later."""
        if not scores:
            return
        try:
            await self._usable(variant)
            await self._board.put(variant, scores)
        except BoardAway as error:
            self._missed.add(variant)
            self._miss(error)

    async def best(self, variant: str, limit: int) -> list[Ranked]:
        """The best of a variant, ties by id. Raises StoreAway."""
        try:
            await self._usable(variant)
            ids = await self._board.top(variant, limit)
        except BoardAway as error:
            self._miss(error)
            return await self._library.best(variant, limit)
        if ids is None:
            self._start_build(variant)
            return await self._library.best(variant, limit)
        return await self._library.ranked(variant, ids)

    async def _usable(self, variant: str) -> None:
        """Raises BoardAway while the cache rests; drops a board that has missed an update."""
        if monotonic() < self._away_until:
            raise BoardAway("left alone after a failure")
        if variant in self._missed:
            await self._board.forget(variant)
            self._missed.discard(variant)

    def _miss(self, error: BoardAway) -> None:
        self._metrics.board_missed()
        if monotonic() >= self._away_until:
            log.warning("board_away", error=str(error))
            self._away_until = monotonic() + AWAY_S

    def _start_build(self, variant: str) -> None:
        last = self._built_at.get(variant)
        if last is not None and monotonic() - last < BUILD_EVERY_S:
            return
        self._built_at[variant] = monotonic()
        self._tasks.spawn(self._build(variant), "build_board")

    async def _build(self, variant: str) -> None:
        """Puts everybody, page by page; who is rated meanwhile puts himself, and the newer score stays."""
        after = ""
        try:
            mark = await self._board.begin(variant)
            while scores := await self._library.scores(variant, after, PAGE):
                await self._board.put(variant, scores)
                after = scores[-1].id
            whole = await self._board.complete(variant, mark)
        except (BoardAway, StoreAway) as error:
            log.warning("board_not_built", variant=variant, error=str(error))
            return
        if whole:
            self._metrics.board_built()
            log.info("board_built", variant=variant)
