"""Who a token stands for; and every way to pass off as somebody else."""

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from gateway.auth import Authenticator
from gateway.jwks import Jwks
from numbridge.clock import now_ms
from numbridge.errors import Rejected
from numbridge.tokens import DAY_MS, Claims, KeyRing, key_id, sign

KEY, OTHER = "k" * 32, "o" * 40
RING = KeyRing.parse(KEY)
RSA = rsa.generate_private_key(65537, 2048)
RSA_OTHER = rsa.generate_private_key(65537, 2048)
EDDSA = ed25519.Ed25519PrivateKey.generate()


def provider_token(key: Any, algorithm: str, kid: str | None, **claims: Any) -> str:
    """A token as an identity provider signs it."""
    body = {"sub": "u1", "name": "Ada", "exp": now_ms() // 1000 + 60, **claims}
    return jwt.encode(body, key, algorithm=algorithm, headers={"kid": kid} if kid else {})


@pytest.fixture
async def jwks(tmp_path: Path) -> Jwks:
    """The provider's public keys, from a file."""
    keys = [
        {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key())), "kid": "rsa-1", "use": "sig"},
        {**json.loads(jwt.algorithms.OKPAlgorithm.to_jwk(EDDSA.public_key())), "kid": "ed-1"},
    ]
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": keys}))
    source = Jwks(str(path), 600_000)
    await source.start()
    await source.stop()
    return source


async def refused(auth: Authenticator, token: str) -> str:
    """Why the token was refused; never a part of it."""
    with pytest.raises(Rejected) as caught:
        await auth.verify(token)
    assert caught.value.reason == "unauthorized"
    for part in token.split("."):
        assert len(part) < 8 or part not in caught.value.message
    return caught.value.message


async def test_a_token_of_our_own() -> None:
    claims = await Authenticator(RING).verify(sign(RING, "p1", "Ada", guest=True, admin=True))
    assert (claims.player, claims.name, claims.guest, claims.admin) == ("p1", "Ada", True, True)
    assert claims.expires_at > now_ms()


async def test_guests_get_a_token_that_says_so() -> None:
    auth = Authenticator(RING)
    claims = await auth.verify(auth.guest("guest-1", "Ada"))
    assert (claims.player, claims.guest, claims.admin) == ("guest-1", True, False)


@pytest.mark.parametrize("auth", [Authenticator(RING, guests=False), Authenticator(None)])
async def test_where_guests_are_off_or_cannot_be_signed_they_are_forbidden(auth: Authenticator) -> None:
    with pytest.raises(Rejected) as caught:
        auth.guest("guest-1", "Ada")
    assert caught.value.reason == "forbidden"


DEEP = base64.urlsafe_b64encode(b"[" * 2700).decode() + ".e30.x"


@pytest.mark.parametrize(
    "token", ["", "x", "a.b", "a.b.c", "a.b.c.d", "é" * 20, "." * 5000, "x" * 5000, "\0", "null", DEEP]
)
async def test_garbage(token: str) -> None:
    await refused(Authenticator(RING), token)


async def test_expired_and_not_yet_valid_and_the_leeway_for_clocks() -> None:
    old = sign(RING, "p1", "Ada", now_ms=now_ms() - DAY_MS, lifetime_ms=DAY_MS - 5_000)
    assert "expired" in await refused(Authenticator(RING), old)
    assert (await Authenticator(RING, leeway_ms=30_000).verify(old)).player == "p1"
    early = sign(RING, "p1", "Ada", now_ms=now_ms() + 60_000)
    assert "not valid yet" in await refused(Authenticator(RING, leeway_ms=30_000), early)


