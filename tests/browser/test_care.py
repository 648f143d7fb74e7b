"""Everybody's page: accessibility, languages, light and dark, phone, the weight of a visit and the cost of a move."""

import json
import re
from statistics import median
from typing import Any

import pytest

from tests.browser.conftest import Visitors
from tests.browser.page import Page
from tests.browser.players import board_of, meet, seats, to_lobby
from tests.browser.strategy import anything
from tests.browser.test_files import catalogue
from tests.browser.test_table import give_up
from tests.browser.tools import modules

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

GROUPS = sorted({key.split(".")[0] for key in catalogue("en")})
KEY = re.compile(rf"\b(?:{'|'.join(GROUPS)})\.[a-z_]+")
TITLES = {
    "en": ("Lobby", "Rooms", "Givens", "Open seeks"),
    "de": ("Lobby", "Räume", "Vorgaben", "Offene Herausforderungen"),
    "nl": ("Lobby", "Zalen", "startcijfers", "Open uitnodigingen"),
    "el": ("Λόμπι", "Αίθουσες", "δοσμένα", "Ανοιχτές προτάσεις παρτίδας"),
}
MOVE_BUDGET_MS = 16
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


async def scan(page: Page, where: str) -> None:
    """No violation of axe-core's rules, contrast included."""
    if not await page.js("typeof window.axe === 'object'"):
        await page.js((modules() / "axe-core" / "axe.min.js").read_text() + "; 0")
    found: list[dict[str, Any]] = await page.js(
        "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => ({rule: v.id, help: v.help, "
        "nodes: v.nodes.slice(0, 4).map(n => n.html.slice(0, 160) + ' | ' + n.failureSummary)})))"
    )
    assert not found, f"{where}: {json.dumps(found, indent=1, ensure_ascii=False)}"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_pages_pass_an_accessibility_scan(url: str, visitors: Visitors, dark: bool) -> None:
    one, two = await visitors.get("one"), await visitors.get("two")
    await to_lobby(url, one)
    await one.dark(dark)
    await one.until(f"{BACKGROUND} === '{'rgb(20, 23, 27)' if dark else 'rgb(243, 240, 232)'}'")
    await one.click(".room[data-room=blitz] .choices summary")
    await one.see(".room[data-room=blitz] form")
    await scan(one, "lobby")
    for page in ("basics", "domains"):
        await one.hash(f"#/rules/{page}")
        await one.see(".rules-text h1")
        await scan(one, f"rules {page}")
    game = await meet(url, "domains" if dark else "bridge", one, two)
    blue, red = await seats(one, two)
    board = await board_of(url, game)
    await blue.act(board, anything(board, await blue.look()))
    await red.reach(1)
    await one.click(".tile")
    await one.see(".tile[aria-pressed=true]")
    await scan(one, "table")
    await one.resize(390, 844, mobile=True)
    await scan(one, "table on a phone")
    await give_up(red, blue)
    await scan(one, "table at the end")
    await one.hash(f"#/review/{game}")
    await one.see(".steps")
    await scan(one, "review")
    await one.hash(f"#/player/{await one.js('document.querySelector(`.who-chip`).hash.split(`/`)[2]')}")
    await one.see(".list.played li")
    await scan(one, "profile")
    await one.dark(False)


@pytest.mark.parametrize("language", ["en", "de", "nl", "el"])
async def test_every_page_speaks_the_language_of_the_browser(url: str, visitors: Visitors, language: str) -> None:
    page = await visitors.get("speaker", language)
    lobby, _, givens, seeks = TITLES[language]
    await to_lobby(url, page)
    assert await page.js("document.documentElement.lang") == language
    labels = "[...document.querySelectorAll('[aria-label]')].map(e => e.getAttribute('aria-label')).join(' ')"
    text = await page.js(f"document.body.innerText + {labels}")
    assert await page.text("h1") == lobby
    assert seeks in text
    assert givens.lower() in text.lower()
    assert not KEY.search(text)
    for name in ("basics", "bridge", "blitz", "domains"):
        await page.hash(f"#/rules/{name}")
        await page.until(f"location.hash === '#/rules/{name}' && !!document.querySelector('.rules-text h1')")
        assert not KEY.search(await page.text("main"))


