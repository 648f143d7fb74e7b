"""Ids: opaque to clients, URL-safe, and safe as one token of a NATS subject.

A game's id carries its shard (`<shard in hex>-<random>`), so there is no
directory of games: shard -> owner is the whole map.
"""

import secrets

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_CHARS = 16  # 62**16 is 95 bits: no two games of a club ever meet

GUEST_PREFIX = "guest-"
HOUSE_PREFIX = "house-"  # house bots: ordinary clients that a lobby and a page can tell apart


def random_token(chars: int = _RANDOM_CHARS) -> str:
    """`chars` random letters and digits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(chars))


def new_game_id(shard: int) -> str:
    """A fresh game id in `shard` (0 or more)."""
    if shard < 0:
        raise ValueError(f"shard {shard} is negative")
    return f"{shard:02x}-{random_token()}"


def shard_of(game: str, shards: int) -> int:
    """The shard that a game's id names.

    Raises ValueError if `game` is no game id of a cluster with `shards` shards.
    """
    head, dash, tail = game.partition("-")
    if not dash or len(tail) != _RANDOM_CHARS or not (2 <= len(head) <= 4):
        raise ValueError("not a game id")
    if not (tail.isascii() and tail.isalnum()) or any(c not in "0123456789abcdef" for c in head):
        raise ValueError("not a game id")
    shard = int(head, 16)
    if shard >= shards or f"{shard:02x}" != head:
        raise ValueError("not a game id of this cluster")
    return shard


def new_seek_id() -> str:
    """A fresh seek id."""
    return f"s-{random_token()}"


def new_guest_id() -> str:
    """A fresh player id for somebody without an account."""
    return f"{GUEST_PREFIX}{random_token(12)}"