async def test_a_key_that_is_being_replaced_still_verifies() -> None:
    token = sign(RING, "p1", "Ada")
    both = KeyRing.parse(f"{OTHER}\n{KEY}\n")
    assert (await Authenticator(both).verify(token)).player == "p1"
    assert (await Authenticator(both).verify(sign(both, "p2", "Bob"))).player == "p2"
    assert "key" in await refused(Authenticator(KeyRing.parse(OTHER)), token)
    nameless = jwt.encode({"sub": "p1", "exp": now_ms() // 1000 + 60, "iss": "numbridge"}, KEY, algorithm="HS256")
    assert (await Authenticator(both).verify(nameless)).player == "p1"


async def test_a_wrong_signature_or_a_changed_claim() -> None:
    head, body, signature = sign(RING, "p1", "Ada").split(".")
    forged = jwt.encode({"sub": "p1", "exp": now_ms() // 1000 + 60, "iss": "numbridge"}, OTHER, algorithm="HS256")
    assert "signature" in await refused(Authenticator(RING), forged)
    changed = base64.urlsafe_b64encode(
        json.dumps(json.loads(base64.urlsafe_b64decode(body + "==")) | {"sub": "p2"}).encode()
    ).decode()
    assert "signature" in await refused(Authenticator(RING), f"{head}.{changed.rstrip('=')}.{signature}")
    await refused(Authenticator(RING), f"{head}.{body}.")


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "HS384", "HS512", "ES256", "", None, 5, ["HS256"]])
async def test_other_algorithms_than_the_keys_own(algorithm: Any) -> None:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    body = part({"sub": "p1", "exp": now_ms() // 1000 + 60, "iss": "numbridge"})
    head = part({"alg": algorithm, "typ": "JWT"})
    signature = hmac.new(KEY.encode(), f"{head}.{body}".encode(), hashlib.sha256).digest()
    for tail in ("", base64.urlsafe_b64encode(signature).decode().rstrip("=")):
        await refused(Authenticator(RING), f"{head}.{body}.{tail}")


async def test_a_public_key_is_no_shared_key(jwks: Jwks) -> None:
    """The classic confusion: sign with HS256 and the provider's public key as the secret."""
    pem = RSA.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    body = {"sub": "p1", "exp": now_ms() // 1000 + 60, "iss": "numbridge"}
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "HS256", "kid": "rsa-1"}, body)
    ]
    signature = hmac.new(pem, ".".join(parts).encode(), hashlib.sha256).digest()
    token = ".".join((*parts, base64.urlsafe_b64encode(signature).decode().rstrip("=")))
    await refused(Authenticator(None, jwks), token)
    await refused(Authenticator(RING, jwks), token)


@pytest.mark.parametrize(("key", "algorithm", "kid"), [(RSA, "RS256", "rsa-1"), (EDDSA, "EdDSA", "ed-1")])
async def test_a_providers_token(jwks: Jwks, key: Any, algorithm: str, kid: str) -> None:
    auth = Authenticator(RING, jwks)
    for named in (kid, None):
        claims = await auth.verify(provider_token(key, algorithm, named, admin=True, guest=True))
        assert (claims.player, claims.name) == ("u1", "Ada")
        assert not claims.admin  # only the cluster's own tokens make an operator
        assert not claims.guest
    assert "signed in a way" in await refused(Authenticator(RING), provider_token(key, algorithm, kid))


async def test_a_providers_unknown_key_and_a_key_of_another_kind(jwks: Jwks) -> None:
    auth = Authenticator(RING, jwks)
    assert "signature" in await refused(auth, provider_token(RSA_OTHER, "RS256", "rsa-1"))
    assert "key" in await refused(auth, provider_token(RSA, "RS256", "rsa-2"))
    assert "key" in await refused(auth, provider_token(RSA, "RS256", "ed-1"))


async def test_a_providers_issuer_and_the_audience(jwks: Jwks) -> None:
    auth = Authenticator(RING, jwks, issuer="https://id.example", audience="numbridge")
    good = provider_token(RSA, "RS256", "rsa-1", iss="https://id.example", aud="numbridge")
    assert (await auth.verify(good)).player == "u1"
    assert "issuer" in await refused(auth, provider_token(RSA, "RS256", "rsa-1", iss="https://x", aud="numbridge"))
    wrong = provider_token(RSA, "RS256", "rsa-1", iss="https://id.example", aud="other")
    assert "audience" in await refused(auth, wrong)
    assert "aud" in await refused(auth, provider_token(RSA, "RS256", "rsa-1", iss="https://id.example"))
    foreign = jwt.encode(
        {"sub": "p1", "exp": now_ms() // 1000 + 60, "iss": "other", "aud": "numbridge"}, KEY, algorithm="HS256"
    )
    assert "issuer" in await refused(auth, foreign)
    assert (await auth.verify(sign(RING, "p1", "Ada", audience="numbridge"))).player == "p1"
    assert (await auth.verify(auth.guest("guest-1", "Ada"))).player == "guest-1"


@pytest.mark.parametrize("sub", ["", "x" * 65, "a\nb", "guest-1", "house-1"])
async def test_a_provider_cannot_name_just_anybody(jwks: Jwks, sub: str) -> None:
    assert "sub" in await refused(Authenticator(RING, jwks), provider_token(RSA, "RS256", "rsa-1", sub=sub))


@pytest.mark.parametrize("missing", ["sub", "exp"])
async def test_what_a_token_must_say(missing: str) -> None:
    body = {"sub": "p1", "exp": now_ms() // 1000 + 60, "iss": "numbridge"}
    del body[missing]
    assert missing in await refused(Authenticator(RING), jwt.encode(body, KEY, algorithm="HS256"))


@pytest.mark.parametrize(
    ("name", "shown"), [("A\u0000da", "player"), ("x" * 80, "x" * 32), ("  Ada ", "Ada"), ("", "u1")]
)
async def test_a_providers_name_is_made_fit_to_be_shown(jwks: Jwks, name: str, shown: str) -> None:
    claims = await Authenticator(RING, jwks).verify(provider_token(RSA, "RS256", "rsa-1", name=name))
    assert claims.name == shown


async def test_a_revoked_token() -> None:
    def revoked(claims: Claims) -> bool:
        return claims.player == "p1"

    auth = Authenticator(RING, revoked=revoked)
    assert "revoked" in await refused(auth, sign(RING, "p1", "Ada"))
    assert (await auth.verify(sign(RING, "p2", "Bob"))).player == "p2"


def test_key_ids_tell_the_keys_apart_and_nothing_of_them() -> None:
    assert key_id(KEY.encode()) != key_id(OTHER.encode())
    assert KEY[:6] not in key_id(KEY.encode())
