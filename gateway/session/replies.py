"""The session's own events, as JSON text."""

from gateway.session.effects import Greeting, Refusal
from numbridge import wire


def ok(ref: str | None, **fields: object) -> bytes:
    """The answer to a request that was done."""
    return wire.event("ok", ref=ref, **fields)


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
    )


def pong(ref: str | None, sent_at: int | float | None, server_at: int) -> bytes:
    """The answer to a client's ping."""
    return wire.event("pong", ref=ref, sent_at=sent_at, server_at=server_at)
