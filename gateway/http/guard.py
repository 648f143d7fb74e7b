"""Around every HTTP call: who calls, how often he may, what goes wrong as JSON, and headers that keep pages safe."""

import re
from collections.abc import Awaitable, Callable
from ipaddress import ip_address, ip_network

from aiohttp import web

from gateway.faults import Supervised
from gateway.http import errors
from gateway.limits.digest import bucket_key
from gateway.limits.gates import Gates
from gateway.metrics import Metrics
from gateway.session.limits import Buckets
from numbridge.clock import monotonic
from numbridge.errors import Reason, Rejected

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HEADERS = {
    "Server": "numbridge",  # what is underneath, and which release of it, is nobody's business
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    # No inline script or style, nothing from elsewhere, in nobody's frame.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "media-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}


class Guard:
    """What every call passes through."""

    def __init__(self, gates: Gates, trusted: tuple[str, ...], metrics: Metrics) -> None:
        """`trusted`: addresses or networks of proxies whose X-Forwarded-For is believed."""
        self._gates = gates
        self._trusted = tuple(ip_network(entry, strict=False) for entry in trusted)
        self._metrics = metrics

    def address(self, request: web.Request) -> str:
        """The client's address: the last one in the chain that no trusted proxy of ours vouches for.

        Without trusted proxies, or from anybody else, X-Forwarded-For is just a text. No other header is believed.
        """
        address = request.remote or "unknown"
        if not self._trusted:
            return address
        chain = [part for header in request.headers.getall("X-Forwarded-For", []) for part in header.split(",")]
        while chain and self._trusts(address):
            candidate = _address(chain.pop())
            if candidate is None:  # a proxy of ours has added something that is no address: go no further
                break
            address = candidate
        return address

    def malformed(self, status: int) -> None:
        """A request that is no HTTP at all was answered so."""
        self._metrics.http("none", status)

    def no_text(self) -> web.Response:
        """The answer to a request with a header that is no text."""
        self._metrics.http("none", 400)
        return errors.error(400, "bad_message", "a header is no UTF-8", HEADERS)

    def proxied(self, request: web.Request) -> bool:
        """Whether a proxy of ours stands between us and the client."""
        return self._trusts(request.remote or "")

    def _trusts(self, address: str) -> bool:
        try:
            ip = ip_address(bucket_key(address) if ":" in address and "." in address else address)
        except ValueError:
            return False
        return any(ip in network for network in self._trusted)

    def take(self, buckets: Buckets, address: str, what: str) -> None:
        """Raises Rejected (limit) when `address` has done that too often."""
        wait = buckets.take(bucket_key(address), monotonic())
        if wait:
            raise Rejected(
                Reason.LIMIT, f"too many {what} from your address in a short time; wait {wait} ms", retry_ms=wait
            )

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The one middleware: limits, errors, headers, count."""
        response: web.StreamResponse | None = None
        with Supervised(self._metrics, "http") as supervised:
            try:
                if self._gates.http is not None and request.path.startswith("/api/"):
                    self.take(self._gates.http, self.address(request), "calls")
                response = await handler(request)
            except web.HTTPException as problem:
                response = _as_json(problem)
        if response is None:
            rejected = supervised.rejected
            response = errors.refusal(rejected if rejected is not None else Rejected(Reason.INTERNAL, "a fault"))
        if not response.prepared:
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            if request.path.startswith("/api/"):
                response.headers.setdefault("Cache-Control", "no-store")
        self._metrics.http(_call(request), response.status)
        return response


def _address(text: str) -> str | None:
    """An address out of X-Forwarded-For; some proxies add the port. None for anything else."""
    text = text.strip()
    host = re.fullmatch(r"\[([^\]]+)\](?::\d+)?|([\d.]+):\d+", text)
    try:
        return str(ip_address((host[1] or host[2]) if host is not None else text))
    except ValueError:
        return None


def _as_json(problem: web.HTTPException) -> web.Response:
    """aiohttp's own refusals (404, 405, 413 …) in the API's shape."""
    if isinstance(problem, web.HTTPMethodNotAllowed):
        allowed = ", ".join(sorted(problem.allowed_methods))
        message = f"{problem.method} is not possible here; {allowed} is"
        return errors.error(405, "bad_message", message, {"Allow": allowed})
    if problem.status == 404:
        return errors.error(404, "not_found", "there is nothing at this address")
    if problem.status == 408:
        return errors.error(408, "bad_message", "the body did not come in time", {"Connection": "close"})
    if problem.status == 413:
        return errors.error(413, "bad_message", "the body is too long")
    return errors.error(problem.status, "bad_message", problem.reason)


def _call(request: web.Request) -> str:
    """The route's pattern, which is one of a few."""
    resource = request.match_info.route.resource
    return resource.canonical if resource is not None else "none"
