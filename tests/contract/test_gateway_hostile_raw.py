"""Bare TCP: slow writers, half-open sockets, header bombs, compression, path tricks, frames against the protocol.

Each gets what it deserves, and a game on the same gateway goes on.
"""

import asyncio
import base64
import io
import json
import os
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from tests.contract.test_gateway_hostile import a_game, goes_on
from tests.helpers.eventually import eventually
from tests.unit.gateway.games import GAME
from tests.unit.gateway.world import World


class Line:
    """One TCP connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def status(self) -> int:
        """Status of the next answer; 0 if there is none and the connection has been closed."""
        try:
            async with asyncio.timeout(10):
                first = await self.reader.readline()
        except ConnectionError:
            return 0
        return int(first.split()[1]) if first else 0

    async def head(self) -> bytes:
        """The rest of the answer's head."""
        async with asyncio.timeout(10):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def ended(self) -> None:
        """Waits until the other side has closed."""
        try:
            async with asyncio.timeout(15):
                while await self.reader.read(65_536):
                    pass
        except ConnectionError:
            pass

    async def frame(self) -> tuple[int, bytes]:
        """The next frame: opcode and payload."""
        async with asyncio.timeout(10):
            first, second = await self.reader.readexactly(2)
            size = second & 127
            if size > 125:
                size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
            return first & 15, await self.reader.readexactly(size)


@asynccontextmanager
async def line(world: World) -> AsyncIterator[Line]:
    """A connection to the gateway's public port."""
    reader, writer = await asyncio.open_connection("127.0.0.1", world.app.server.ports[0])
    try:
        yield Line(reader, writer)
    finally:
        writer.transport.abort()


@asynccontextmanager
async def upgraded(world: World, *headers: str) -> AsyncIterator[Line]:
    """A socket after its handshake and hello, without a library's help."""
    async with line(world) as raw:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            "GET /ws HTTP/1.1", "Host: club.example", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", *headers,
        ]  # fmt: skip
        await raw.say("\r\n".join([*lines, "", ""]).encode())
        assert await raw.status() == 101
        head = await raw.head()
        assert b"Sec-WebSocket-Extensions" not in head, "nothing is agreed on that could unpack to more"
        await raw.say(masked(0x81, json.dumps({"op": "hello", "token": world.token("eve")}).encode()))
        assert json.loads((await raw.frame())[1])["ev"] == "hello"
        yield raw


def masked(first: int, payload: bytes) -> bytes:
    """A client's frame; the mask is of zeros."""
    size = len(payload)
    head = bytes([first, 0x80 | (size if size < 126 else 126)])
    return head + (b"" if size < 126 else size.to_bytes(2, "big")) + b"\0\0\0\0" + payload


# --- HTTP --------------------------------------------------------------------------------------------------------


async def test_header_bombs_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    async with a_game() as (world, _, ada, bob):
        for bomb in (
            b"GET /api/rooms HTTP/1.1\r\nHost: x\r\n" + b"X-A: " + b"a" * 20_000 + b"\r\n\r\n",
            b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /api/rooms HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: a\r\n" % n for n in range(10_000)) + b"\r\n",
        ):
            async with line(world) as raw:
                await raw.say(bomb)
                assert await raw.status() in (400, 0)
        assert world.metric("numbridge_gateway_http_requests_total", call="none", status="400") == 3
        assert not caplog.records, "the logs are not a stranger's to fill"
        await goes_on(ada, bob)


