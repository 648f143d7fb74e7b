"""Hostile sockets: each gets what it deserves, and a game on the same gateway goes on."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from gateway.ports import SharedLimits
from tests.helpers.client import Client
from tests.helpers.eventually import eventually
from tests.unit.gateway.fakes import Cluster, Table
from tests.unit.gateway.games import GAME
from tests.unit.gateway.world import World, gateway

PLAY = '{"op": "play", "ref": "x", "game": "' + GAME + '", "version": 0, "action": %s}'
BAD_FRAMES: list[str | bytes] = [
    "", " ", "{", "null", "[]", "42", '"op"', "{}", '{"op": 5}', '{"op": null}', '{"op": "fly"}', '{"op": "HELLO"}',
    '{"op": "ping", "ref": 5}', '{"op": "ping", "ref": "' + "r" * 65 + '"}', '{"op": "ping", "sent_at": "now"}',
    '{"op": "ping", "sent_at": NaN}', '{"op": "ping", "sent_at": Infinity}', '{"op": "ping", "sent_at": true}',
    '{"op": "join"}', '{"op": "join", "game": 5}', '{"op": "join", "game": ""}', '{"op": "join", "game": null}',
    '{"op": "join", "game": "' + "g" * 65 + '"}', '{"op": "join", "game": "x", "since": -1}',
    '{"op": "join", "game": "x", "since": 1.5}', '{"op": "join", "game": "x", "since": 99999999999999999999999}',
    PLAY % '{"kind": "fly"}', PLAY % "{}", PLAY % "null", PLAY % '{"kind": "place", "tile": "4", "cell": "a1"}',
    PLAY % '{"kind": "place", "tile": 4}', PLAY % '{"kind": "place", "tile": 0, "cell": "a1"}',
    PLAY % '{"kind": "place", "tile": 4, "cell": "A1"}', PLAY % '{"kind": "place", "tile": 4, "cell": "a1; drop"}',
    PLAY % '{"kind": "place", "tile": 1e400, "cell": "a1"}', PLAY % '{"kind": "place", "tile": true, "cell": "a1"}',
    '{"op": "play", "game": "x", "version": -1, "action": {"kind": "pie"}}',
    '{"op": "play", "game": "x", "version": 18446744073709551616, "action": {"kind": "pie"}}',
    '{"op": "seek"}', '{"op": "seek", "room": "blitz", "givens": [1]}', '{"op": "seek", "room": "blitz", "rated": 1}',
    '{"op": "seek", "room": "blitz", "blocks": "round"}', '{"op": "hello", "token": 1}', '{"op": "hello"}',
    "[" * 4000, '{"a":' * 600 + "1" + "}" * 600, '{"op": "ping", "x": ' + "[" * 1000 + "]" * 1000 + "}",
    '{"op": "ping"} {"op": "ping"}', '{"op": "ping",}', "{'op': 'ping'}", '\ufeff{"op": "ping"}', '{"op": "ping"',
    '{"op": "ping", "ref": "\\ud800"}',
]  # fmt: skip


@asynccontextmanager
async def a_game(
    shared: SharedLimits | None = None, **settings: Any
) -> AsyncIterator[tuple[World, Table, Client, Client]]:
    """A gateway with a game of two who behave."""
    cluster = Cluster()
    cluster.limits = shared
    table = cluster.table(GAME, "ada", "bob")
    async with gateway(cluster, **settings) as world:
        ada, bob = await world.seated(GAME, "ada", "bob")
        yield world, table, ada, bob


async def goes_on(ada: Client, bob: Client) -> None:
    """A move is answered and seen."""
    ok = await ada.play(GAME, "exchange")
    await bob.wait("move", lambda e: e["version"] == ok["version"])


async def opened(world: World) -> aiohttp.ClientWebSocketResponse:
    """A bare socket of a player."""
    socket = await world.session.ws_connect(f"{world.url}/ws", compress=0)
    await socket.send_json({"op": "hello", "token": world.token("eve")})
    assert (await socket.receive_json(timeout=5))["ev"] == "hello"
    return socket


async def test_every_bad_frame_gets_an_error_and_the_socket_stays() -> None:
    async with a_game(bad_burst=1000) as (world, _table, ada, bob):
        socket = await opened(world)
        for frame in BAD_FRAMES:
            await socket.send_str(str(frame))
            answer = await socket.receive_json(timeout=5)
            assert (answer["ev"], answer["code"]) == ("error", "bad_message"), frame
            assert 0 < len(answer["message"]) < 300, frame
        await goes_on(ada, bob)
        await socket.send_json({"op": "ping"})
        assert (await socket.receive_json(timeout=5))["ev"] == "pong"
        await socket.close()


@pytest.mark.parametrize("data", [b'{"op": "ping"}', b"", b"\x00" * 100])
async def test_a_binary_frame_is_a_bad_message(data: bytes) -> None:
    async with a_game() as (world, _table, ada, bob):
        socket = await opened(world)
        await socket.send_bytes(data)
        assert (await socket.receive_json(timeout=5))["code"] == "bad_message"
        await goes_on(ada, bob)
        await socket.close()


@pytest.mark.parametrize("data", [b"\xff\xfe", b'{"op": "ping", "ref": "\xc3"}', b'{"op": "\xed\xa0\x80"}'])
async def test_a_text_that_is_no_utf8_is_a_bad_message(data: bytes) -> None:
    async with a_game() as (world, _table, ada, bob):
        socket = await opened(world)
        await socket.send_frame(data, aiohttp.WSMsgType.TEXT)
        assert (await socket.receive_json(timeout=5))["code"] == "bad_message"
        await goes_on(ada, bob)
        await socket.close()


async def test_a_frame_over_the_limit_closes_its_socket_alone() -> None:
    async with a_game() as (world, _table, ada, bob):
        socket = await opened(world)
        fits = '{"op": "ping", "pad": "%s"}'
        await socket.send_str(fits % ("x" * (4096 - len(fits) + 2)))
        assert (await socket.receive_json(timeout=5))["ev"] == "pong"
        await socket.send_str(fits % ("x" * (4096 - len(fits) + 3)))
        assert (await socket.receive(timeout=5)).type is aiohttp.WSMsgType.CLOSE
        assert socket.close_code == 1009
        await goes_on(ada, bob)
        await socket.close()


async def test_a_frame_over_the_limit_in_fragments_is_no_way_around() -> None:
    async with a_game() as (world, _table, ada, bob):
        socket = await opened(world)
        writer = socket._writer
        transport = writer.transport
        for opcode in (0x01, *(0x00,) * 40):  # never the final fragment
            transport.write(bytes((opcode, 0x80 | 126)) + (2000).to_bytes(2, "big") + b"\0\0\0\0" + b"x" * 2000)
        assert (await socket.receive(timeout=5)).type is aiohttp.WSMsgType.CLOSE
        assert socket.close_code == 1009
        await goes_on(ada, bob)
        await socket.close()


async def test_unknown_fields_and_double_keys_are_fine() -> None:
    async with a_game() as (world, _table, ada, bob):
        socket = await opened(world)
        await socket.send_str('{"op": "fly", "op": "ping", "ref": "a", "ref": "b", "nested": {"deep": [1, {"x": 2}]}}')
        assert (await socket.receive_json(timeout=5))["ref"] == "b"
        many = "{" + ", ".join(f'"k{i}": {i}' for i in range(300)) + ', "op": "ping"}'
        await socket.send_str(many)
        assert (await socket.receive_json(timeout=5))["ev"] == "pong"
        await goes_on(ada, bob)
        await socket.close()


async def test_bad_messages_are_answered_and_then_the_door_closes() -> None:
    async with a_game(bad_burst=12, bad_per_minute=12) as (world, _table, ada, bob):
        socket = await opened(world)
        for _ in range(40):
            await socket.send_str("{")
        answers = [message.data async for message in socket]
        assert len(answers) >= 10
        assert socket.close_code == 1008
        await goes_on(ada, bob)
        assert world.metric("numbridge_gateway_closes_total", why="limit") == 1


async def test_a_flood_is_limited_and_then_closed() -> None:
    async with a_game(message_burst=20, message_per_minute=60) as (world, _table, ada, bob):
        socket = await opened(world)
        for _ in range(60):
            await socket.send_str('{"op": "ping"}')
        events = [json.loads(message.data) async for message in socket]
        assert [e["ev"] for e in events].count("pong") >= 10
        limits = [e for e in events if e.get("code") == "limit"]
        assert limits
        assert all(e["retry_ms"] > 0 for e in limits)
        assert socket.close_code == 1008
        await goes_on(ada, bob)


async def test_a_flood_of_ping_frames_is_closed() -> None:
    async with a_game(message_burst=20, message_per_minute=60) as (world, _table, ada, bob):
        socket = await opened(world)
        for _ in range(60):
            await socket.send_frame(b"x", aiohttp.WSMsgType.PING)
        async for _ in socket:
            pass
        assert socket.close_code == 1008
        await goes_on(ada, bob)


async def test_pongs_that_nobody_asked_for_mean_nothing() -> None:
    async with a_game() as (world, table, ada, bob):
        assert ada._socket is not None
        for payload in (b"", b"1.", b"x" * 100):
            await ada._socket.send_frame(payload, aiohttp.WSMsgType.PONG)
        await goes_on(ada, bob)
        assert table.plays[0].lag_ms == 0
        assert world.metric("numbridge_gateway_socket_round_trip_seconds_count") == 0


async def test_a_ping_of_ours_measures_the_lag() -> None:
    async with a_game(ping_ms=50) as (world, _table, ada, bob):
        await eventually(lambda: world.metric("numbridge_gateway_socket_round_trip_seconds_count") >= 2)
        await goes_on(ada, bob)


async def test_who_says_no_hello_is_closed() -> None:
    async with a_game(hello_ms=200) as (world, _table, ada, bob):
        async with world.session.ws_connect(f"{world.url}/ws") as socket:
            await socket.receive(timeout=5)
            assert socket.close_code == 1008
        await goes_on(ada, bob)


async def test_who_answers_no_ping_is_taken_for_dead() -> None:
    async with a_game(ping_ms=100, dead_ms=400) as (world, _table, ada, bob):
        socket = await world.session.ws_connect(f"{world.url}/ws", autoping=False)
        await socket.send_json({"op": "hello", "token": world.token("eve")})
        while (message := await socket.receive(timeout=5)).type in (aiohttp.WSMsgType.PING, aiohttp.WSMsgType.TEXT):
            pass
        assert message.type is aiohttp.WSMsgType.CLOSE
        await goes_on(ada, bob)
        await socket.close()


async def stalled(world: World, player: str) -> aiohttp.ClientWebSocketResponse:
    """A socket at the table that is never read again."""
    socket = await world.session.ws_connect(f"{world.url}/ws", compress=0)
    await socket.send_json({"op": "hello", "token": world.token(player)})
    await socket.send_json({"op": "join", "game": GAME})
    while (await socket.receive_json(timeout=5))["ev"] != "state":
        pass
    transport_of(socket).pause_reading()
    return socket


def transport_of(socket: aiohttp.ClientWebSocketResponse) -> asyncio.Transport:
    """The network side of a client's socket."""
    connection = socket._response.connection
    assert connection is not None
    transport = connection.transport
    assert isinstance(transport, asyncio.Transport)
    return transport


