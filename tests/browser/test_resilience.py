"""Drops, killed workers and gateways, tabs that slept: a quiet word, and nothing lost."""

import signal

import pytest

from tests.browser.conftest import Visitors
from tests.browser.players import Seat, board_of, meet, seats
from tests.browser.strategy import anything, right_placements
from tests.browser.test_table import give_up
from tests.helpers.cluster import Cluster

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(180),
]


async def same(*those: Seat) -> None:
    """All pages show the same field."""
    looks = [await seat.look() for seat in those]
    assert len({(look.version, look.field, look.owners) for look in looks}) == 1


async def test_a_drop_is_said_quietly_and_a_tab_that_slept_catches_up(url: str, visitors: Visitors) -> None:
    visitors.lines_break()
    one, two = await visitors.get("one"), await visitors.get("two")
    game = await meet(url, "bridge", one, two)
    blue, red = await seats(one, two)
    board = await board_of(url, game)
    await red.page.cut(True)
    await red.page.until("document.querySelector('.line').textContent === 'Reconnecting…'")
    await blue.act(board, anything(board, await blue.look()))
    await blue.page.until("document.querySelector('.strip.red').classList.contains('away')")
    await red.page.cut(False)
    await red.reach(1)
    assert await red.page.text(".line") == ""
    await same(blue, red)
    await red.act(board, anything(board, await red.look()))
    await blue.reach(2)
    # the whole list of moves is there too
    assert await red.page.js("document.querySelectorAll('.moves li').length") == 2
    await give_up(red, blue)


async def test_a_move_under_way_when_the_line_drops_is_played_once(url: str, visitors: Visitors) -> None:
    visitors.lines_break()
    one, two = await visitors.get("one"), await visitors.get("two")
    game = await meet(url, "bridge", one, two)
    blue, red = await seats(one, two)
    board = await board_of(url, game)
    move = right_placements(board, await blue.look())[0]
    # it goes out, and the line drops before any word comes back
    await blue.page.hold(True)
    await blue.start(board, move)
    await blue.page.see(f"[data-i='{move.cell}'].pending")
    await red.reach(1)
    await blue.page.js("window.line.frames.length = 0")
    await blue.page.drop()
    await blue.page.hold(False)
    await blue.reach(1)
    await blue.page.until("!document.querySelector('.pending')")
    assert (await blue.look()).version == (await red.look()).version == 1
    plays = [frame for frame in blue.page.sent if '"op":"play"' in frame]
    assert len(plays) == 2
    assert plays[0] == plays[1]
    await give_up(blue, red)


async def test_a_killed_worker_and_a_killed_gateway_lose_nothing(
    url: str, visitors: Visitors, cluster: Cluster
) -> None:
    visitors.lines_break()
    one, two, watcher = await visitors.get("one"), await visitors.get("two"), await visitors.get("watcher")
    game = await meet(url, "bridge", one, two)
    await watcher.open(f"{url}/#/game/{game}")
    await watcher.see(".board")
    blue, red = await seats(one, two)
    third = Seat(watcher, "watch", "mouse")
    board = await board_of(url, game)
    await blue.act(board, anything(board, await blue.look()))
    await red.reach(1)

    for victim in ("table-1", "table-2"):
        cluster.kill(victim, signal.SIGKILL)
        mover, other = (red, blue) if (await red.look()).mine else (blue, red)
        before = await mover.version()
        await mover.start(board, anything(board, await mover.look()))
        await mover.reach(before + 1, 45)
        await other.reach(before + 1)

    for victim in ("gateway-1", "gateway-2"):
        cluster.kill(victim, signal.SIGKILL)
        for page in (one, two, watcher):
            await page.until("document.querySelector('.line').textContent === ''", 45)
        mover, other = (red, blue) if (await red.look()).mine else (blue, red)
        before = await mover.version()
        await mover.start(board, anything(board, await mover.look()))
        await mover.reach(before + 1, 45)
        await other.reach(before + 1, 45)
        await third.reach(before + 1, 45)

    await same(blue, red, third)
    assert await one.js("document.querySelectorAll('.notice.bad').length") == 0
    await give_up(blue, red)