@pytest.mark.parametrize(
    "request_line",
    [
        "GET /../../etc/passwd", "GET /..%2f..%2fetc/passwd", "GET /%2e%2e/%2e%2e/etc/passwd", "GET /js/../../main.py",
        "GET /js/..%5c..%5cmain.py", "GET //etc/passwd", "GET /js/app.js/../../../auth.py", "GET /.git/config",
        "GET /%00", "GET /js%00.js", "GET /api/games/..%2f..%2fwiring", "GET /index.html%00.js", "GET /web/index.html",
    ],
)  # fmt: skip
async def test_path_tricks_lead_nowhere(request_line: str) -> None:
    async with a_game() as (world, _, ada, bob):
        async with line(world) as raw:
            await raw.say(f"{request_line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            assert await raw.status() in (400, 404)
            async with asyncio.timeout(10):
                body = await raw.reader.read()
            assert b"root:" not in body
            assert b"import " not in body
        await goes_on(ada, bob)


async def test_two_requests_in_one_are_told_apart_or_refused() -> None:
    """A length and a chunked body at once, or two lengths: what proxies and servers might read differently."""
    async with a_game() as (world, _, ada, bob):
        for headers in (
            "Content-Length: 4\r\nTransfer-Encoding: chunked", "Content-Length: 4\r\nContent-Length: 5",
            "Transfer-Encoding: chunked, identity", "Content-Length: +4", "Content-Length: 4 4",
        ):  # fmt: skip
            async with line(world) as raw:
                await raw.say(f"POST /api/guests HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n0\r\n\r\n".encode())
                assert await raw.status() in (400, 0), headers
        await goes_on(ada, bob)


async def test_a_body_that_unpacks_to_more_is_refused() -> None:
    async with a_game() as (world, _, ada, bob):
        bomb = zlib.compress(b'{"name": "' + b"a" * 50_000_000 + b'"}')
        for coding in ("deflate", "gzip", "br", "zstd"):
            headers = {"Content-Encoding": coding, "Content-Type": "application/json"}
            async with world.session.post(f"{world.url}/api/guests", data=bomb, headers=headers) as response:
                assert response.status in (400, 413), coding
        await goes_on(ada, bob)


async def test_who_writes_his_request_slowly_is_cut_off() -> None:
    async with a_game(request_ms=400) as (world, _, ada, bob):
        async with line(world) as raw, line(world) as silent, line(world) as body:
            await raw.say(b"GET /api/rooms HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            await body.say(b"POST /api/guests HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            await goes_on(ada, bob)
            for slow in (raw, silent, body):
                await slow.ended()
        await goes_on(ada, bob)


async def test_caches_keep_nothing_of_the_api_and_hosts_mean_nothing() -> None:
    """What a shared cache may keep does not depend on anything that a stranger can put into a request."""
    async with a_game() as (world, _, ada, bob):
        evil = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Original-URL": "/api/rooms"}
        for path in ("/", "/api/rooms", f"/api/games/{GAME}", "/nothing"):
            async with (
                world.session.get(world.url + path) as plain,
                world.session.get(world.url + path, headers=evil) as poisoned,
            ):
                assert await plain.read() == await poisoned.read()
                assert b"evil" not in await poisoned.read()
                keeps = plain.headers.get("Cache-Control", "")
                assert keeps == ("no-store" if path.startswith("/api/") else "no-cache" if path == "/" else ""), path
        await goes_on(ada, bob)


async def test_no_page_of_others_may_frame_ours_or_read_our_answers() -> None:
    async with a_game() as (world, _, ada, bob):
        for path in ("/", "/api/rooms", "/nothing", "/healthz"):
            headers = {"Origin": "https://evil.example"}
            async with world.session.get(world.url + path, headers=headers) as response:
                assert response.headers["X-Frame-Options"] == "DENY"
                assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
                assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
                assert not [name for name in response.headers if name.lower().startswith("access-control-")]
                assert "Set-Cookie" not in response.headers, "no login rides along with a foreign page's request"
        with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
            await world.session.ws_connect(f"{world.url}/ws", headers={"Origin": "https://evil.example"})
        await goes_on(ada, bob)


# --- WebSocket ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        masked(0xC1, b'{"op": "ping"}'),  # compressed, which was not agreed on
        masked(0x83, b"x"), masked(0x8B, b"x"),  # opcodes that do not exist
        masked(0x09, b"x"),  # a ping in pieces
        masked(0x89, b"x" * 126),  # a ping that is too long
        masked(0x80, b"x"),  # the rest of nothing
        masked(0x88, b"\x03"),  # half a close code
        b"\x81\xff" + (2**63).to_bytes(8, "big") + b"\0\0\0\0",  # longer than anything
        b"\x81\xff" + (2**40).to_bytes(8, "big") + b"\0\0\0\0",
    ],
)  # fmt: skip
async def test_a_frame_against_the_protocol_ends_its_own_socket(frame: bytes) -> None:
    async with a_game() as (world, _, ada, bob):
        async with upgraded(world) as raw:
            await raw.say(frame)
            await raw.ended()
        await eventually(lambda: world.metric("numbridge_gateway_connections") == 2)
        assert sum_of(world, "numbridge_gateway_faults_total") == 0
        await goes_on(ada, bob)


def sum_of(world: World, name: str) -> float:
    """All samples of a counter."""
    families = list(world.app.registry.collect())
    return sum(sample.value for family in families for sample in family.samples if sample.name == name)


async def test_compression_that_is_offered_is_not_taken() -> None:
    async with a_game() as (world, _, ada, bob):
        async with upgraded(world, "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=15") as raw:
            bomb = zlib.compress(b" " * 4_000_000)[2:-4]
            await raw.say(masked(0xC1, bomb[:4_000]))
            await raw.ended()
        await goes_on(ada, bob)


async def test_a_half_open_socket_is_found_and_let_go() -> None:
    """Its other end has gone without a word: nothing is heard, nothing is read, its seat at the table is not kept."""
    async with a_game(ping_ms=100, dead_ms=400) as (world, _, ada, bob):
        async with upgraded(world) as raw:
            await raw.say(masked(0x81, json.dumps({"op": "join", "game": GAME}).encode()))
            await eventually(lambda: world.cluster.workers.presence.get(GAME) == (1, 1, 1))
            await eventually(lambda: world.metric("numbridge_gateway_closes_total", why="silent") == 1)
            await eventually(lambda: world.cluster.workers.presence.get(GAME) == (1, 1, 0))
        await goes_on(ada, bob)


