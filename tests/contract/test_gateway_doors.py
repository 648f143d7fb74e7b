"""Every kind of bad token at every door: hello, the way into a socket, the API; and what each good one opens."""

import base64
import hmac
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from numbridge.tokens import ISSUER, key_id
from tests.contract.test_gateway_admin import bearer
from tests.contract.test_gateway_http import handshake, refused
from tests.unit.gateway.fakes import KEY, Cluster
from tests.unit.gateway.world import World, gateway

PROVIDER = rsa.generate_private_key(65537, 2048)
OTHER = rsa.generate_private_key(65537, 2048)
SPEAKS = {"iss": ISSUER, "aud": "club", "sub": "op", "name": "Op", "admin": True}
OWN = {"kid": key_id(KEY.encode())}


def own(key: str = KEY, kid: str = OWN["kid"], lasts_s: int = 600, **claims: Any) -> str:
    """An operator's token but for what is asked to be different."""
    said = SPEAKS | {"exp": int(time.time()) + lasts_s} | claims
    return jwt.encode(said, key, algorithm="HS256", headers={"kid": kid})


def by_hand(head: dict[str, Any], key: bytes, digest: str = "sha256") -> str:
    """What no library would sign."""
    body = SPEAKS | {"exp": int(time.time()) + 600}
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (head, body)]
    signature = hmac.new(key, ".".join(parts).encode(), digest).digest() if key else b""
    return ".".join((*parts, base64.urlsafe_b64encode(signature).decode().rstrip("=")))


def providers(key: rsa.RSAPrivateKey, kid: str, **claims: Any) -> str:
    said = SPEAKS | {"iss": "https://id.example", "exp": int(time.time()) + 600} | claims
    return jwt.encode(said, key, algorithm="RS256", headers={"kid": kid})


def public_pem() -> bytes:
    """What everybody knows of the provider's key."""
    shape = serialization.PublicFormat.SubjectPublicKeyInfo
    return PROVIDER.public_key().public_bytes(serialization.Encoding.PEM, shape)


BAD: dict[str, Callable[[], str]] = {
    "garbage": lambda: "nonsense",
    "expired": lambda: own(lasts_s=-3600),
    "not yet valid": lambda: own(nbf=int(time.time()) + 3600),
    "wrong issuer": lambda: own(iss="https://evil.example"),
    "wrong audience": lambda: own(aud="another"),
    "no audience": lambda: own(aud=None),
    "alg none": lambda: by_hand({"alg": "none", **OWN}, b""),
    "another algorithm": lambda: by_hand({"alg": "HS512", **OWN}, KEY.encode(), "sha512"),
    "unknown kid": lambda: own(kid="0" * 12),
    "another's key": lambda: own(key="z" * 64),
    "key confusion": lambda: by_hand({"alg": "HS256", "kid": "rsa-1"}, public_pem()),
    "provider: another's key": lambda: providers(OTHER, "rsa-1"),
    "provider: unknown kid": lambda: providers(PROVIDER, "rsa-2"),
    "provider: wrong issuer": lambda: providers(PROVIDER, "rsa-1", iss=ISSUER),
    "provider: wrong audience": lambda: providers(PROVIDER, "rsa-1", aud="another"),
    "provider: one of our guests": lambda: providers(PROVIDER, "rsa-1", sub="guest-1"),
}


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    """A club with an audience and an identity provider."""
    known = {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(PROVIDER.public_key())), "kid": "rsa-1", "use": "sig"}
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": [known]}), encoding="utf-8")
    return {
        "token_audience": "club", "jwks": str(tmp_path / "jwks.json"), "jwks_issuer": "https://id.example",
        "hello_burst": 1000,
    }  # fmt: skip


async def hello(world: World, token: str) -> dict[str, Any]:
    async with world.session.ws_connect(f"{world.url}/ws") as socket:
        await socket.send_json({"op": "hello", "token": token})
        answer: dict[str, Any] = await socket.receive_json(timeout=5)
        if answer["ev"] == "error":  # and then it is a stranger's socket, as before
            await socket.send_json({"op": "seek", "room": "blitz", "ref": "s"})
            assert (await socket.receive_json(timeout=5))["code"] == "unauthorized"
        return answer


@pytest.mark.parametrize("kind", BAD)
async def test_a_bad_token_opens_no_door(kind: str, settings: dict[str, Any]) -> None:
    cluster, token = Cluster(), BAD[kind]()
    async with gateway(cluster, **settings) as world:
        answer = await hello(world, token)
        assert (answer["ev"], answer["code"]) == ("error", "unauthorized")
        assert await handshake(world, headers=bearer(token)) == 401
        message = await refused(world, "/api/admin/audit", 401, "unauthorized", headers=bearer(token))
        for part in (part for part in token.split(".") if len(part) > 8):
            assert part not in message + answer["message"]
    assert cluster.ratings.done == []


async def test_a_good_token_opens_what_is_its_own(settings: dict[str, Any]) -> None:
    async with gateway(Cluster(), **settings) as world:
        assert (await hello(world, own()))["player"]["id"] == "op"
        assert await handshake(world, headers=bearer(own())) == 101
        async with world.session.get(f"{world.url}/api/admin/audit", headers=bearer(own())) as answer:
            assert answer.status == 200
        # A provider's word that somebody is an operator counts for nothing.
        theirs = providers(PROVIDER, "rsa-1")
        assert (await hello(world, theirs))["player"]["id"] == "op"
        await refused(world, "/api/admin/audit", 403, "forbidden", headers=bearer(theirs))
