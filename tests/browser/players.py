"""Two visitors and a spectator at one table, acting through the page alone."""

import asyncio
import json
from random import Random
from typing import Any

import aiohttp

from tablesvc.dealing.solver import solve
from tests.browser.page import WAIT_S, Page
from tests.browser.strategy import Board, Move, Seen, purposeful, varied

LOOK = """(() => {
  const table = document.querySelector('.table-page');
  const cells = [...document.querySelectorAll('.board [data-i]')];
  const has = (name) => (e) => e.classList.contains(name);
  const text = (e) => e.querySelector(':scope > .digit').textContent;
  return {
    version: Number(table?.dataset.version ?? -1),
    mine: !!document.querySelector('.turn-card.mine') && !document.querySelector('.cell.pending'),
    over: !!document.querySelector('.panel .result:not([hidden]) h2'),
    hand: [...document.querySelectorAll('.tray .tile')].map((e) => Number(e.textContent)),
    field: cells.map((e) => has('empty')(e) ? '.' : text(e)).join(''),
    owners: cells.map((e) => has('blue')(e) ? 'b' : has('red')(e) ? 'r' : '.').join(''),
    givens: cells.map((e) => has('given')(e) ? text(e) : '.').join(''),
    bag: Number(document.querySelector('.bag b')?.textContent ?? 0),
    pie: !!document.querySelector('.pie:not([hidden])'),
  };
})()"""


class Seat:
    """A player's page at a table. `by` is how this player acts: mouse, touch or keys."""

    def __init__(self, page: Page, color: str, by: str) -> None:
        self.page = page
        self.color = color
        self.by = by

    async def look(self) -> Seen:
        """What the page shows now."""
        return Seen(**await self.page.js(LOOK))

    async def act(self, board: Board, move: Move) -> None:
        """Plays a move as a person would, and waits until the table has moved on."""
        before = await self.version()
        await self.start(board, move)
        await self.reach(before + 1)

    async def version(self) -> int:
        """The version that the page shows."""
        return int(await self.page.js("Number(document.querySelector('.table-page')?.dataset.version ?? -1)"))

    async def reach(self, version: int, seconds: float = WAIT_S) -> None:
        """Waits until the page shows at least this version."""
        shown = "Number(document.querySelector('.table-page')?.dataset.version ?? -1)"
        await self.page.until(f"{shown} >= {version}", seconds)

    async def start(self, board: Board, move: Move) -> None:
        """Plays a move without waiting for what comes of it."""
        if move.kind == "exchange":
            await self.page.click("[data-act=exchange]")
            await self.page.click("dialog [data-act=yes]")
        elif move.kind == "pie":
            await self.page.click("[data-act=pie]")
        elif self.by == "keys":
            await self._by_keys(board, move)
        else:
            await self._by_pointer(board, move)

    async def _by_pointer(self, board: Board, move: Move) -> None:
        picked = f".tray .tile[data-digit='{move.tile}'][aria-pressed=true]"
        if move.tile is not None and not await self.page.js(f"!!document.querySelector({json.dumps(picked)})"):
            await self.page.click(f".tray .tile[data-digit='{move.tile}']")
        cell = f".board [data-i='{move.cell}']"
        await self.page.click(cell)
        if move.kind == "claim" or self.by == "touch":
            await self.page.click(cell if self.by == "mouse" else "[data-act=go]")

    async def _by_keys(self, board: Board, move: Move) -> None:
        page = self.page
        if not await page.js("!!document.activeElement.closest('.board')"):
            await page.js("document.querySelector('.board [tabindex=\"0\"]').focus()")
        here = int(await page.js("document.activeElement.dataset.i"))
        row, column = divmod(here, board.side)
        to_row, to_column = divmod(move.cell, board.side)
        await page.keys(
            *([] if move.tile is None else [str(move.tile)]),
            *["ArrowDown" if to_row > row else "ArrowUp"] * abs(to_row - row),
            *["ArrowRight" if to_column > column else "ArrowLeft"] * abs(to_column - column),
            *["Enter"] * (2 if move.kind == "claim" else 1),
        )


async def board_of(url: str, game: str) -> Board:
    """The field of a game from its public view, solved."""
    async with aiohttp.ClientSession() as http, http.get(f"{url}/api/games/{game}") as answer:
        view: dict[str, Any] = (await answer.json())["view"]
    settings = view["settings"]
    solution = await asyncio.to_thread(solve, settings["side"], view["blocks"], view["givens"])
    assert solution, "the deal has no solution"
    return Board(settings["side"], view["blocks"], solution, settings["variant"], settings["claim_price"])


async def meet(url: str, room: str, one: Page, two: Page, wish: dict[str, str] | None = None) -> str:
    """Brings two pages together in a room through the lobby; the game's id.

    `wish`: choices of the seek form by name; without it one click posts a seek that leaves all open.
    """
    for page in (one, two):
        await to_lobby(url, page)
    card = f".room[data-room='{room}']"
    if wish is None:
        await one.click(f"{card} [data-act=play]")
    else:
        await one.click(f"{card} .choices summary")
        for name, value in wish.items():
            field = f"{card} input[name={name}]"
            if await one.js(f"document.querySelector({json.dumps(field)})?.type") == "radio":
                await one.click(f"{card} label:has(> input[name={name}][value='{value}'])")
            else:
                await one.choose(field, value)
        await one.click(f"{card} [data-act=seek]")
    name = await one.text(".who-chip")
    await two.click(f".list.seeks [data-act=accept][aria-label*={name!r}]")
    for page in (one, two):
        await page.until("location.hash.startsWith('#/game/')")
        await page.see(".strip.own")
    return str(await one.js("location.hash.split('/')[2]"))


async def to_lobby(url: str, page: Page) -> None:
    """Goes to the lobby, by the shortest way, and waits until it is connected."""
    if await page.js("location.origin") != url:
        await page.open(f"{url}/")
    else:
        await page.hash("#/")
    await page.see(".room [data-act=play]:not([disabled])")


async def seats(one: Page, two: Page, by_one: str = "mouse", by_two: str = "mouse") -> tuple[Seat, Seat]:
    """The two as blue and red."""
    color = str(await one.js("document.querySelector('.strip.own').dataset.color"))
    first = Seat(one, color, by_one)
    second = Seat(two, "red" if color == "blue" else "blue", by_two)
    return (first, second) if color == "blue" else (second, first)


async def play_out(board: Board, blue: Seat, red: Seat, dice: Random, limit: int = 240) -> list[Move]:
    """Plays to the end: blue heads for the goal, red does a bit of everything. The moves made."""
    moves: list[Move] = []
    while len(moves) < limit:
        for seat, other in ((blue, red), (red, blue)):
            seen = await seat.look()
            if seen.over:
                return moves
            if not seen.mine:
                continue
            if seen.pie and seat is red:
                move = Move("pie")
            else:
                move = purposeful(board, seen, "blue") if seat is blue else varied(board, seen, dice)
            await seat.act(board, move)
            moves.append(move)
            await other.reach(await seat.version())
    raise AssertionError(f"no end after {len(moves)} moves")
