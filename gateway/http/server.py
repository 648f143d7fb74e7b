"""The HTTP application and the two ports that it listens on."""

import logging
import socket as sockets
from collections.abc import Callable

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from gateway.http.admin import Admin
from gateway.http.api import MAX_BODY, Api
from gateway.http.guard import Guard
from gateway.http.socket import Door
from gateway.http.static import Static
from numbridge import RELEASE

log = structlog.get_logger("numbridge.gateway.http")

BACKLOG = 1024


class _Malformed(logging.Filter):
    """Counts what is no HTTP at all, and leaves it out of the logs: whoever sends such things could fill them."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    def filter(self, record: logging.LogRecord) -> bool:
        """False for requests that could not be parsed, and for clients that have gone."""
        problem = record.exc_info[1] if record.exc_info else None
        if isinstance(problem, HttpProcessingError):
            self._guard.malformed(problem.code)
        return not isinstance(problem, HttpProcessingError | ConnectionError)


class Server:
    """Serves the public port, which other gateways of this machine share, and the own one."""

    def __init__(
        self,
        api: Api,
        admin: Admin,
        door: Door,
        static: Static,
        guard: Guard,
        failing: Callable[[], list[str]],
        host: str,
        request_ms: int,
    ) -> None:
        """`failing`: names of the readiness checks that fail now. `request_ms`: how long a request's head may take."""
        self._host = host
        self._guard = guard
        self._failing = failing
        app = web.Application(middlewares=[guard.middleware], client_max_size=MAX_BODY)
        app.add_routes(api.routes())
        app.add_routes(admin.routes())
        app.add_routes(
            [
                web.get("/healthz", self._healthz),
                web.get("/readyz", self._readyz),
                web.get("/ws", door.enter),
                web.get("/metrics", _nothing),  # its own port's, never the public one's
                web.get("/", static.serve),
                web.get("/{path:(?!api/).+}", static.serve),  # a wrong method of the API is told so
            ]
        )
        self._app = app
        self._runner = web.AppRunner(
            app,
            access_log=None,
            logger=_logger(guard),
            auto_decompress=False,  # no body of ours needs it, and what is packed may be large
            handle_signals=False,
            max_line_size=8190,
            max_field_size=8190,
            keepalive_timeout=request_ms / 1000,
            lingering_time=min(2.0, request_ms / 1000),
            shutdown_timeout=1,
        )
        self._sites: list[web.TCPSite] = []
        self.ports: list[int] = []

    def routes(self) -> list[tuple[str, str]]:
        """Pattern and method of everything that is served."""
        return [(resource.canonical, route.method) for resource in self._app.router.resources() for route in resource]

    async def start(self, port: int, own_port: int) -> None:
        """Listens. Raises OSError if a port is taken by somebody who does not share it."""
        await self._runner.setup()
        self._check_first()
        await self._listen(port, shared=True)
        if own_port >= 0:
            await self._listen(own_port, shared=False)
        log.info("listening", host=self._host, port=self.ports[0], own_port=self.ports[-1])

    def _check_first(self) -> None:
        """Before anything of aiohttp's looks at a request: some of it can't tell of a header that is no text."""
        server = self._runner.server
        if server is None:
            raise RuntimeError("the runner has not been set up")
        handle = server.request_handler

        async def checked(request: web.BaseRequest) -> web.StreamResponse:
            return await handle(request) if _is_text(request) else self._guard.no_text()

        server.request_handler = checked

    async def _listen(self, port: int, *, shared: bool) -> None:
        site = web.TCPSite(
            self._runner,
            self._host,
            port,
            backlog=BACKLOG,
            reuse_port=shared and hasattr(sockets, "SO_REUSEPORT"),
        )
        await site.start()
        self._sites.append(site)
        self.ports.append(self._runner.addresses[-1][1])

    async def stop_listening(self) -> None:
        """Takes no more connections; those that stand go on."""
        for site in self._sites:
            await site.stop()
        self._sites.clear()

    async def stop(self) -> None:
        """Ends everything."""
        await self._runner.cleanup()

    async def _healthz(self, _request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "release": RELEASE})

    async def _readyz(self, _request: web.Request) -> web.Response:
        failing = self._failing()
        return web.json_response({"ok": not failing, "failing": failing}, status=503 if failing else 200)


def _is_text(request: web.BaseRequest) -> bool:
    """Whether all headers are UTF-8."""
    try:
        for _, value in request.raw_headers:
            value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _logger(guard: Guard) -> logging.Logger:
    """One of its own for each server, outside of the tree that lives for ever."""
    logger = logging.Logger("numbridge.gateway.aiohttp", logging.WARNING)
    logger.parent = logging.getLogger()
    logger.addFilter(_Malformed(guard))
    return logger


async def _nothing(_request: web.Request) -> web.Response:
    raise web.HTTPNotFound