async def fill(world: World, table: Table, until: str) -> None:
    """Frames until an overflow is counted; far more than any buffer of the network's holds."""
    for _ in range(4000):
        table.version += 1
        text = json.dumps({"ev": "move", "game": GAME, "version": table.version, "pad": "x" * 8000}).encode()
        for seat, log in table.log.items():
            log.append((table.version, text))
            world.cluster.views.say(GAME, seat, [(table.version, text)])
        if not table.version % 10:  # let the sockets be written to
            async with world.session.get(f"{world.url}/healthz"):
                pass
        if world.metric("numbridge_gateway_overflow_total", queue=until):
            return
    raise AssertionError("the buffers never filled")


async def test_a_slow_watcher_gets_a_fresh_state_and_holds_up_nobody() -> None:
    async with a_game() as (world, table, ada, bob):
        socket = await stalled(world, "eve")
        await fill(world, table, "outbox_soft")
        await bob.wait("move", lambda e: e["version"] == table.version)
        await goes_on(ada, bob)
        transport_of(socket).resume_reading()
        last = table.version
        seen = 0
        while seen < last:
            event = await socket.receive_json(timeout=10)
            if event["ev"] == "state":
                assert event["version"] > seen
                seen = event["version"]
            elif event["ev"] == "move":
                assert event["version"] == seen + 1
                seen = event["version"]
        await goes_on(ada, bob)
        while (await socket.receive_json(timeout=10)).get("version") != table.version:
            pass
        await socket.close()


