"""Whole games through the page, two players and a spectator, by mouse, touch and keyboard, in every language."""

import json
from random import Random
from typing import Any

import pytest

from tests.browser.conftest import Visitors
from tests.browser.page import Page
from tests.browser.players import Seat, board_of, meet, play_out, seats
from tests.browser.strategy import anything
from tests.browser.test_table import give_up

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

SECRET = {"solution", "deal", "drew", "paid", "tile", "hands_full"}
WON = {"en": "You won", "de": "Sie haben gewonnen", "nl": "Je hebt gewonnen", "el": "Νίκησες"}
LOST = {"en": "You lost", "de": "Sie haben verloren", "nl": "Je hebt verloren", "el": "Έχασες"}


def walk(value: Any) -> list[tuple[str, Any]]:
    """All keys with their values, however deep."""
    if isinstance(value, dict):
        return [pair for key, item in value.items() for pair in [(key, item), *walk(item)]]
    if isinstance(value, list):
        return [pair for item in value for pair in walk(item)]
    return []


def check_secrets(page: Page, game: str, hands: list[list[int]] | None) -> None:
    """Nothing hidden has reached this page. `hands`: what the player was seen holding; None for a spectator."""
    received = [json.loads(frame) for frame in page.frames]
    about = [event for event in received if event.get("game") == game]
    assert any(event["ev"] == "move" for event in about)
    for event in about:
        for key, value in walk(event):
            assert key not in SECRET, event
            if key == "hand":
                assert hands is not None, f"a hand reached a spectator: {event}"
            if key == "hands":
                assert all(isinstance(count, int) for count in value.values())
        if event["ev"] == "move" and event["kind"] in ("claim", "exchange", "burn", "pass"):
            assert "digit" not in event


@pytest.mark.parametrize(
    ("room", "by", "languages", "seed"),
    [
        ("bridge", ("mouse", "keys"), ("en", "de"), 3),
        ("blitz", ("touch", "mouse"), ("el", "nl"), 5),
        ("domains", ("keys", "touch"), ("nl", "el"), 8),
    ],
)
async def test_a_whole_game(
    url: str, visitors: Visitors, room: str, by: tuple[str, str], languages: tuple[str, str], seed: int
) -> None:
    one = await visitors.get("one", languages[0], phone=by[0] == "touch")
    two = await visitors.get("two", languages[1], phone=by[1] == "touch")
    watcher = await visitors.get("watcher", "de")
    # what both leave open is settled by coin, and the rating change is part of what is looked for
    game = await meet(url, room, one, two, {"rated": "true"})
    await watcher.open(f"{url}/#/game/{game}")
    await watcher.see(".board")
    blue, red = await seats(one, two, *by)
    board = await board_of(url, game)

    moves = await play_out(board, blue, red, Random(seed))

    kinds = {move.kind for move in moves}
    assert {"place", "claim", "exchange"} <= kinds
    for seat, words in ((blue, WON), (red, LOST)):
        language = languages[0] if seat.page is one else languages[1]
        assert await seat.page.text(".result h2") == words[language]
        await seat.page.see(".strip.own .change[data-dir]")
    await watcher.see(".result")
    await watcher.see(".strip.blue .change[data-dir]")
    for page in (one, two, watcher):
        if room == "domains":
            await page.see("path.won.blue")
        else:
            linked = await page.js("document.querySelectorAll('.cell.linked.blue').length")
            assert linked >= board.side
        assert (await Seat(page, "", "").look()).owners == (await blue.look()).owners
    moved = await blue.page.js("document.querySelectorAll('.moves li').length")
    assert moved == await watcher.js("document.querySelectorAll('.moves li').length")
    assert moved >= len(moves)

    check_secrets(one, game, [])
    check_secrets(two, game, [])
    check_secrets(watcher, game, None)
    assert await watcher.js("document.querySelectorAll('.tile').length") == 0


async def test_a_hand_is_in_its_owners_page_alone(url: str, visitors: Visitors) -> None:
    one = await visitors.get("one")
    two = await visitors.get("two")
    game = await meet(url, "bridge", one, two)
    blue, red = await seats(one, two)
    board = await board_of(url, game)
    await blue.act(board, anything(board, await blue.look()))
    await red.reach(1)
    for seat in (blue, red):
        shown = (await seat.look()).hand
        told = [json.loads(frame) for frame in seat.page.frames]
        hands = [value for event in told if event.get("game") == game for key, value in walk(event) if key == "hand"]
        assert hands[-1] == shown
        states = [event["view"] for event in told if event["ev"] == "state" and event["game"] == game]
        assert states
        assert states[-1]["you"] == seat.color
        # an empty cell holds no digit, not even one that is not shown
        inside = await seat.page.js("[...document.querySelectorAll('.cell.empty')].map(e => e.textContent).join('')")
        assert inside == ""
    await give_up(blue, red)