async def test_the_language_can_be_switched_and_is_remembered(url: str, visitors: Visitors) -> None:
    page = await visitors.get("switcher", "fr,en")
    await to_lobby(url, page)
    assert await page.js("document.documentElement.lang") == "en"
    await page.choose("header select", "nl")
    await page.until("document.body.innerText.includes('Open uitnodigingen')")
    await page.open(f"{url}/?again")
    await page.until("document.body.innerText.includes('Open uitnodigingen')")
    await page.click("[data-act=theme]")
    await page.click("[data-act=theme]")
    await page.until(f"{BACKGROUND} === 'rgb(20, 23, 27)'")
    await page.click("[data-act=theme]")


async def test_the_keyboard_alone_gets_from_the_lobby_to_a_move(url: str, visitors: Visitors) -> None:
    one, two = await visitors.get("one"), await visitors.get("two")
    await to_lobby(url, two)
    await two.click(".room[data-room=bridge] [data-act=play]")
    name = await two.text(".who-chip")
    await to_lobby(url, one)
    await one.see(f".list.seeks [aria-label*='{name}']")
    await one.js("document.activeElement.blur()")
    for _ in range(60):
        await one.keys("Tab")
        if name in str(
            await one.js("document.activeElement.matches('.seeks button') && document.activeElement.ariaLabel")
        ):
            break
    await one.keys("Enter")
    await one.until("location.hash.startsWith('#/game/')")
    await one.see(".strip.own")
    for _ in range(40):
        await one.keys("Tab")
        if await one.js("document.activeElement.matches('.board [data-i]')"):
            break
    await one.keys("ArrowDown", "ArrowRight", "ArrowDown")
    assert await one.js("document.activeElement.dataset.cell") == "b3"
    await one.keys("ArrowUp", shift=True)
    assert await one.js("document.activeElement.dataset.cell") == "c2"
    lit = await one.js("document.querySelectorAll('.cell.lit').length")
    assert 17 <= lit <= 25
    label = await one.js("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("c2, ")
    assert "block" in label
    blue, red = await seats(one, two, "keys", "keys")
    game = await one.js("location.hash.split('/')[2]")
    board = await board_of(url, game)
    await blue.act(board, anything(board, await blue.look()))
    await red.reach(1)
    assert re.search(r"Your move", await red.page.text("#announcer"))
    await give_up(blue, red)


async def test_a_visit_is_light_and_asks_nobody_else(url: str, visitors: Visitors) -> None:
    page = await visitors.get("fresh", "el")
    await page.open(f"{url}/")
    await page.see(".room [data-act=play]:not([disabled])")
    sizes = await page.js(
        "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
        ".map(e => [e.name, e.encodedBodySize, e.decodedBodySize])"
    )
    assert sum(size for _, size, _ in sizes) < 90_000
    assert all(request.startswith((url, url.replace("http", "ws"))) for request in page.requests), page.requests
    loaded = {name.rsplit("/", 1)[1] for name, _, _ in sizes if "/js/" in name}
    assert len(loaded) > 30


async def test_a_move_on_a_big_field_costs_little_script(url: str, visitors: Visitors) -> None:
    one, two = await visitors.get("one"), await visitors.get("two")
    game = await meet(url, "bridge", one, two)
    blue, red = await seats(one, two)
    board = await board_of(url, game)
    costs = []
    for page in (one, two):
        await page.send("Performance.disable")
        await page.send("Performance.enable", timeDomain="threadTicks")
    for turn in range(6):
        mover, other = (blue, red) if turn % 2 == 0 else (red, blue)
        before = await script_ms(other.page)
        version = await mover.version()
        await mover.start(board, anything(board, await mover.look()))
        await mover.reach(version + 1)
        await other.reach(version + 1)
        costs.append(await script_ms(other.page) - before)
    assert median(costs) < MOVE_BUDGET_MS, costs
    await give_up(blue, red)


async def script_ms(page: Page) -> float:
    """Milliseconds of processor time that the page's script has taken so far."""
    metrics = (await page.send("Performance.getMetrics"))["metrics"]
    return 1000 * next(float(metric["value"]) for metric in metrics if metric["name"] == "ScriptDuration")