async def test_a_message_that_comes_byte_by_byte_holds_up_nobody() -> None:
    async with a_game() as (world, _, ada, bob), upgraded(world) as raw:
        whole = masked(0x81, json.dumps({"op": "ping", "ref": "slow"}).encode())
        for at in range(len(whole)):
            await raw.say(whole[at : at + 1])
            if at % 10 == 0:
                await goes_on(ada, bob)
        assert json.loads((await raw.frame())[1])["ref"] == "slow"


async def test_as_many_keys_as_fit_are_read_and_more_do_not_fit() -> None:
    async with a_game() as (world, _, ada, bob):
        async with upgraded(world) as raw:
            keys = ",".join(f'"{n:x}":{n % 10}' for n in range(450))
            await raw.say(masked(0x81, ("{" + keys + ',"op":"ping"}').encode()))
            assert json.loads((await raw.frame())[1])["ev"] == "pong"
            many = ("{" + ",".join(f'"{n:x}":1' for n in range(5_000)) + "}").encode()
            await raw.say(masked(0x81, many[:60_000]))
            opcode, payload = await raw.frame()
            assert (opcode, int.from_bytes(payload[:2], "big")) == (8, 1009)
        big = b'{"name": "a", ' + b",".join(b'"%x":1' % n for n in range(1_000_000)) + b"}"
        async with world.session.post(f"{world.url}/api/guests", data=io.BytesIO(big)) as response:
            assert response.status == 413
        await goes_on(ada, bob)


async def test_sockets_that_never_finish_their_handshake_do_not_use_up_the_connections() -> None:
    async with (
        a_game(connections=4, request_ms=300) as (world, _, ada, bob),
        line(world) as one,
        line(world) as two,
        line(world) as three,
    ):
        for raw in (one, two, three):
            await raw.say(b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n")
        async with upgraded(world):
            await goes_on(ada, bob)
        for raw in (one, two, three):
            await raw.ended()
        await goes_on(ada, bob)


@pytest.mark.parametrize(
    "headers",
    [
        b"Sec-WebSocket-Version: 1\x92\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAA\xfeAAAAAAAAAA==",
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAA", b"Sec-WebSocket-Version: 8", b"X-Nothing: 1",
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nOrigin: http://\xff",
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: \xff",
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer \xff",
    ],
)  # fmt: skip
async def test_a_handshake_that_is_none_is_refused_and_no_fault(headers: bytes) -> None:
    async with a_game() as (world, _, ada, bob):
        async with line(world) as raw:
            await raw.say(
                b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" + headers + b"\r\n\r\n"
            )
            assert await raw.status() in (400, 401, 403)
            assert b"aiohttp" not in await raw.head()
        assert sum_of(world, "numbridge_gateway_faults_total") == 0
        await goes_on(ada, bob)


async def test_who_goes_while_his_socket_opens_leaves_no_fault_behind(caplog: pytest.LogCaptureFixture) -> None:
    async with a_game() as (world, _, ada, bob):
        for _ in range(60):
            async with line(world) as raw:
                raw.writer.write(
                    b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
                )
                await asyncio.sleep(0)
        await goes_on(ada, bob)
        await eventually(lambda: world.metric("numbridge_gateway_connections") == 2)
        assert not caplog.records
        assert sum_of(world, "numbridge_gateway_faults_total") == 0


async def test_who_goes_in_the_middle_of_a_body_leaves_no_fault_behind() -> None:
    async with a_game() as (world, _, ada, bob):
        for _ in range(20):
            async with line(world) as raw:
                await raw.say(b"POST /api/guests HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
                await goes_on(ada, bob)
        bad = {"call": "/api/guests", "status": "400"}
        await eventually(lambda: world.metric("numbridge_gateway_http_requests_total", **bad) == 20)
        assert sum_of(world, "numbridge_gateway_faults_total") == 0
        await goes_on(ada, bob)


HEADERS = [
    b"Expect: 1\xf700-continue", b"Expect: nonsense", b"Connection: upgr\xc9de\r\nUpgrade: websocket", b"Cookie: \xff",
    b"If-None-Match: \xff", b"Range: bytes=0-\xfe", b"Accept-Encoding: gz\x80ip", b"X-Forwarded-For: \xff",
    b"Content-Type: \xff", b"If-None-Match: W/x, *", b"Range: bytes=9-1,-5", b"Host: \xff",
]  # fmt: skip


async def test_headers_of_any_bytes_are_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    async with a_game(trusted_proxies=("127.0.0.1",)) as (world, _, ada, bob):
        for path in (b"/", b"/ws", b"/api/rooms", b"/nothing"):
            for headers in HEADERS:
                async with line(world) as raw:
                    await raw.say(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n\r\n")
                    assert await raw.status() in (200, 304, 400, 404, 417), (path, headers)
        assert sum_of(world, "numbridge_gateway_faults_total") == 0
        assert not caplog.records
        await goes_on(ada, bob)
