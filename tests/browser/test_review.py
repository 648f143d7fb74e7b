"""Looking through a finished game by its address, and what there is to see without a seat."""

import base64
import json
from typing import Any

import aiohttp
import pytest

from tests.browser.conftest import Visitors
from tests.browser.page import Page
from tests.browser.players import board_of, meet, seats
from tests.browser.strategy import Move, wrong_placements
from tests.browser.test_table import give_up
from tests.helpers.eventually import eventually

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_finished_game_steps_through_hands_misses_and_draws(url: str, visitors: Visitors) -> None:
    one, two, reader = await visitors.get("one"), await visitors.get("two"), await visitors.get("reader")
    visitors.allow("status of 409")
    game = await meet(url, "blitz", one, two)
    await reader.open(f"{url}/#/review/{game}")
    await reader.until("document.body.innerText.includes('still being played')")

    blue, red = await seats(one, two)
    board = await board_of(url, game)
    miss = wrong_placements(board, await blue.look())[0]
    await blue.act(board, miss)
    await red.reach(1)
    await red.act(board, Move("exchange"))
    await blue.reach(2)
    seen = await blue.look()
    given = next(i for i, digit in enumerate(seen.givens) if digit != ".")
    await blue.act(board, Move("claim", given, seen.hand[0]))
    await red.reach(3)
    await give_up(red, blue)
    record = await archived(url, game)

    await one.click("[data-act=review]")
    await one.see(".steps")
    await one.until("document.querySelector('.steps input').value === '3'")
    assert "resigned" in await one.text(".result")
    assert await small_hand(one, "red") == await hand_after(record, "red", 3)
    await one.click("[data-act=previous]")
    await one.until("document.querySelector('.steps input').value === '2'")
    assert "exchanges the hand" in await one.text(".hint")
    assert "drew" in await one.text(".hint")
    await one.click(".moves li:nth-child(1) button")
    await one.see(f"[data-i='{miss.cell}'] .mark")
    assert await small_hand(one, "blue") == await hand_after(record, "blue", 1)
    await one.click("[data-act=first]")
    assert await small_hand(one, "blue") == record["hands"]["blue"]
    await one.click("[data-act=next]")
    await one.click("[data-act=last]")
    assert f"claims {board.name(given)}" in await one.text(".hint")
    paid = record["moves"][2]["paid"]
    assert f"paid {paid[0]}, {paid[1]}" in await one.text(".hint")
    await one.click(".check input")
    digits = "[...document.querySelectorAll('.cell > .digit')].map(e => e.textContent).join('')"
    assert await one.js(digits) == board.solution
    href = await one.js("document.querySelector('[data-act=download]').href")
    assert href == f"{url}/api/games/{game}/record"


async def archived(url: str, game: str) -> dict[str, Any]:
    """The record, once it is in the archive or still at the table."""
    async with aiohttp.ClientSession() as http, http.get(f"{url}/api/games/{game}/record") as answer:
        assert answer.status == 200
        record: dict[str, Any] = await answer.json()
    return record


async def small_hand(page: Page, color: str) -> list[int]:
    """A hand as the review shows it."""
    tiles = f"[...document.querySelectorAll('.strip.{color} .tile')]"
    shown: list[int] = await page.js(f"{tiles}.map(e => Number(e.textContent))")
    return shown


async def hand_after(record: dict[str, Any], color: str, ply: int) -> list[int]:
    """A hand after so many moves, worked out by hand from the record."""
    hand = list(record["hands"][color])
    for move in record["moves"][:ply]:
        if move["by"] != color:
            continue
        if move["kind"] == "exchange":
            hand = []
        for tile in [move["tile"]] if move["kind"] == "place" else move.get("paid", []):
            hand.remove(tile)
        hand += move["drew"]
    return hand


async def test_where_guests_are_off_one_can_still_look(url: str, visitors: Visitors) -> None:
    one, two = await visitors.get("one"), await visitors.get("two")
    game = await meet(url, "blitz", one, two)
    blue, red = await seats(one, two)
    page = await visitors.get("uninvited")
    visitors.allow("status of 403")
    await page.send("Fetch.enable", patterns=[{"urlPattern": "*/api/guests"}])
    body = base64.b64encode(json.dumps({"error": {"code": "forbidden", "message": "no guests"}}).encode()).decode()
    refused: list[str] = []

    def refuse(event: dict[str, Any]) -> None:
        refused.append(event["requestId"])

    page.browser.on(page.session, "Fetch.requestPaused", refuse)
    await page.open(f"{url}/")
    await eventually(lambda: refused)
    headers = [{"name": "Content-Type", "value": "application/json"}]
    await page.send("Fetch.fulfillRequest", requestId=refused[0], responseCode=403, responseHeaders=headers, body=body)
    await page.until("document.body.innerText.includes('Guests cannot play here')")
    await page.see(".rooms .room")
    assert await page.js("document.querySelector('.room [data-act=play]').disabled")
    await page.click(f"a[data-act=watch][href='#/game/{game}']")
    await page.see(".board")
    board = await board_of(url, game)
    await blue.act(board, Move("exchange"))
    await page.until("document.querySelector('.table-page').dataset.version === '1'")
    assert await page.js("document.querySelectorAll('.tile').length") == 0
    await give_up(red, blue)