async def test_a_slow_player_is_closed_and_resumes() -> None:
    async with a_game() as (world, table, _ada, bob):
        socket = await stalled(world, "ada")
        transport = transport_of(socket)
        await fill(world, table, "outbox_soft")
        await eventually(lambda: world.metric("numbridge_gateway_closes_total", why="slow") == 1)
        await eventually(lambda: world.metric("numbridge_gateway_connections") == 2)
        version = table.version
        await bob.wait("move", lambda e: e["version"] == version)
        again = await world.player("ada")
        again.versions[GAME] = version - 3
        await again.ask("join", game=GAME, since=version - 3)
        await again.wait("move", lambda e: e["version"] == version)
        assert again.gaps == []
        transport.abort()
        await socket.close()


async def test_a_reader_who_never_reads_his_answers_is_cut_off() -> None:
    async with a_game(limits=False, outbox_soft_bytes=20_000, outbox_hard_bytes=60_000) as (world, _table, ada, bob):
        socket = await opened(world)
        transport = transport_of(socket)
        transport.pause_reading()
        ping = json.dumps({"op": "ping", "ref": "r" * 64, "sent_at": 1})
        for _ in range(500):
            try:
                await asyncio.wait_for(asyncio.gather(*(socket.send_str(ping) for _ in range(500))), 2)
            except (TimeoutError, ConnectionError, aiohttp.ClientError):
                break
            if world.metric("numbridge_gateway_overflow_total", queue="outbox_hard"):
                break
        await eventually(lambda: world.metric("numbridge_gateway_connections") == 2)
        await goes_on(ada, bob)
        transport.abort()
        await socket.close()


async def test_draining_sends_everybody_away_with_1012_and_takes_nobody_in() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        ada, bob = await world.seated(GAME, "ada", "bob")
        await world.app.drain()
        assert [await client.closed() for client in (ada, bob)] == [1012, 1012]
        assert world.app.failing() == ["draining"]
        with pytest.raises(aiohttp.ClientError):
            await world.session.get(f"{world.url}/healthz")
        absent = [request.player for request in cluster.lobby.asked("set_presence") if not request.connected]  # type: ignore[attr-defined]
        assert sorted(absent) == ["ada", "bob"]
        assert cluster.workers.presence[GAME] == (0, 0, 0)
