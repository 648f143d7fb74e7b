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


LINE = """(() => {
  const Real = WebSocket;
  const line = { held: false, cut: false, frames: [], sockets: [], release() {
    line.held = false;
    for (const [take, event] of line.frames.splice(0)) take(event);
  } };
  window.line = line;
  window.WebSocket = class extends Real {
    constructor(url, protocols) {
      super(line.cut ? `${url}-nowhere` : url, protocols);
      line.sockets.push(this);
    }
    set onmessage(take) {
      super.onmessage = (event) => (line.held ? line.frames.push([take, event]) : take.call(this, event));
    }
  };
})()"""
"""What lets a test slow a page's connection down or cut it."""

UNTIL = """(async () => {
  const end = performance.now() + %d;
  for (;;) {
    const value = await (%s);
    if (value || performance.now() > end) return value;
    await new Promise((go) => setTimeout(go, 10));
  }
})()"""

AIM = """(async () => {
  const e = [...document.querySelectorAll(%s)].find((e) => e.getClientRects().length && !e.disabled);
  if (!e) return null;
  e.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  const middle = () => { const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; };
  const before = middle();
  await new Promise(requestAnimationFrame);
  const [x, y] = middle();
  if (x !== before[0] || y !== before[1]) return null; // still moving
  return e.contains(document.elementFromPoint(x, y)) ? [x, y] : null;
})()"""
"""Where to press: the middle of what is meant, once it stands still and nothing lies over it."""


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

    async def js(self, expression: str, seconds: float = WAIT_S) -> Any:
        """The value of an expression in the page; promises are awaited. Raises BrowserError if it throws."""
        answer = await self.browser.send(
            "Runtime.evaluate",
            self.session,
            seconds,
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details.get("text", "")))
        return answer["result"].get("value")

    async def until(self, expression: str, seconds: float = WAIT_S) -> Any:
        """The first true value of an expression; the page itself asks again and again until the deadline."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while (left := end - loop.time()) > 0:
            try:
                value = await self.js(UNTIL % (int(1000 * left), expression), left + 5)
            except BrowserError as error:
                if "context" not in str(error) and "navigated" not in str(error):
                    raise
                value = None  # the page has gone to another document meanwhile
            if value:
                return value
        text = str(await self.js("document.body.innerText"))
        raise BrowserError(f"not within {seconds} s: {expression}\nthe page says: {' / '.join(text.split())[:900]}")

    async def see(self, selector: str, seconds: float = WAIT_S) -> None:
        """Waits until something matching is on the page and not hidden."""
        seen = f"[...document.querySelectorAll({json.dumps(selector)})].some(e => e.getClientRects().length)"
        await self.until(seen, seconds)

    async def text(self, selector: str) -> str:
        """The text of the first match, empty if there is none."""
        return str(await self.js(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''"))

    async def open(self, address: str) -> None:
        """Goes to an address and waits until it has loaded."""
        await self.send("Page.navigate", url=address)
        here = f"location.href.startsWith({json.dumps(address.split('#')[0])})"
        await self.until(f"document.readyState === 'complete' && {here}")

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

    async def hold(self, on: bool) -> None:
        """Keeps incoming frames back, as a slow line does; letting go hands them over in order."""
        await self.js("void (window.line.held = true)" if on else "window.line.release()")

    async def drop(self) -> None:
        """Closes the page's connection behind its back."""
        await self.js("window.line.sockets.at(-1).close()")

    async def cut(self, on: bool) -> None:
        """Pulls the plug: the connection is closed and new ones fail, until it is put back."""
        await self.js(f"window.line.cut = {json.dumps(on)}")
        if on:
            await self.drop()

    async def click(self, selector: str) -> None:
        """A click or tap, as the page is set, in the middle of the first match that can be seen and is not disabled."""
        x, y = await self.until(AIM % json.dumps(selector))
        if self.touch:
            await asyncio.gather(
                self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}]),
                self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[]),
            )
        else:
            button = {"x": x, "y": y, "button": "left", "clickCount": 1}
            await asyncio.gather(
                self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y),
                self.send("Input.dispatchMouseEvent", type="mousePressed", **button),
                self.send("Input.dispatchMouseEvent", type="mouseReleased", **button),
            )

    async def choose(self, selector: str, value: str) -> None:
        """Another value of a select or a field, as if chosen or typed."""
        await self.see(selector)
        await self.js(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)};"
            "for (const name of ['input', 'change']) e.dispatchEvent(new Event(name, {bubbles: true})); })()"
        )

    async def keys(self, *names: str, shift: bool = False) -> None:
        """Keys down and up, one after the other, on whatever has the focus."""
        for name in names:
            code, number, text = KEYS.get(name, (f"Digit{name}", ord(name[0]), name))
            extra = {"text": text} if text else {}
            common = {"key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": 8 if shift else 0}
            await asyncio.gather(
                self.send("Input.dispatchKeyEvent", type="keyDown", **common, **extra),
                self.send("Input.dispatchKeyEvent", type="keyUp", **common),
            )

    async def write(self, text: str) -> None:
        """Types text into whatever has the focus."""
        await self.send("Input.insertText", text=text)

    async def picture(self, path: Path) -> None:
        """A screenshot of the window."""
        shot = await self.send("Page.captureScreenshot", format="png")
        await asyncio.to_thread(path.write_bytes, base64.b64decode(shot["data"]))

    async def close(self) -> None:
        """Closes the page and forgets its context."""
        await self.browser.send("Target.disposeBrowserContext", browserContextId=self.context)


async def new_page(browser: Browser, context: str | None = None, languages: str = "en-GB,en") -> Page:
    """A fresh page, in a fresh context unless one is given."""
    if context is None:
        context = (await browser.send("Target.createBrowserContext"))["browserContextId"]
    # a window of its own: a tab that lies behind another gets no frames
    created = await browser.send("Target.createTarget", url="about:blank", browserContextId=context, newWindow=True)
    target = created["targetId"]
    session = (await browser.send("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
    page = Page(browser, session, target, context)
    _listen(page)
    for domain in ("Page", "Runtime", "Network", "Log"):
        await page.send(f"{domain}.enable")
    await page.send("Page.addScriptToEvaluateOnNewDocument", source=LINE)
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
