"""Hostile frames: an error each, the connection stays, and nobody else notices."""

import json
from typing import Any

import aiohttp
import pytest

from tests.helpers.client import Client, Club, Refused

PLAY = '{"op": "play", "game": "x", "version": 0, "action": %s}'
BAD_FRAMES = [
    "", "{", "null", "[]", "42", '"op"', "{}", '{"op": 5}', '{"op": "fly"}', '{"op": "ping", "ref": 5}',
    '{"op": "join"}', '{"op": "join", "game": 5}', '{"op": "join", "game": "x", "since": "1"}',
    '{"op": "play", "game": "x", "version": 0}', '{"op": "play", "game": "x", "action": {"kind": "pie"}}',
    '{"op": "play", "game": "x", "version": true, "action": {"kind": "pie"}}',
    PLAY % '{"kind": "fly"}', PLAY % '{"kind": "place", "tile": "4", "cell": "a1"}',
    PLAY % '{"kind": "place", "tile": 4}',
    '{"op": "seek"}', '{"op": "seek", "room": "blitz", "givens": "many"}',
    '{"op": "seek", "room": "blitz", "givens": [1]}', '{"op": "seek", "room": "blitz", "rated": "maybe"}',
    '{"op": "seek", "room": "blitz", "rating": [1, 2, 3]}', '{"op": "ping", "ref": "' + "r" * 65 + '"}',
    '{"op": "ping", "sent_at": NaN}', "[" * 2000, '{"a":' * 600 + "1" + "}" * 600, '{"op": "hello", "token": 1}',
]  # fmt: skip


async def bad(client: Client, frame: str | bytes) -> dict[str, Any]:
    mark = len(client.events)
    await client.send_raw(frame)
    return await client.wait("error", since=mark)


@pytest.mark.parametrize("frame", BAD_FRAMES)
async def test_a_bad_frame_gets_an_error_and_the_connection_stays(club: Club, frame: str) -> None:
    ada = await club.guest()
    error = await bad(ada, frame)
    assert error["code"] == "bad_message"
    assert error["message"]
    assert (await ada.ask("ping", sent_at=5))["sent_at"] == 5
    await ada.close()


async def test_a_binary_frame_is_a_bad_message(club: Club) -> None:
    ada = await club.guest()
    assert (await bad(ada, b'{"op":"ping"}'))["code"] == "bad_message"
    assert (await ada.ask("ping"))["server_at"]


async def test_a_frame_over_the_limit_hurts_only_its_sender(club: Club) -> None:
    game, blue, red = await club.seat("study")
    eve = await club.guest("Eve")
    await eve.send_raw(json.dumps({"op": "ping", "pad": "x" * 4096}))
    if await eve.closed() is not None:
        assert eve.close_code == 1009
    fits = json.dumps({"op": "ping", "ref": "fits", "pad": ""})
    await blue.send_raw(json.dumps({"op": "ping", "ref": "fits", "pad": "x" * (4096 - len(fits))}))
    await blue.wait("pong", lambda e: e.get("ref") == "fits")
    await blue.play(game, "exchange")
    await red.wait("move")


async def test_ten_bad_messages_are_answered_before_the_door_closes(club: Club) -> None:
    game, blue, red = await club.seat("study")
    for _ in range(10):
        assert (await bad(red, "{"))["code"] == "bad_message"
    for _ in range(200):
        if red._socket is None or red._socket.closed:
            break
        try:
            await red.send_raw("{")
        except (ConnectionError, aiohttp.ClientError):
            break
    assert await red.closed() == 1008
    red = await club.again(red)
    await red.join(game)
    await blue.play(game, "exchange")
    await red.wait("move")


async def test_refused_moves_are_never_counted_as_bad_messages(club: Club) -> None:
    game, blue, red = await club.seat("study")
    for _ in range(15):
        for client, kind, version, code in (
            (blue, "pie", 0, "illegal"),
            (red, "pie", 0, "not_your_turn"),
            (blue, "pie", 9, "stale"),
        ):
            with pytest.raises(Refused) as refused:
                await client.play(game, kind, version=version)
            assert refused.value.code == code
    assert (await blue.ask("ping"))["server_at"]


async def test_nothing_goes_before_hello_and_a_bad_token_is_turned_away(club: Club) -> None:
    async with club.session.ws_connect(f"{club.urls[0]}/ws", protocols=("numbridge.v1",)) as socket:
        await socket.send_json({"op": "seek", "room": "blitz", "ref": "early"})
        error = await socket.receive_json(timeout=5)
        assert (error["code"], error["ref"]) == ("unauthorized", "early")
    async with club.session.ws_connect(f"{club.urls[0]}/ws", protocols=("numbridge.v1",)) as socket:
        await socket.send_json({"op": "hello", "token": "not.a.token", "ref": "h"})
        error = await socket.receive_json(timeout=5)
        assert error["code"] == "unauthorized"
        assert "not.a.token" not in error["message"]


async def test_a_token_in_the_url_is_no_login(club: Club) -> None:
    ada = await club.guest()
    async with club.session.ws_connect(f"{ada.url}/ws?token={ada.token}", protocols=("numbridge.v1",)) as socket:
        await socket.send_json({"op": "ping", "ref": "p"})
        answer = await socket.receive_json(timeout=5)
        assert answer.get("code") == "unauthorized" or answer["ev"] == "pong"
        await socket.send_json({"op": "seek", "room": "blitz", "ref": "s"})
        while (answer := await socket.receive_json(timeout=5)).get("ref") != "s":
            pass
        assert answer["code"] == "unauthorized"


async def test_unknown_fields_are_ignored(club: Club) -> None:
    ada = await club.guest()
    await ada.ask("ping", colour="green", nested={"deep": [1, 2]})
