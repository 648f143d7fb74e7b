"""A bot that looks for opponents like anybody else: it posts seeks and plays, again and again."""

import asyncio
from collections.abc import Sequence
from random import Random

from numbridge.bots.club import NoClub
from numbridge.bots.line import LineLost, Refused
from numbridge.bots.player import Player

MOST_SEEKS = 3  # the club's limit for a player; two bots who each seek in three of four rooms always meet
_PATIENCE_S = 60.0  # then it looks for rooms anew
_LIMIT_S = 30.0  # longest wait that a `limit` may ask for
_BUSY_TRIES = 3  # told so often in a row that a game is under way: the next hello tells which
_BARRED_TRIES = 60  # a minute and more: it is not a game that is in the way


async def keep_playing(player: Player, rooms: Sequence[str], rng: Random) -> None:
    """Seeks in `rooms` and plays, until cancelled. Raises NoClub if there is no room that it may seek in."""
    barred: dict[str, str] = {}  # room -> why it can't be sought in; no more than there are rooms
    busy = 0
    while True:
        player.changed.clear()
        if not player.idle:
            await player.changed.wait()
            continue
        try:
            if not player.seeks:
                await _post(player, rooms, barred, rng)
            busy = 0
        except Refused as refused:
            busy = busy + 1 if refused.code == "forbidden" else 0
            if busy >= _BARRED_TRIES:
                raise NoClub(refused.message) from None
            if busy and busy % _BUSY_TRIES == 0:
                await player.reconnect()
            await asyncio.sleep(min((refused.retry_ms or 0) / 1000, _LIMIT_S) + rng.uniform(0.5, 1.5))
            continue
        except LineLost:
            await asyncio.sleep(0.2)
            continue
        if len(barred) >= len(rooms):
            raise NoClub("; ".join(barred.values()))
        await _until_played(player)


async def _post(player: Player, rooms: Sequence[str], barred: dict[str, str], rng: Random) -> None:
    """Posts as many seeks as a player may have. Raises Refused, LineLost if there is not a single one."""
    choice = [room for room in rooms if room not in barred]
    rng.shuffle(choice)
    for room in choice[:MOST_SEEKS]:
        if not player.idle:
            return
        try:
            await player.seek(room)
        except Refused as refused:
            if refused.code in ("not_found", "bad_seek"):
                barred[room] = refused.message
            elif not player.seeks and player.idle:
                raise


async def _until_played(player: Player) -> None:
    """Waits for a game; after a while without one, or without a seek, the seeks are taken back."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _PATIENCE_S
    while player.idle and player.seeks and loop.time() < end:
        player.changed.clear()
        try:
            async with asyncio.timeout_at(end):
                await player.changed.wait()
        except TimeoutError:
            break
    if player.idle:
        try:
            await player.cancel_seeks()
        except (Refused, LineLost):
            pass  # they end by themselves, or are replaced
        await asyncio.sleep(0.2)
