"""The table's buttons, marks and refusals, as two players and two tabs see them."""

import pytest

from tests.browser.conftest import Visitors
from tests.browser.page import new_page
from tests.browser.players import Seat, board_of, meet, seats
from tests.browser.strategy import Move, anything, right_placements, wrong_placements

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_claim_says_its_price_and_wants_a_second_press(url: str, visitors: Visitors) -> None:
    one, two = await visitors.get("one"), await visitors.get("two")
    game = await meet(url, "blitz", one, two)
    blue, red = await seats(one, two)
    board = await board_of(url, game)
    page, seen = blue.page, await blue.look()
    given = seen.givens.index(next(digit for digit in seen.givens if digit != "."))

    await page.click(f".board [data-i='{given}']")
    assert await page.text(".notice") == "Pick a tile, then a cell."
    await page.click(f".tile[data-digit='{seen.hand[0]}']")
    await page.click(f".board [data-i='{given}']")
    await page.see(".cell.armed")
    assert "Costs two tiles" in await page.text(".hint")
    assert not any('"play"' in frame and game in frame for frame in page.sent)
    await page.click("[data-act=cancel]")
    await page.until("!document.querySelector('.cell.armed')")
    await page.click(f".board [data-i='{given}']")
    await page.click(f".board [data-i='{given}']")
    await blue.reach(1)
    assert len((await blue.look()).hand) == 1

    # the first cell has an owner now, so red may take it, for this one turn
    await red.reach(1)
    await red.act(board, Move("pie"))
    assert (await red.look()).owners[given] == "r"
    await blue.reach(2)
    # with a single tile a price of two cannot be paid, and the hint says so
    await page.click(".tile")
    assert "the price is two" in await page.text(".hint")
    await give_up(blue, red)


async def give_up(loser: Seat, winner: Seat) -> None:
    """Resigns, with the confirmation it wants."""
    await loser.page.click("[data-act=resign]")
    await loser.page.see("dialog[open]")
    await loser.page.click("dialog [data-act=yes]")
    await winner.page.see(".result[data-verdict=won]")
    await loser.page.see(".result[data-verdict=lost]")


async def test_a_miss_shows_a_red_mark_that_goes_away_and_a_mistake_that_stays(url: str, visitors: Visitors) -> None:
    one, two = await visitors.get("one"), await visitors.get("two")
    game = await meet(url, "blitz", one, two)
    blue, red = await seats(one, two)
    board = await board_of(url, game)
    seen = await blue.look()
    move = wrong_placements(board, seen)[0]
    wrong, tile = move.cell, move.tile
    await blue.act(board, move)
    for seat in (blue, red):
        await seat.page.see(f"[data-i='{wrong}'] .mark")
        opacity = f"getComputedStyle(document.querySelector(\"[data-i='{wrong}'] .mark\")).opacity"
        assert await seat.page.js(opacity) == "1"  # motion is reduced: it stays as it is until it goes
        assert await seat.page.text(f"[data-i='{wrong}'] .mark text") == str(tile)
        assert await seat.page.text(".strip.blue .mistakes") == "1 mistake"
        assert f"missed with {tile}" in await seat.page.js(
            f"document.querySelector(\"[data-i='{wrong}']\").getAttribute('aria-label')"
        )
    await red.page.until(f"!document.querySelector(\"[data-i='{wrong}'] .mark\")")
    assert await red.page.text(".strip.blue .mistakes") == "1 mistake"
    await give_up(red, blue)


