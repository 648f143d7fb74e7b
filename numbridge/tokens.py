"""Players' tokens: what a signed token says, and signing with the cluster's own key.

A token is a JWT. `sub` is the player's id, `name` the display name; `guest`
and `admin` are true where they apply. Tokens of the cluster's own are signed
with HS256; a club's identity provider may sign others, which a gateway
verifies by its public keys (gateway/auth.py).

    KeyRing      the shared keys: the first signs, all of them verify (rotation)
    sign         a token
    read_claims  the claims of a verified token
"""

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt

from numbridge import clock

ALGORITHM = "HS256"
ISSUER = "numbridge"
MIN_KEY_BYTES = 32  # as long as the digest: a shorter key can be guessed faster than the hash
MAX_PLAYER_CHARS = 64
MAX_NAME_CHARS = 32

DAY_MS = 86_400_000


class TokenError(ValueError):
    """A key or a set of claims that cannot be used; the text says why and holds no secret."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Who somebody is, as a verified token says."""

    player: str  # at most 64 characters, any text
    name: str  # at most 32 characters, none of them a control character
    guest: bool = False
    admin: bool = False
    issuer: str = ISSUER
    token_id: str = ""
    issued_at: int = 0  # milliseconds since the epoch
    expires_at: int = 0  # milliseconds since the epoch; 0: never


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Shared keys of the cluster. `keys[0]` signs; the others still verify, so that a key can be changed."""

    keys: tuple[bytes, ...]

    @classmethod
    def parse(cls, text: str) -> "KeyRing":
        """A ring from text: one key a line (or separated by commas), the signing one first.

        Raises TokenError if there is none, or one is too short.
        """
        keys = tuple(part.strip().encode() for part in text.replace(",", "\n").splitlines() if part.strip())
        if not keys:
            raise TokenError("there is no key")
        if any(len(key) < MIN_KEY_BYTES for key in keys):
            raise TokenError(f"a key is shorter than {MIN_KEY_BYTES} bytes")
        return cls(keys)

    @classmethod
    def load(cls, text: str, path: str) -> "KeyRing":
        """A ring from settings: `text` if given, else the file at `path`. Raises TokenError or OSError."""
        return cls.parse(text or Path(path).read_text(encoding="utf-8"))

    def find(self, kid: str | None) -> tuple[bytes, ...]:
        """The keys to try for a token that names `kid`; all of them if it names none."""
        if kid is None:
            return self.keys
        return tuple(key for key in self.keys if key_id(key) == kid)


def key_id(key: bytes) -> str:
    """A name for a key that does not tell anything about it."""
    return hashlib.sha256(b"numbridge key id\0" + key).hexdigest()[:12]


def clean_name(text: str) -> str:
    """A display name as it may be shown: trimmed, in NFC, at most 32 visible characters.

    Raises TokenError naming what is wrong with it.
    """
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise TokenError("name is empty")
    if len(name) > MAX_NAME_CHARS:
        raise TokenError(f"name has {len(name)} characters; at most {MAX_NAME_CHARS} are allowed")
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for char in name):
        raise TokenError("name has a control, invisible or unassigned character")
    return name


def sign(
    ring: KeyRing,
    player: str,
    name: str,
    *,
    guest: bool = False,
    admin: bool = False,
    lifetime_ms: int = 30 * DAY_MS,
    audience: str = "",
    now_ms: int | None = None,
) -> str:
    """A token for `player`, signed with the ring's first key. Raises TokenError on an id or a name that cannot be."""
    if not player or len(player) > MAX_PLAYER_CHARS:
        raise TokenError(f"a player's id has 1 to {MAX_PLAYER_CHARS} characters")
    if _unprintable(player):
        raise TokenError("a player's id has no control characters")
    now = clock.now_ms() if now_ms is None else now_ms
    claims: dict[str, Any] = {
        "iss": ISSUER,
        "sub": player,
        "name": clean_name(name),
        "iat": now // 1000,
        "exp": (now + lifetime_ms) // 1000,
    }
    if audience:
        claims["aud"] = audience
    if guest:
        claims["guest"] = True
    if admin:
        claims["admin"] = True
    return jwt.encode(claims, ring.keys[0], algorithm=ALGORITHM, headers={"kid": key_id(ring.keys[0])})


def _unprintable(text: str) -> bool:
    return any(unicodedata.category(char) in ("Cc", "Cs") for char in text)


def read_claims(payload: Mapping[str, Any], *, trusted: bool) -> Claims:
    """The claims of a token whose signature has been verified.

    `trusted` says that the cluster signed it itself: only then do `guest` and
    `admin` count. Raises TokenError if the token does not say who it is for.
    """
    player = payload.get("sub")
    if not isinstance(player, str) or not player or len(player) > MAX_PLAYER_CHARS:
        raise TokenError(f"the token's sub must be a text of 1 to {MAX_PLAYER_CHARS} characters")
    if _unprintable(player):
        raise TokenError("the token's sub has a control character")
    given = payload.get("name") or payload.get("preferred_username") or player
    if not isinstance(given, str):
        raise TokenError("the token's name must be a text")
    try:
        name = clean_name(given[:MAX_NAME_CHARS])
    except TokenError:  # the club's own provider may hold names that cannot be shown; the player still gets in
        name = "player"
    issued, expires = payload.get("iat"), payload.get("exp")
    return Claims(
        player=player,
        name=name,
        guest=trusted and payload.get("guest") is True,
        admin=trusted and payload.get("admin") is True,
        issuer=str(payload.get("iss", "")),
        token_id=str(payload.get("jti", "")),
        issued_at=int(issued * 1000) if isinstance(issued, int | float) else 0,
        expires_at=int(expires * 1000) if isinstance(expires, int | float) else 0,
    )
