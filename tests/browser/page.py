"""A visitor's page: what a person does (mouse, touch, keys) and what a test looks at."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

from tests.browser.devtools import Browser, BrowserError, Params

WAIT_S = 15.0
KEYS = {
    "Enter": ("Enter", 13, "\r"),
    " ": ("Space", 32, " "),
    "Escape": ("Escape", 27, ""),
    "Tab": ("Tab", 9, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "Home": ("Home", 36, ""),
    "End": ("End", 35, ""),
    "PageUp": ("PageUp", 33, ""),
    "PageDown": ("PageDown", 34, ""),
}


class Page:
    """One page in a browser context of its own: storage and cookies are nobody else's."""

    def __init__(self, browser: Browser, session: str, target: str, context: str) -> None:
        self.browser = browser
        self.session = session
        self.target = target
        self.context = context
        self.touch = False
        self.errors: list[str] = []
        """Console errors, exceptions and failed loads, as the browser words them."""
        self.frames: list[str] = []
        """Every WebSocket frame received."""
        self.sent: list[str] = []
        """Every WebSocket frame sent."""
        self.requests: list[str] = []
        """Every address asked for."""

    async def send(self, method: str, **params: Any) -> Params:
        """A DevTools command to this page."""
        return await self.browser.send(method, self.session, **params)

    async def js(self, expression: str) -> Any:
        """The value of an expression in the page; promises are awaited. Raises BrowserError if it throws."""
        answer = await self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details.get("text", "")))
        return answer["result"].get("value")

    async def until(self, expression: str, seconds: float = WAIT_S) -> Any:
        """The first true value of an expression; asks again every frame until the deadline."""
        deadline = asyncio.get_running_loop().time() + seconds
        value = None
        while asyncio.get_running_loop().time() < deadline:
            value = await self.js(expression)
            if value:
                return value
            await asyncio.sleep(0.02)
        text = await self.js("document.body.innerText")
        raise BrowserError(f"not within {seconds} s: {expression}\nthe page says:\n{text[:1500]}")

    async def see(self, selector: str, seconds: float = WAIT_S) -> None:
        """Waits until something matching is on the page and not hidden."""
        await self.until(f"[...document.querySelectorAll({json.dumps(selector)})].some(e => e.getClientRects().length)", seconds)

    async def text(self, selector: str) -> str:
        """The text of the first match, empty if there is none."""
        return str(await self.js(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''"))

    async def open(self, address: str) -> None:
        """Goes to an address and waits until it has loaded."""
        await self.send("Page.navigate", url=address)
        await self.until(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(address.split('#')[0])})")

    async def hash(self, fragment: str) -> None:
        """Goes to another page of the client."""
        await self.js(f"location.hash = {json.dumps(fragment)}")

    async def resize(self, width: int, height: int, scale: float = 1, mobile: bool = False) -> None:
        """Another window size."""
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )
        await self.send("Emulation.setTouchEmulationEnabled", enabled=mobile, maxTouchPoints=1)
        self.touch = mobile

    async def dark(self, on: bool = True) -> None:
        """Another colour scheme of the system's. Motion is always reduced: nothing should wait for an animation."""
        features = [("prefers-color-scheme", "dark" if on else "light"), ("prefers-reduced-motion", "reduce")]
        await self.send(
            "Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in features]
        )

    async def offline(self, on: bool) -> None:
        """Pulls the plug, or puts it back. Sockets that are open stay until they are closed by other means."""
        await self.send(
            "Network.emulateNetworkConditions", offline=on, latency=0, downloadThroughput=-1, uploadThroughput=-1
        )

    async def click(self, selector: str) -> None:
        """A click or tap, as the page is set, in the middle of the first visible match."""
        await self.see(selector)
        box = await self.js(
            f"(() => {{ const e = [...document.querySelectorAll({json.dumps(selector)})].find(e => e.getClientRects().length);"
            "e.scrollIntoView({block: 'center', behavior: 'instant'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        await (self._tap if self.touch else self._press)(*box)

    async def _press(self, x: float, y: float) -> None:
        await self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            await self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def _tap(self, x: float, y: float) -> None:
        await self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        await self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    async def key(self, name: str, shift: bool = False) -> None:
        """One key down and up, on whatever has the focus."""
        code, number, text = KEYS.get(name, (f"Digit{name}", ord(name[0]), name))
        extra = {"text": text} if text else {}
        common = {"key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": 8 if shift else 0}
        await self.send("Input.dispatchKeyEvent", type="keyDown", **common, **extra)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    async def write(self, text: str) -> None:
        """Types text into whatever has the focus."""
        await self.send("Input.insertText", text=text)

    async def picture(self, path: Path) -> None:
        """A screenshot of the window."""
        shot = await self.send("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    async def close(self) -> None:
        """Closes the page and forgets its context."""
        await self.browser.send("Target.disposeBrowserContext", browserContextId=self.context)


async def new_page(browser: Browser, context: str | None = None, languages: str = "en-GB,en") -> Page:
    """A fresh page, in a fresh context unless one is given."""
    if context is None:
        context = (await browser.send("Target.createBrowserContext"))["browserContextId"]
    target = (await browser.send("Target.createTarget", url="about:blank", browserContextId=context))["targetId"]
    session = (await browser.send("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
    page = Page(browser, session, target, context)
    _listen(page)
    for domain in ("Page", "Runtime", "Network", "Log"):
        await page.send(f"{domain}.enable")
    await page.resize(1366, 860)
    await page.dark(False)
    agent = await page.js("navigator.userAgent")
    await page.send("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=languages)
    return page


def _listen(page: Page) -> None:
    def on(method: str, take: Any) -> None:
        page.browser.on(page.session, method, take)

    def console(event: Params) -> None:
        if event["type"] in ("error", "assert", "warning"):
            page.errors.append(" ".join(str(arg.get("value", arg.get("description", ""))) for arg in event["args"]))

    def entry(event: Params) -> None:
        if event["entry"]["level"] in ("error", "warning"):
            page.errors.append(f"{event['entry']['text']} {event['entry'].get('url', '')}")

    on("Runtime.consoleAPICalled", console)
    on("Log.entryAdded", entry)
    on("Runtime.exceptionThrown", lambda event: page.errors.append(json.dumps(event["exceptionDetails"])[:800]))
    on("Network.webSocketFrameReceived", lambda event: page.frames.append(event["response"]["payloadData"]))
    on("Network.webSocketFrameSent", lambda event: page.sent.append(event["response"]["payloadData"]))
    on("Network.requestWillBeSent", lambda event: page.requests.append(event["request"]["url"]))
