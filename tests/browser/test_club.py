"""What the club adds to two visitors: house bots, accounts from elsewhere, and word from its operators."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import aiohttp
import pytest

from numbridge.local_servers import bound
from tests.browser.conftest import Visitors
from tests.browser.players import Seat, board_of, to_lobby
from tests.browser.strategy import varied
from tests.helpers.cluster import Cluster, command

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

ANNOUNCED = "document.querySelector('#banner').textContent"


@asynccontextmanager
async def house_bot(cluster: Cluster) -> AsyncIterator[None]:
    """One bot of the house's, for who waits in blitz."""
    args = ["bot", "--house", "--count", "1", "--room", "blitz", "--think", "50", "--quiet", "--url", cluster.url]
    process = await asyncio.create_subprocess_exec(
        *bound([sys.executable, "-m", "numbridge.cli.main", *args]),
        env={**os.environ, "NUMBRIDGE_TOKEN_KEY_FILE": str(cluster.data / "token.key")},
        start_new_session=True,
    )
    try:
        yield
    finally:
        process.terminate()
        await process.wait()


def token(cluster: Cluster, *args: str) -> str:
    """A token that the club signs."""
    signed = command("token", "--data", str(cluster.data), *args)
    assert signed.returncode == 0, signed.stderr
    return signed.stdout.strip()


async def test_with_nobody_there_a_house_bot_sits_down_and_plays(
    url: str, cluster: Cluster, visitors: Visitors
) -> None:
    page = await visitors.get("one")
    await to_lobby(url, page)
    async with house_bot(cluster):
        await page.click(".room[data-room=blitz] [data-act=bot]")
        await page.until("location.hash.startsWith('#/game/')", 20)
        await page.see(".strip.own")
        assert "House bot" in await page.text(".strip:not(.own) .name")
        board = await board_of(url, str(await page.js("location.hash.split('/')[2]")))
        me = Seat(page, str(await page.js("document.querySelector('.strip.own').dataset.color")), "mouse")
        for _ in range(3):
            await page.until("!!document.querySelector('.turn-card.mine, .result:not([hidden])')")
            seen = await me.look()
            if seen.over:
                break
            await me.act(board, varied(board, seen, Random(3)))
        if not (await me.look()).over:
            await page.click("[data-act=resign]")
            await page.click("dialog [data-act=yes]")
        await page.see(".result:not([hidden])")


async def test_a_link_with_a_token_logs_in_and_the_token_is_seen_nowhere(
    url: str, cluster: Cluster, visitors: Visitors
) -> None:
    visitors.allow("/api/players/zoe")  # nobody's profile yet: a new account is made known in the background
    page = await visitors.get("account")
    await to_lobby(url, page)
    secret = token(cluster, "--player", "zoe@club.example", "--name", "Zoë")
    before = int(await page.js("history.length"))
    await page.hash(f"#/login/{secret}")
    await page.until("document.querySelector('.who-chip').textContent === 'Zoë'")
    await page.see(".room [data-act=play]:not([disabled])")
    assert await page.js("location.hash") == "#/"
    assert secret not in await page.js("document.documentElement.outerHTML")
    assert all(secret not in request for request in page.requests)  # of an address only what is before the # is sent
    # going back leads past the place where the token was
    assert int(await page.js("history.length")) <= before + 1
    await page.js("history.back()")
    await page.until("!!document.querySelector('.room')")
    assert secret not in await page.js("location.href")
    # and the account is still there after a reload
    await page.open(f"{url}/")
    await page.until("document.querySelector('.who-chip').textContent === 'Zoë'")


async def test_the_club_announces_something_until_it_is_closed(url: str, cluster: Cluster, visitors: Visitors) -> None:
    page = await visitors.get("one")
    await to_lobby(url, page)
    headers = {"Authorization": f"Bearer {token(cluster, '--player', 'operator', '--admin')}"}
    async with aiohttp.ClientSession(headers=headers) as http:

        async def say(text: str) -> None:
            async with http.post(f"{url}/api/admin/announcements", json={"text": text}) as answer:
                assert answer.status == 200, await answer.text()

        await say("The hall <b>closes</b> at nine.")
        await page.until(f"{ANNOUNCED}.startsWith('The hall <b>closes</b> at nine.')")
        assert await page.js("document.querySelector('#banner').getAttribute('role')") == "status"
        await page.hash("#/rules")
        await page.see("#banner p")  # it stays wherever one goes
        await page.click("#banner button")
        await page.until(f"{ANNOUNCED} === ''")
        await say("Good night.")
        await page.until(f"{ANNOUNCED}.startsWith('Good night.')")
        await page.click("#banner button")


async def test_a_seek_that_the_club_ends_is_said_in_words(url: str, cluster: Cluster, visitors: Visitors) -> None:
    page = await visitors.get("one")
    await to_lobby(url, page)
    await page.click(".room[data-room=bridge] [data-act=play]")
    await page.see(".list.seeks .own")
    headers = {"Authorization": f"Bearer {token(cluster, '--player', 'operator', '--admin')}"}
    async with aiohttp.ClientSession(headers=headers) as http:
        async with http.get(f"{url}/api/seeks") as answer:
            (me,) = [seek["player"]["id"] for seek in (await answer.json())["seeks"] if seek["room"] == "bridge"]
        until = int(await page.js("Date.now()")) + 600_000
        async with http.post(f"{url}/api/admin/players/{me}/mute", json={"until": until}) as answer:
            assert answer.status == 200, await answer.text()
        await page.see(".notice.bad")
        assert await page.text(".notice.bad") == "Your seek has ended: an operator has muted you."
        await page.click(".room[data-room=bridge] [data-act=play]")
        await page.until(
            "[...document.querySelectorAll('.notice')].some(e => e.textContent.includes('muted you until'))"
        )
        async with http.post(f"{url}/api/admin/players/{me}/unmute", json={}) as answer:
            assert answer.status == 200, await answer.text()
