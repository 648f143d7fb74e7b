"""The life of a service process: start in order, serve, drain, stop in reverse.

    build(settings, **overrides) -> App     in each service's wiring.py
    run(service, Settings, build)           in each service's main.py

First SIGTERM or SIGINT: readiness goes off, `drain` callbacks run (bounded by
`drain_ms`), then stops in reverse order. A second signal stops at once.

SIGHUP: `on_reload` steps run; a service without any does nothing. If it comes
because the terminal has gone that the process was started from, it is a SIGTERM.
"""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, NoReturn

import structlog
from aiohttp import web
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from numbridge import RELEASE, collecting, obs, tracing
from numbridge.process_metrics import ProcessMetrics
from numbridge.settings import CommonSettings, SettingsError
from numbridge.tasks import Tasks
from numbridge.terminal import Terminal

log = structlog.get_logger("numbridge.app")

Step = Callable[[], Awaitable[Any]]
Probe = Callable[[], bool]

EXIT_OK, EXIT_FAILED, EXIT_USAGE = 0, 1, 2


class App:
    """Everything one service runs. Parts are added in dependency order."""

    def __init__(self, settings: CommonSettings, registry: CollectorRegistry = REGISTRY) -> None:
        self.settings = settings
        self.registry = registry
        self.metrics_port = 0
        self._parts: list[tuple[str, Step | None, Step | None]] = []
        self._drains: list[tuple[str, Step]] = []
        self._reloads: list[tuple[str, Step]] = []
        self._probes: dict[str, Probe] = {}
        self._stack = AsyncExitStack()
        self._starting: str | None = None
        """The part that is being started."""
        self.draining = False
        self._metrics = ProcessMetrics(registry, lambda: not self.failing(), lambda: self.draining)
        self._watch = Tasks()
        self.ended = asyncio.Event()  # a part may set it to end the process (a finished drain)

    def part(self, name: str, start: Step | None = None, stop: Step | None = None) -> None:
        """Adds a part: started after those before it, stopped before them."""
        self._parts.append((name, start, stop))

    def on_drain(self, name: str, step: Step) -> None:
        """Adds a step of the drain; steps run in the order they were added."""
        self._drains.append((name, step))

    def on_reload(self, name: str, step: Step) -> None:
        """Adds a step that runs on SIGHUP, once all has started."""
        self._reloads.append((name, step))

    def reload(self) -> None:
        """Runs the reload steps, each as a task of its own."""
        if self._starting is not None or self.draining:
            log.warning("reload_ignored", because="draining" if self.draining else "starting")
            return
        for name, step in self._reloads:
            log.info("reloading", part=name)
            self._watch.spawn(_step(step), "reload")

    def probe(self, name: str, ok: Probe) -> None:
        """Adds a readiness check: cheap, reads what is known, does not call out."""
        self._probes[name] = ok

    def failing(self) -> list[str]:
        """Names of the readiness checks that fail now; until all has started, the part that is waited for."""
        if self.draining:
            return ["draining"]
        if self._starting is not None:
            return [self._starting]
        return [name for name, ok in self._probes.items() if not ok()]

    async def start(self) -> None:
        """Starts every part; if one fails, those before it are stopped and the error goes on."""
        self._starting = "metrics"
        try:
            await self._serve_metrics()
            self._watch.spawn(self._metrics.watch(), "loop_watch")
            self._stack.push_async_callback(self._watch.close)
            for name, start, stop in self._parts:
                self._starting = name
                if start is not None:
                    await start()
                if stop is not None:
                    self._stack.push_async_callback(self._stopping, name, stop)
            self._starting = None
        except BaseException:
            await self._stack.aclose()
            raise

    async def _stopping(self, name: str, stop: Step) -> None:
        try:
            async with asyncio.timeout(10):
                await stop()
        except TimeoutError:
            log.warning("stop_timed_out", part=name)

    async def drain(self) -> None:
        """Runs the drain steps within `drain_ms`; what is not done by then is cut off."""
        self.draining = True
        try:
            async with asyncio.timeout(self.settings.drain_ms / 1000):
                for name, step in self._drains:
                    log.info("draining", part=name)
                    await step()
        except TimeoutError:
            log.warning("drain_timed_out", drain_ms=self.settings.drain_ms)

    async def stop(self) -> None:
        """Stops every part in reverse order."""
        await self._stack.aclose()

    async def __aenter__(self) -> "App":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _serve_metrics(self) -> None:
        async def metrics(_request: web.Request) -> web.Response:
            return web.Response(body=generate_latest(self.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

        async def healthz(_request: web.Request) -> web.Response:
            return web.json_response({"ok": True, "release": RELEASE})

        async def readyz(_request: web.Request) -> web.Response:
            failing = self.failing()
            return web.json_response({"ok": not failing, "failing": failing}, status=503 if failing else 200)

        server = web.Application()
        server.add_routes([web.get("/metrics", metrics), web.get("/healthz", healthz), web.get("/readyz", readyz)])
        runner = web.AppRunner(server, access_log=None, handle_signals=False, shutdown_timeout=1)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        site = web.TCPSite(runner, self.settings.metrics_host, self.settings.metrics_port)
        await site.start()
        self.metrics_port = runner.addresses[0][1]


async def _step(step: Step) -> None:
    await step()


async def _serve(app: App, service: str) -> int:
    loop = asyncio.get_running_loop()
    first, second = asyncio.Event(), asyncio.Event()

    def on_signal() -> None:
        (second if first.is_set() else first).set()

    terminal = Terminal()

    def on_hangup() -> None:
        if terminal.gone:
            on_signal()
        else:
            app.reload()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    loop.add_signal_handler(signal.SIGHUP, on_hangup)
    starting = asyncio.create_task(app.start())
    waits = [asyncio.create_task(event.wait()) for event in (first, app.ended)]
    await asyncio.wait([starting, *waits], return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():  # a signal before everything was up
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        return EXIT_OK
    await starting
    collecting.settle()
    log.info("started", release=RELEASE, metrics_port=app.metrics_port)
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    if first.is_set():
        drain = asyncio.create_task(app.drain())
        force = asyncio.create_task(second.wait())
        await asyncio.wait([drain, force], return_when=asyncio.FIRST_COMPLETED)
        if not drain.done():
            log.warning("forced")
            drain.cancel()
            await asyncio.gather(drain, return_exceptions=True)
        force.cancel()
    await app.stop()
    for wait in waits:
        wait.cancel()
    log.info("stopped", service=service)
    return EXIT_OK


def run(service: str, settings_type: type[CommonSettings], build: Callable[[Any], App]) -> NoReturn:
    """Runs one service until a signal; exits 2 on bad settings, 1 if a part cannot start."""
    import uvloop

    try:
        settings = settings_type.load()
    except SettingsError as error:
        for problem in error.problems:
            print(f"numbridge {service}: {problem}", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    obs.setup_logs(service, settings.name, settings.log_level, settings.log_format)
    try:
        tracing.start(service, settings)
    except SettingsError as error:
        print(f"numbridge {service}: {error.problems[0]}", file=sys.stderr)
        sys.exit(EXIT_USAGE)

    async def main() -> int:
        try:
            app = build(settings)
            return await _serve(app, service)
        except (OSError, TimeoutError, RuntimeError) as error:
            said = f"{type(error).__name__}: {error}"
            log.error("cannot_start", error=said)  # noqa: TRY400 - one clear line, no trace
            return EXIT_FAILED
        finally:
            await asyncio.to_thread(tracing.stop)

    sys.exit(uvloop.run(main()))
