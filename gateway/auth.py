"""Who a token stands for. Verified here, without asking anybody.

    HS256            the cluster's own keys (numbridge.tokens.KeyRing)
    RS256, EdDSA     the identity provider's public keys (gateway/jwks.py)

The algorithm follows from the key, never from the token: a token that names
another algorithm than its key's is refused, so a public key can't be passed off as a
shared one. What a refusal says never holds a part of the token.
"""

from collections.abc import Callable
from typing import Any, Protocol

import jwt

from numbridge import tokens
from numbridge.errors import Reason, Rejected
from numbridge.tokens import Claims, KeyRing, TokenError

MAX_TOKEN_CHARS = 4096
_REQUIRED = ("exp", "sub")

Revoked = Callable[[Claims], bool]


class PublicKeys(Protocol):
    """An identity provider's keys."""

    async def find(self, kid: str | None, algorithm: str) -> list[jwt.PyJWK]:
        """Keys for that algorithm, by id where the token names one. Rejected: unavailable while none were ever read."""


class Authenticator:
    """Implements ports.Tokens."""

    def __init__(
        self,
        ring: KeyRing | None,
        public: PublicKeys | None = None,
        *,
        audience: str = "",
        issuer: str = "",
        leeway_ms: int = 0,
        guests: bool = True,
        guest_ms: int = tokens.DAY_MS,
        revoked: Revoked | None = None,
    ) -> None:
        """`issuer`: that of the public keys' tokens. `revoked`: says that a verified token is no longer good."""
        self._ring = ring
        self._public = public
        self._audience = audience
        self._issuer = issuer
        self._leeway_s = leeway_ms / 1000
        self._guests = guests
        self._guest_ms = guest_ms
        self._revoked = revoked

    async def verify(self, token: str) -> Claims:
        """Who the token stands for. Rejected: unauthorized, unavailable."""
        if len(token) > MAX_TOKEN_CHARS:
            raise _refused("it is too long")
        if not token.isascii():
            raise _refused("it is no token")
        try:
            head = jwt.get_unverified_header(token)
        except (jwt.InvalidTokenError, RecursionError):  # the latter: a header that nests without end
            raise _refused("it is no token") from None
        algorithm, kid = head.get("alg"), head.get("kid")
        if kid is not None and not isinstance(kid, str):
            raise _refused("its kid is no text")
        if algorithm == tokens.ALGORITHM and self._ring is not None:
            payload = self._try(token, list(self._ring.find(kid)), tokens.ALGORITHM, tokens.ISSUER)
            own = True
        elif algorithm in ("RS256", "EdDSA") and self._public is not None:
            payload = self._try(token, await self._public.find(kid, algorithm), algorithm, self._issuer)
            own = False
        else:
            raise _refused("it is signed in a way that is not accepted here")
        try:
            claims = tokens.read_claims(payload, trusted=own)
        except TokenError as error:
            raise _refused(str(error)) from None
        if not own and claims.player.startswith(_RESERVED):
            raise _refused("its sub begins like an id of the cluster's own")
        if self._revoked is not None and self._revoked(claims):
            raise _refused("it has been revoked")
        return claims

    def guest(self, player: str, name: str) -> str:
        """A signed token for a guest. Rejected: forbidden, bad_message."""
        if not self._guests or self._ring is None:
            raise Rejected(Reason.FORBIDDEN, "this club takes no guests; log in with an account")
        return tokens.sign(self._ring, player, name, guest=True, lifetime_ms=self._guest_ms, audience=self._audience)

    def _try(self, token: str, keys: list[Any], algorithm: str, issuer: str) -> dict[str, Any]:
        problem = "its key is not known here"
        for key in keys:
            try:
                payload: dict[str, Any] = jwt.decode(
                    token,
                    key,
                    algorithms=[algorithm],
                    audience=self._audience or None,
                    issuer=issuer or None,
                    leeway=self._leeway_s,
                    options={"require": list(_REQUIRED), "verify_aud": bool(self._audience)},
                )
            except jwt.InvalidTokenError as error:
                problem = _problem(error)
            except (ArithmeticError, RecursionError, TypeError, ValueError):  # times that are none, endless nesting
                problem = "its claims can't be read"
            else:
                return payload
        raise _refused(problem)


_RESERVED = ("guest-", "house-")


def _problem(error: jwt.InvalidTokenError) -> str:
    match error:
        case jwt.ExpiredSignatureError():
            return "it has expired"
        case jwt.ImmatureSignatureError():
            return "it is not valid yet"
        case jwt.InvalidIssuerError():
            return "its issuer is not accepted here"
        case jwt.InvalidAudienceError():
            return "it was made for another audience"
        case jwt.MissingRequiredClaimError(claim=claim):
            return f"it has no {claim}"
        case jwt.InvalidSignatureError():
            return "its signature does not verify"
        case _:
            return "it does not verify"


def _refused(why: str) -> Rejected:
    return Rejected(Reason.UNAUTHORIZED, f"the token was refused: {why}; log in again")
