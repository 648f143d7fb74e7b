"""One cluster and one browser for all browser tests of a process; visitors keep their pages."""

from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.browser.devtools import Browser, chromium, running_browser
from tests.browser.page import Page, new_page
from tests.helpers.cluster import Cluster, arguments, running

ROOMS = Path(__file__).with_name("rooms.toml")
PHONE = (390, 844)
DESK = (1366, 860)
FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Lets fixtures know that their test has failed."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers, two gateways, a house bot."""
    args = arguments(ROOMS, workers=2, gateways=2)
    with running(tmp_path_factory.mktemp("browser") / "data", *args, "--no-limits") as up:
        yield up


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The browser; without one the tests are skipped."""
    if chromium() is None:
        pytest.skip("no Chromium on this machine")
    async with running_browser() as running:
        yield running


class Visitors:
    """Pages by name. A name is a browser of its own; it stays open between tests, so that little is loaded twice."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self._pages: dict[str, Page] = {}
        self._allowed: list[str] = []

    def allow(self, *fragments: str) -> None:
        """Says that this test makes the browser itself remark upon something in the console."""
        self._allowed += fragments

    def lines_break(self) -> None:
        """Says that this test cuts connections."""
        self.allow("WebSocket connection", "net::ERR_")

    async def close(self) -> None:
        """Closes all pages; whoever comes next is somebody else."""
        for page in self._pages.values():
            await page.close()
        self._pages.clear()

    async def get(self, name: str, languages: str = "en-GB,en", *, phone: bool = False) -> Page:
        """The page of that visitor, on a desk or a phone."""
        key = f"{name} {languages}"
        page = self._pages.get(key)
        if page is None:
            page = self._pages[key] = await new_page(self.browser, languages=languages)
        width, height = PHONE if phone else DESK
        await page.resize(width, height, mobile=phone)
        return page

    def forget(self) -> None:
        """Before a test: what the pages have gathered so far is not its business."""
        self._allowed.clear()
        for page in self._pages.values():
            page.errors.clear()
            page.frames.clear()
            page.sent.clear()
            page.requests.clear()

    def errors(self) -> dict[str, list[str]]:
        """Console errors by visitor."""
        found = {}
        for name, page in self._pages.items():
            told = [error for error in page.errors if not any(part in error for part in self._allowed)]
            if told:
                found[name] = told
        return found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def all_visitors(browser: Browser) -> AsyncIterator[Visitors]:
    """The visitors of the whole session."""
    yield Visitors(browser)


@pytest_asyncio.fixture(loop_scope="session")
async def visitors(all_visitors: Visitors, request: pytest.FixtureRequest) -> AsyncIterator[Visitors]:
    """The visitors; afterwards no console may have complained."""
    all_visitors.forget()
    yield all_visitors
    errors = all_visitors.errors()
    if errors or request.node.stash.get(FAILED, False):
        await all_visitors.close()  # a game that goes on would be in the next test's way
    assert errors == {}


@pytest.fixture(scope="session")
def url(cluster: Cluster) -> str:
    """The address that the gateways share."""
    return cluster.url
