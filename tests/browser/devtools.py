"""A headless Chromium driven over the DevTools protocol: one process, an isolated context a visitor.

No driver program, no other dependency than aiohttp. Every wait has a deadline.
"""

import asyncio
import contextlib
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp

from tests.helpers.eventually import eventually

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--disable-background-timer-throttling",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
CALL_S = 20.0

Params = dict[str, Any]
Listener = Callable[[Params], None]


class BrowserError(AssertionError):
    """The browser refused a command, or the page threw; the text is its own."""


def chromium() -> str | None:
    """Path of the browser, or None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """A running browser. `send` speaks to the browser itself or to a page's session."""

    def __init__(self, process: asyncio.subprocess.Process, ws: aiohttp.ClientWebSocketResponse) -> None:
        self._process = process
        self._ws = ws
        self._next = 0
        self._waiting: dict[int, asyncio.Future[Params]] = {}
        self._listeners: dict[tuple[str, str], list[Listener]] = {}
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self._ws:
            body = json.loads(message.data)
            if "id" in body:
                future = self._waiting.pop(body["id"], None)
                if future and not future.done():
                    if "error" in body:
                        future.set_exception(BrowserError(body["error"].get("message", "refused")))
                    else:
                        future.set_result(body.get("result", {}))
                continue
            for listener in self._listeners.get((body.get("sessionId", ""), body["method"]), ()):
                listener(body.get("params", {}))

    def on(self, session: str, method: str, listener: Listener) -> None:
        """Calls `listener` with the parameters of every such event."""
        self._listeners.setdefault((session, method), []).append(listener)

    async def send(self, method: str, session: str = "", seconds: float = CALL_S, /, **params: Any) -> Params:
        """One command. Raises BrowserError, or TimeoutError after `seconds`."""
        self._next += 1
        body: Params = {"id": self._next, "method": method, "params": params}
        if session:
            body["sessionId"] = session
        future: asyncio.Future[Params] = asyncio.get_running_loop().create_future()
        self._waiting[self._next] = future
        await self._ws.send_json(body)
        async with asyncio.timeout(seconds):
            return await future

    async def close(self) -> None:
        """Ends the browser."""
        with contextlib.suppress(BrowserError, TimeoutError, ConnectionError):
            await self.send("Browser.close")
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        try:
            async with asyncio.timeout(5):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


@contextlib.asynccontextmanager
async def running_browser() -> AsyncIterator[Browser]:
    """A browser with an empty profile of its own."""
    program = chromium()
    assert program, "no Chromium on this machine"
    profile = tempfile.mkdtemp(prefix="numbridge-chromium-")
    process = await asyncio.create_subprocess_exec(
        program,
        *FLAGS,
        f"--user-data-dir={profile}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with aiohttp.ClientSession() as http:
            address = await _address(Path(profile) / "DevToolsActivePort", process)
            async with http.ws_connect(address, max_msg_size=0) as ws:
                browser = Browser(process, ws)
                try:
                    yield browser
                finally:
                    await browser.close()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        shutil.rmtree(profile, ignore_errors=True)


async def _address(port_file: Path, process: asyncio.subprocess.Process) -> str:
    def written() -> str | None:
        if process.returncode is not None:
            raise BrowserError(f"Chromium ended with {process.returncode}")
        lines = port_file.read_text().split() if port_file.exists() else []
        return f"ws://127.0.0.1:{lines[0]}{lines[1]}" if len(lines) == 2 else None

    return str(await eventually(written, CALL_S, what="Chromium names its port"))
