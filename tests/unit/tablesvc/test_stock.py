"""The stock of deals, with its real process."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tablesvc import stock as stock_module
from tablesvc.dealing.errors import DealingError, NoSuchDeal
from tablesvc.dealing.solver import has_unique_solution
from tablesvc.stock import CLUB, Setting, Stock
from tests.helpers.eventually import eventually

SMALL: Setting = (6, "regular", 12)
Open = Callable[..., Awaitable[Stock]]


class Watch:
    """Keeps what the stock tells."""

    def __init__(self) -> None:
        self.levels: list[int] = []
        self.took: list[float] = []
        self.misses = 0

    def stock_level(self, deals: int) -> None:
        self.levels.append(deals)

    def dealt(self, took_s: float) -> None:
        self.took.append(took_s)

    def sold_out(self) -> None:
        self.misses += 1


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    """Starts stocks, and stops them in the end."""
    started: list[Stock] = []

    async def start(games: int = 2, **kwargs: object) -> Stock:
        stock = Stock(games, **{"settings": (SMALL,), **kwargs})  # type: ignore[arg-type]
        started.append(stock)
        await stock.start()
        return stock

    yield start
    for stock in started:
        await stock.stop()


def process_of(stock: Stock) -> int:
    """The pid of the stock's process, once it is up."""
    executor = stock._executor
    assert executor is not None
    return executor.submit(os.getpid).result(timeout=30)


async def test_the_clubs_settings_are_stocked_and_refilled(opened: Open) -> None:
    watch = Watch()
    stock = await opened(2, watch=watch, settings=CLUB)
    await eventually(lambda: stock.levels() == dict.fromkeys(CLUB, 2), timeout_s=30)
    seen = set()
    for side, blocks, givens in CLUB:
        made = await stock.take(side, blocks, givens)
        assert made.givens.count(".") == side * side - givens
        assert has_unique_solution(side, made.blocks, made.givens, made.solution)
        seen.add(made.solution)
    assert len(seen) == 4
    assert watch.misses == 0
    await eventually(lambda: stock.levels() == dict.fromkeys(CLUB, 2), timeout_s=30)
    assert max(watch.levels) == 8
    assert len(watch.took) >= 12


async def test_an_empty_stock_deals_on_demand_and_learns_the_setting(opened: Open) -> None:
    watch = Watch()
    stock = await opened(1, watch=watch)
    made = await stock.take(6, "irregular", 8)
    assert made.givens.count(".") == 28
    assert watch.misses == 1
    await eventually(lambda: stock.levels().get((6, "irregular", 8)) == 1)
    again = await stock.take(6, "irregular", 8)
    assert again.solution != made.solution or again.blocks != made.blocks
    assert watch.misses == 1


async def test_no_deal_is_given_out_twice(opened: Open) -> None:
    stock = await opened(3)
    deals = await asyncio.gather(*(stock.take(*SMALL) for _ in range(20)))
    assert len({deal.givens for deal in deals}) == 20


async def test_what_cannot_exist_is_refused_and_not_stocked(opened: Open) -> None:
    stock = await opened()
    with pytest.raises(NoSuchDeal, match="8 to 36 givens, not 7"):
        await stock.take(6, "regular", 7)
    assert (6, "regular", 7) not in stock.levels()


async def test_settings_no_longer_asked_for_make_room(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stock_module, "MAX_SETTINGS", 3)
    stock = await opened(1)
    for givens in (20, 21, 22, 23):
        await stock.take(6, "regular", givens)
    assert set(stock.levels()) == {(6, "regular", givens) for givens in (21, 22, 23)}


async def test_a_killed_process_is_replaced_and_its_deal_made_again(opened: Open) -> None:
    stock = await opened(1, settings=())
    for _ in range(2):
        first = await asyncio.to_thread(process_of, stock)
        os.kill(first, signal.SIGKILL)
        deals = await asyncio.gather(*(stock.take(9, "irregular", 30) for _ in range(3)))
        assert len({deal.solution for deal in deals}) == 3
        assert await asyncio.to_thread(process_of, stock) != first


async def test_too_many_waiting_demands_are_refused_at_once(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stock_module, "MAX_WAITING", 2)
    stock = await opened(1, settings=())
    outcomes = await asyncio.gather(*(stock.take(*SMALL) for _ in range(5)), return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, DealingError)]
    assert len(refused) == 3
    assert all("too many" in str(refusal) for refusal in refused)


async def test_a_demand_waits_no_longer_than_its_limit(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    stock = await opened(1, settings=())
    pid = await asyncio.to_thread(process_of, stock)
    os.kill(pid, signal.SIGSTOP)
    try:
        monkeypatch.setattr(stock_module, "WAIT_S", 0.05)
        with pytest.raises(DealingError, match="too long"):
            await stock.take(*SMALL)
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_stopping_ends_the_process_and_refuses_further_demands(opened: Open) -> None:
    stock = await opened(1)
    pid = await asyncio.to_thread(process_of, stock)
    waiting = [asyncio.ensure_future(stock.take(9, "regular", 22)) for _ in range(5)]
    await eventually(lambda: stock._waiting == 5 or any(demand.done() for demand in waiting))
    await stock.stop()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(outcome, DealingError) or outcome.givens for outcome in outcomes)  # type: ignore[union-attr]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(DealingError, match="does not stay up"):
        await stock.take(9, "regular", 23)


def test_the_process_imports_the_dealer_and_nothing_that_serves() -> None:
    program = "import sys, tablesvc.stock_process; print(*sys.modules)"
    heard = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    loaded = set(heard.stdout.split())
    assert "tablesvc.dealing.dealer" in loaded
    assert not loaded & {"asyncio", "grpc", "nats", "structlog", "prometheus_client", "tablesvc.engine"}


async def test_the_process_ends_when_its_worker_is_killed() -> None:
    program = (
        "import asyncio, os, signal\n"
        "from tablesvc.stock import Stock\n"
        "async def main():\n"
        "    stock = Stock(1, settings=())\n"
        "    await stock.start()\n"
        "    print(stock._executor.submit(os.getpid).result(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "if __name__ == '__main__':\n"
        "    asyncio.run(main())\n"
    )
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert owner.stdout is not None
    pid = int(await owner.stdout.readline())
    await owner.wait()

    def gone() -> bool:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True

    await eventually(gone)
