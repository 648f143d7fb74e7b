"""Pictures of the client for eyes: `python -m tests.browser.screenshots OUT [--url URL]`.

Starts a cluster of its own unless an address is given, plays a few moves in each variant, and writes
PNG files: lobby and table, both sizes of field, irregular blocks, phone, dark, the end of a game, review, rules.
"""

import argparse
import asyncio
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.browser.devtools import running_browser
from tests.browser.page import Page, new_page
from tests.browser.players import Seat, board_of, meet, play_out, seats
from tests.browser.strategy import purposeful, varied
from tests.helpers.cluster import running

DESK = (1366, 860)
PHONE = (390, 844)
NAMES = ("Anneke", "Dimitris")


async def named(url: str, page: Page, name: str) -> None:
    """Takes a name, so that the pictures show people."""
    await page.open(f"{url}/")
    await page.click("[data-act=rename]")
    await page.write(name)
    await page.keys("Enter")
    await page.until(f"document.querySelector('.who-chip').textContent === {name!r}")


async def some_moves(url: str, game: str, one: Page, two: Page, count: int, dice: Random) -> tuple[Seat, Seat]:
    """Plays on for a while; the seats as blue and red."""
    board = await board_of(url, game)
    blue, red = await seats(one, two)
    made = 0
    while made < count:
        for seat, other in ((blue, red), (red, blue)):
            seen = await seat.look()
            if seen.mine and made < count:
                move = purposeful(board, seen, seat.color) if dice.random() < 0.6 else varied(board, seen, dice)
                await seat.act(board, move)
                await other.reach(await seat.version())
                made += 1
    return blue, red


async def shoot(url: str, out: Path) -> None:
    """All the pictures."""
    dice = Random(20)
    async with running_browser() as browser:
        one, two = await new_page(browser), await new_page(browser)
        for page, name in zip((one, two), NAMES, strict=True):
            await named(url, page, name)
        # so few moves that no game can be over: a chain takes nine cells, or six; five blocks take twenty-five
        plan = [
            ("bridge", {"blocks": "regular", "highlight": "true"}, 14, "9x9"),
            ("blitz", {"blocks": "regular", "highlight": "true"}, 9, "6x6"),
            ("domains", {"blocks": "irregular", "highlight": "true"}, 30, "domains-irregular"),
        ]
        for room, wish, count, name in plan:
            game = await meet(url, room, one, two, wish)
            blue, red = await some_moves(url, game, one, two, count, dice)
            mover = blue if (await blue.look()).mine else red
            await mover.page.click(".tile")
            await mover.page.picture(out / f"table-{name}.png")
            await mover.page.dark(True)
            await mover.page.until("getComputedStyle(document.body).backgroundColor === 'rgb(20, 23, 27)'")
            await mover.page.picture(out / f"table-{name}-dark.png")
            await mover.page.dark(False)
            await mover.page.until("getComputedStyle(document.body).backgroundColor === 'rgb(243, 240, 232)'")
            await mover.page.resize(*PHONE, scale=2, mobile=True)
            await mover.page.js("scrollTo(0, 0)")
            await mover.page.picture(out / f"table-{name}-phone.png")
            await mover.page.resize(*DESK)
            board = await board_of(url, game)
            await play_out(board, blue, red, dice)
            await blue.page.see(".strip.own .change[data-dir], .result")
            await blue.page.picture(out / f"end-{name}.png")
            if room == "blitz":
                await one.hash(f"#/review/{game}")
                await one.see(".steps")
                await one.picture(out / "review.png")
        await one.hash("#/rules/basics")
        await one.see(".rules-text h1")
        await one.picture(out / "rules.png")
        await one.click(".brand")
        await two.hash("#/")
        await two.click(".room[data-room=bridge] [data-act=play]")
        await one.see(".list.seeks [data-act=accept]")
        await one.picture(out / "lobby.png")
        await one.dark(True)
        await one.until("getComputedStyle(document.body).backgroundColor === 'rgb(20, 23, 27)'")
        await one.picture(out / "lobby-dark.png")
        await one.dark(False)
        await one.until("getComputedStyle(document.body).backgroundColor === 'rgb(243, 240, 232)'")
        await one.resize(*PHONE, scale=2, mobile=True)
        await one.js("scrollTo(0, 0)")
        await one.picture(out / "lobby-phone.png")


@contextlib.contextmanager
def club(url: str | None) -> Iterator[str]:
    """The given address, or a cluster of one's own with two house bots."""
    if url is not None:
        yield url.rstrip("/")
        return
    args = ("--workers", "1", "--bots", "2", "--no-limits")
    with tempfile.TemporaryDirectory(prefix="numbridge-shots-") as folder, running(Path(folder) / "d", *args) as up:
        yield up.url


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.screenshots", description=__doc__)
    parser.add_argument("out", type=Path, help="folder for the pictures")
    parser.add_argument("--url", help="a running cluster's address; without it one is started")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with club(args.url) as url:
        asyncio.run(shoot(url, args.out))
    for path in sorted(args.out.glob("*.png")):
        print(path)


if __name__ == "__main__":
    main()
