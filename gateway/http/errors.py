"""Refusals as HTTP answers: `{"error": {"code", "message"}}` with a fitting status."""

from collections.abc import Mapping

from aiohttp import web

from numbridge import wire
from numbridge.errors import Reason, Rejected

JSON = "application/json; charset=utf-8"

_STATUS = {
    Reason.BAD_MESSAGE: 400,
    Reason.BAD_SEEK: 400,
    Reason.UNAUTHORIZED: 401,
    Reason.FORBIDDEN: 403,
    Reason.NOT_FOUND: 404,
    Reason.NOT_YOUR_TURN: 409,
    Reason.STALE: 409,
    Reason.ILLEGAL: 409,
    Reason.OVER: 409,
    Reason.GONE: 410,
    Reason.LIMIT: 429,
    Reason.INTERNAL: 500,
    Reason.MOVED: 503,
    Reason.UNAVAILABLE: 503,
}


def refusal(rejected: Rejected) -> web.Response:
    """The answer for a refused call; 429 and 503 say when to come back."""
    status = _STATUS[rejected.reason]
    headers = {}
    if status == 429:
        headers["Retry-After"] = str(max(1, -(-(rejected.retry_ms or 1000) // 1000)))
    elif status == 503:
        headers["Retry-After"] = "1"
    elif status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return error(status, str(rejected.reason), rejected.message, headers)


def error(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    """An error in the API's shape."""
    body = wire.encode({"error": {"code": code, "message": message}})
    return web.Response(status=status, body=body, headers={"Content-Type": JSON, **(headers or {})})


def bad(message: str) -> Rejected:
    """The refusal of a malformed call."""
    return Rejected(Reason.BAD_MESSAGE, message)
