"""The lobby: seeks with choices, no ghosts, names, games to watch, leaderboards."""

import json

import pytest

from tests.browser.conftest import Visitors
from tests.browser.players import meet, seats, to_lobby
from tests.browser.test_table import give_up

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_seek_carries_the_choices_of_its_form_into_the_game(url: str, visitors: Visitors) -> None:
    one, two = await visitors.get("one"), await visitors.get("two")
    wish = {"blocks": "irregular", "low": "12", "high": "11", "highlight": "false", "rated": "false"}
    await meet(url, "blitz", one, two, wish)
    sent = next(json.loads(frame) for frame in one.sent if '"op":"seek"' in frame)
    assert {key: sent[key] for key in ("room", "blocks", "givens", "highlight", "rated")} == {
        "room": "blitz", "blocks": "irregular", "givens": [11, 12], "highlight": False, "rated": False,
    }  # fmt: skip
    chips = await two.text(".chips")
    assert "irregular blocks" in chips
    assert "not rated" in chips
    assert "candidate highlighting" not in chips
    # without highlighting a picked tile marks nothing
    blue, red = await seats(one, two)
    await blue.page.click(".tile")
    assert await blue.page.js("document.querySelectorAll('.cand').length") == 0
    await give_up(blue, red)


async def test_a_room_offers_only_what_it_leaves_open(url: str, visitors: Visitors) -> None:
    one = await visitors.get("one")
    await to_lobby(url, one)
    names: dict[str, set[str]] = {}
    for room in ("blitz", "rush"):
        card = f".room[data-room={room}]"
        if not await one.js(f"document.querySelector('{card} .choices').open"):
            await one.click(f"{card} .choices summary")
        await one.see(f"{card} form")
        names[room] = set(await one.js(f"[...document.querySelectorAll('{card} input')].map(e => e.name)"))
    assert names["blitz"] - names["rush"] == {"highlight", "rated"}
    # regular blocks with seven givens do not exist
    await one.click(".room[data-room=blitz] label:has(> input[value=regular])")
    assert await one.js("document.querySelector('.room[data-room=blitz] input[name=low]').value") == "8"


async def test_seeks_come_and_go_for_everyone_and_leave_no_ghost_behind(url: str, visitors: Visitors) -> None:
    visitors.lines_break()
    one, two = await visitors.get("one"), await visitors.get("two")
    for page in (one, two):
        await to_lobby(url, page)
    name = await one.text(".who-chip")
    mine = f".list.seeks [aria-label*={json.dumps(name)}]"
    await one.click(".room[data-room=bridge] [data-act=play]")
    await one.see(".list.seeks .own")
    await two.see(mine)
    await two.until("document.querySelector('.room[data-room=bridge] .waiting').textContent === '1 waiting'")

    # taken back while the other page hears nothing: after reconnecting it shows what is so
    await two.cut(True)
    await two.until("document.querySelector('.line').textContent !== ''")
    await one.click(".list.seeks .own [data-act=cancel-seek]")
    await one.until("!document.querySelector('.list.seeks .own')")
    await two.cut(False)
    await two.until("document.querySelector('.line').textContent === ''")
    await two.until(f"!document.querySelector({json.dumps(mine)})")
    await one.see(".room[data-room=bridge] [data-act=play]:not([disabled])")


async def test_a_guest_takes_a_name_and_is_known_by_it(url: str, visitors: Visitors) -> None:
    page = await visitors.get("named")
    await to_lobby(url, page)
    await page.click("[data-act=rename]")
    await page.write("Ηλέκτρα <b>")
    await page.keys("Enter")
    await page.until("document.querySelector('.who-chip').textContent === 'Ηλέκτρα <b>'")
    await page.click(".room[data-room=bridge] [data-act=play]")
    two = await visitors.get("two")
    await to_lobby(url, two)
    await two.see('.list.seeks [aria-label*="Ηλέκτρα <b>"]')
    await page.click(".list.seeks .own [data-act=cancel-seek]")


async def test_games_can_be_watched_from_the_lobby_and_the_best_are_listed(url: str, visitors: Visitors) -> None:
    one, two, watcher = await visitors.get("one"), await visitors.get("two"), await visitors.get("watcher")
    game = await meet(url, "domains", one, two, {"rated": "true"})
    await to_lobby(url, watcher)
    await watcher.click(f"a[data-act=watch][href='#/game/{game}']")
    await watcher.see(".board")
    await one.until("document.querySelector('.watchers').textContent === '1 spectator'")
    blue, red = await seats(one, two)
    # back in the lobby one's own game is one click away
    await blue.page.hash("#/")
    await blue.page.click("[data-act=back]")
    await blue.page.see(".strip.own")
    await give_up(blue, red)
    await to_lobby(url, watcher)
    name = await red.page.text(".strip.own .name")
    await watcher.click(".segments [data-variant=domains]")
    await watcher.until(f"document.querySelector('.leaders').textContent.includes({json.dumps(name)})")
    await watcher.click(".leaders a[href*='#/player/']")
    await watcher.see(".list.played .verdict")
