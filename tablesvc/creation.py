"""Making tables: idempotent by game id, and never half.

A game is dealt once, and its first record is sent, the very same bytes, until the log has it or another worker
owns the shard. A caller who has waited too long is told `unavailable` and asks again under the same id; the making
goes on meanwhile.
"""

import asyncio

import structlog

from numbridge.errors import Reason, Rejected, moved, unavailable
from tablesvc.codec import read_record, write_record
from tablesvc.dealing.errors import DealingError, NoSuchDeal
from tablesvc.engine.evolve import evolve
from tablesvc.engine.opening import open_game
from tablesvc.engine.settings import SIDE_OF_VARIANT, GameSettings, Player
from tablesvc.ports import Away, Dealer, LogError
from tablesvc.shard import Phase, Shard
from tablesvc.story import Story
from tablesvc.table import Lost, Table
from tablesvc.world import World

log = structlog.get_logger("numbridge.tablesvc.creation")

_LIMIT = 1_024  # tables being made at once; beyond it callers are told to come again
_PAUSE_S = 0.25

_REFUSAL_S = 1.0  # for those who wait to hear of it


class Creation:
    """Makes tables in shards that this worker owns."""

    def __init__(self, world: World, dealer: Dealer) -> None:
        self._world = world
        self._dealer = dealer
        self._making: dict[str, asyncio.Task[None]] = {}
        self._refused: dict[str, Rejected] = {}

    async def create(
        self, shard: Shard, game: str, room: str, settings: GameSettings, blue: Player, red: Player
    ) -> tuple[Table, bool]:
        """The table, and whether it was there already. Raises Rejected."""
        _check(settings, blue, red)
        end = asyncio.get_running_loop().time() + self._world.settings.answer_ms / 1000
        existed = game in shard.tables
        while game not in shard.tables:
            if shard.gone or shard.phase is Phase.CLOSING:
                raise moved()
            if game in shard.damaged:
                raise Rejected(Reason.INTERNAL, "this table is out of order; the operator has been told")
            left = end - asyncio.get_running_loop().time()
            if left <= 0:
                raise unavailable("the table's log")
            if shard.phase is Phase.OPENING:
                await self._world.changed.wait(min(left, 0.05))
                existed = game in shard.tables
                continue
            making = self._making.get(game)
            if making is None:
                if len(self._making) >= _LIMIT:
                    self._world.metrics.dropped("creation")
                    raise unavailable("the worker")
                making = self._world.tasks.spawn(self._make(shard, game, room, settings, blue, red), "create_table")
                self._making[game] = making
                making.add_done_callback(lambda _: self._made(game))
            await asyncio.wait({making}, timeout=left)
            if (refusal := self._refused.pop(game, None)) is not None:
                raise refusal
        table = shard.tables[game]
        made = table.state.table
        if (made.blue.id, made.red.id) != (blue.id, red.id):
            raise Rejected(Reason.FORBIDDEN, "there is a game with this id between other players")
        return table, existed

    def _made(self, game: str) -> None:
        """The making has ended. A refusal that nobody waits for any more is forgotten after a moment."""
        self._making.pop(game, None)
        if game in self._refused:
            asyncio.get_running_loop().call_later(_REFUSAL_S, self._refused.pop, game, None)

    async def _make(
        self, shard: Shard, game: str, room: str, settings: GameSettings, blue: Player, red: Player
    ) -> None:
        world = self._world
        try:
            deal = await self._dealer.take(settings.side, settings.blocks, settings.givens)
        except NoSuchDeal as error:
            self._refused[game] = Rejected(Reason.BAD_MESSAGE, str(error))
            return
        except DealingError as error:
            log.warning("no_deal", game=game, error=f"{type(error).__name__}: {error}")
            self._refused[game] = unavailable("a deal")
            return
        opened = open_game(room, settings, blue, red, deal, world.clock(), world.dice)
        append = world.append_id()
        data = write_record(game, 0, shard.epoch, append, world.clock(), [opened])
        try:
            seq = await self._land(shard, game, data, append)
        except Lost:
            shard.lost()
            return
        if shard.gone:
            return
        table = Table(game, shard, world, evolve(None, opened), seq, Story(game, [data]))
        shard.add(table)
        world.on_status(table)

    async def _land(self, shard: Shard, game: str, data: bytes, append: str) -> int:
        """Sends the first record until the log has it; its sequence. Raises Lost."""
        world = self._world
        while not shard.gone:
            try:
                async with shard.making:
                    return await world.log.create(shard.number, game, data, shard.mark, append)
            except LogError as failure:
                log.info("create_waits", game=game, error=f"{type(failure).__name__}: {failure}")
            try:
                found = await world.log.read_game(shard.number, game, 0)
                last = None if found else await world.log.last_mark(shard.number)
            except Away:
                await world.changed.wait(_PAUSE_S)
                continue
            if found:
                if read_record(found[0].data).append == append:
                    return found[-1].seq  # later copies of the same append, if any, hold nothing new
                raise Lost  # this owner would know of the game
            if last is not None and last.seq > shard.mark:
                raise Lost
            await world.changed.wait(_PAUSE_S)
        raise Lost


def _check(settings: GameSettings, blue: Player, red: Player) -> None:
    """Raises Rejected (bad_message) for settings that no game can have: the engine trusts them."""
    if SIDE_OF_VARIANT.get(settings.variant) != settings.side:
        raise Rejected(Reason.BAD_MESSAGE, f"no variant {settings.variant!r} of side {settings.side}")
    if settings.blocks not in ("regular", "irregular") or settings.claim_price not in (1, 2):
        raise Rejected(Reason.BAD_MESSAGE, "blocks are regular or irregular, and a claim costs 1 or 2 tiles")
    if not 0 < settings.givens <= settings.side**2 or settings.move_ms <= 0 or settings.game_ms <= 0:
        raise Rejected(Reason.BAD_MESSAGE, "givens, move_ms and game_ms must be above 0")
    if not blue.id or not red.id or blue.id == red.id:
        raise Rejected(Reason.BAD_MESSAGE, "a game needs two different players")
