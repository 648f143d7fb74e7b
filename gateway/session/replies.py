"""The session's own events, as JSON text."""

import msgspec

from gateway.session.effects import Greeting, Refusal
from numbridge import wire

_encode = msgspec.json.Encoder().encode


class _Ok(msgspec.Struct, omit_defaults=True):
    ev: str
    ref: str | None = None
    version: int | None = None
    seek: str | None = None


class _Pong(msgspec.Struct, omit_defaults=True):
    ev: str
    server_at: int
    ref: str | None = None
    sent_at: int | float | None = None


def ok(ref: str | None, *, version: int | None = None, seek: str | None = None) -> bytes:
    """The answer to a request that was done."""
    return _encode(_Ok("ok", ref, version, seek))


def error(ref: str | None, refusal: Refusal) -> bytes:
    """The answer to a request that was refused."""
    return wire.event(
        "error",
        ref=ref,
        code=refusal.code,
        message=refusal.message,
        version=refusal.version,
        retry_ms=refusal.retry_ms,
        ply=refusal.ply,
    )


def hello(greeting: Greeting, ref: str | None) -> bytes:
    """Who the player is, and what he must know first."""
    return wire.event(
        "hello",
        ref=ref,
        player={"id": greeting.player, "name": greeting.name},
        server_at=greeting.server_at,
        games=greeting.games,
        seeks=greeting.seeks,
        partial=greeting.partial or None,
    )


def pong(ref: str | None, sent_at: int | float | None, server_at: int) -> bytes:
    """The answer to a client's ping."""
    return _encode(_Pong("pong", server_at, ref, sent_at))