async def test_draw_and_adjourn_are_offered_answered_and_resumed(url: str, visitors: Visitors) -> None:
    one, two = await visitors.get("one"), await visitors.get("two")
    game = await meet(url, "bridge", one, two)
    blue, red = await seats(one, two)
    board = await board_of(url, game)
    assert await red.page.js("document.querySelector('[data-act=offer_draw]').disabled")

    await blue.page.click("[data-act=offer_draw]")
    await red.page.click("[data-act=decline_draw]")
    await blue.page.until("!document.querySelector('.offer:not([hidden])')")
    assert "draw declined" in await blue.page.text(".moves")
    await blue.act(board, anything(board, await blue.look()))

    await red.page.click("[data-act=offer_adjourn]")
    await blue.page.click("[data-act=accept_adjourn]")
    await blue.page.click("dialog [data-act=yes]")
    for seat in (blue, red):
        await seat.page.until("document.querySelector('.turn-who').textContent === 'Adjourned'")
    bank = await red.page.text(".strip.red .bank")
    await blue.page.click("[data-act=resume]")
    await red.page.see(".offer:not([hidden])")
    assert await red.page.text(".strip.red .bank") == bank
    await red.page.click(".offer [data-act=resume]")
    await red.page.until("document.querySelector('.turn-who').textContent === 'Your move'")

    # one offer a turn
    assert await red.page.js("document.querySelector('[data-act=offer_draw]').disabled")
    await red.act(board, anything(board, await red.look()))
    await blue.page.click("[data-act=offer_draw]")
    await red.page.click("[data-act=accept_draw]")
    await red.page.click("dialog [data-act=yes]")
    ending = "document.querySelector('.result:not([hidden]) p')?.textContent"
    for seat in (blue, red):
        await seat.page.until(f"{ending} === 'A draw by agreement.'")


async def test_a_rematch_swaps_colours(url: str, visitors: Visitors) -> None:
    one, two = await visitors.get("one"), await visitors.get("two")
    first = await meet(url, "blitz", one, two)
    blue, red = await seats(one, two)
    await give_up(blue, red)
    await blue.page.click("[data-act=rematch]")
    await blue.page.see("[data-act=rematch][disabled]")
    await red.page.until("document.querySelector('[data-act=rematch]').textContent === 'Accept the rematch'")
    await red.page.see(".notice")
    await red.page.click("[data-act=rematch]")
    for page in (one, two):
        await page.until(f"location.hash.startsWith('#/game/') && !location.hash.endsWith({first!r})")
        await page.see(".strip.own")
    assert await blue.page.js("document.querySelector('.strip.own').dataset.color") == "red"
    again_blue, again_red = await seats(one, two)
    await give_up(again_blue, again_red)


async def test_a_turn_burns_when_its_time_is_up(url: str, visitors: Visitors) -> None:
    one, two = await visitors.get("one"), await visitors.get("two")
    await meet(url, "rush", one, two)
    blue, red = await seats(one, two)
    await red.page.until("document.querySelector('.moves').textContent.includes('the turn burns')")
    assert await red.page.text(".strip.blue .mistakes") == "0 mistakes"
    await give_up(red, blue)


async def test_two_tabs_of_one_player_stay_in_step_and_the_late_one_is_refused_in_words(
    url: str, visitors: Visitors
) -> None:
    one, two = await visitors.get("one"), await visitors.get("two")
    game = await meet(url, "bridge", one, two)
    blue, red = await seats(one, two)
    board = await board_of(url, game)
    tab = await new_page(blue.page.browser, context=blue.page.context)
    other = Seat(tab, "blue", "mouse")
    await tab.open(f"{url}/#/game/{game}")
    await tab.see(".strip.own")
    assert (await other.look()).hand == (await blue.look()).hand

    # the second tab hears late, so that it plays into a position that has moved on
    await tab.hold(True)
    await blue.act(board, anything(board, await blue.look()))
    late = await other.look()
    move = right_placements(board, late)[0]
    await other.start(board, move)
    await tab.see(f"[data-i='{move.cell}'].pending")
    await tab.hold(False)
    await tab.see(".notice.bad")
    assert await tab.text(".notice.bad") in (
        "The position has moved on; your move was not played.",
        "Your opponent is to move.",
    )
    await other.reach(1)
    after, there = await other.look(), await blue.look()
    assert (after.hand, after.field, after.owners) == (there.hand, there.field, there.owners)
    assert await tab.js("document.querySelectorAll('.pending').length") == 0
    await red.act(board, anything(board, await red.look()))
    await other.reach(2)
    await other.act(board, Move("exchange"))
    await blue.reach(3)
    assert tab.errors == []
    await blue.page.browser.send("Target.closeTarget", targetId=tab.target)
    await give_up(blue, red)
