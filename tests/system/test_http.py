"""The club over HTTP, as the protocol's section 1 describes it."""

import asyncio
import json

import aiohttp
import pytest

from tests.helpers.client import Client, Club
from tests.helpers.eventually import eventually

ROOM_KEYS = {
    "id", "name", "variant", "side", "givens", "claim_price", "move_ms", "game_ms", "highlight", "rated",
    "waiting", "playing",
}  # fmt: skip
RECORD_KEYS = {
    "format",
    "game",
    "room",
    "settings",
    "players",
    "deal",
    "hands",
    "moves",
    "end",
    "started_at",
    "ended_at",
}


async def finished(club: Club, room: str = "blitz") -> tuple[str, Client, Client]:
    """A game that red resigned at once."""
    game, blue, red = await club.seat(room, rated=True)
    await red.play(game, "resign")
    await asyncio.gather(*(client.wait("over", lambda e: e["game"] == game) for client in (blue, red)))
    return game, blue, red


async def test_rooms_have_every_field(club: Club) -> None:
    rooms = {room["id"]: room for room in (await club.get("/api/rooms"))["rooms"]}
    assert list(rooms)[:4] == ["bridge", "study", "blitz", "domains"]
    assert all(set(room) >= ROOM_KEYS for room in rooms.values())
    assert rooms["blitz"]["side"] == 6
    assert rooms["blitz"]["givens"] == {"min": 7, "max": 12, "default": 10}
    assert rooms["study"]["rated"] is False


async def test_a_guest_gets_a_token_and_a_name(club: Club) -> None:
    async with club.session.post(f"{club.urls[0]}/api/guests", json={"name": "Grace"}) as response:
        body = await response.json()
        assert response.status == 201
    assert body["player"]["name"] == "Grace"
    assert body["token"]
    async with club.session.post(f"{club.urls[0]}/api/guests", json={}) as response:
        assert response.status == 201
        assert (await response.json())["player"]["name"]
    async with club.session.post(f"{club.urls[0]}/api/guests") as response:
        assert response.status == 201
    profile = await club.get(f"/api/players/{body['player']['id']}")
    assert profile["name"] == "Grace"
    assert profile["games"] == {"won": 0, "lost": 0, "drawn": 0}


@pytest.mark.parametrize("body", ['{"name": 5}', '{"name": "a\\u0000b"}', "[]", "{", json.dumps({"name": "x" * 5000})])
async def test_a_bad_name_is_refused_in_words(club: Club, body: str) -> None:
    async with club.session.post(
        f"{club.urls[0]}/api/guests", data=body, headers={"Content-Type": "application/json"}
    ) as response:
        assert response.status in (400, 413)
        assert set((await response.json())["error"]) >= {"code", "message"}


@pytest.mark.parametrize(
    "path",
    [
        "/api/games/nope", "/api/games/nope/record", "/api/games/00-0123456789abcdef/record", "/api/players/nobody",
        "/api/players/nobody/games", "/api/leaderboard/chess", "/api/nothing", "/api/seeks?room=nowhere",
    ],
)  # fmt: skip
async def test_what_is_not_there_says_so(club: Club, path: str) -> None:
    body = await club.get(path, status=404)
    assert body["error"]["code"] == "not_found"
    assert body["error"]["message"]


@pytest.mark.parametrize(
    "path", ["/api/leaderboard/blitz?limit=x", "/api/games?limit=-1", "/api/leaderboard/blitz?limit=0"]
)
async def test_a_bad_limit_is_refused_by_name(club: Club, path: str) -> None:
    body = await club.get(path, status=400)
    assert "limit" in body["error"]["message"]


async def test_health_and_the_page(club: Club) -> None:
    for path in ("/healthz", "/readyz"):
        async with club.session.get(f"{club.urls[0]}{path}") as response:
            assert response.status == 200
    async with club.session.get(f"{club.urls[0]}/") as response:
        assert response.status == 200
        assert response.content_type == "text/html"
        assert "script-src 'self'" in response.headers["Content-Security-Policy"]
    async with club.session.get(f"{club.urls[0]}/metrics") as response:
        assert response.status == 404


async def test_open_seeks_are_listed_by_room(club: Club) -> None:
    ada = await club.guest()
    ok = await ada.ask("seek", room="domains", blocks="irregular", givens=[25, 28], rated=False, rating=[1000, 1100])
    seeks = (await club.get("/api/seeks?room=domains"))["seeks"]
    mine = next(seek for seek in seeks if seek["seek"] == ok["seek"])
    assert mine["player"] | {"rating": 0} == {"id": ada.id, "name": "Ada", "rating": 0}
    assert (mine["room"], mine["blocks"], mine["givens"]) == ("domains", "irregular", [25, 28])
    assert (mine["highlight"], mine["rated"], mine["rating"]) == ("any", False, [1000, 1100])
    assert mine["since"] > 1_600_000_000_000
    assert all(seek["room"] == "study" for seek in (await club.get("/api/seeks?room=study"))["seeks"])
    assert (await club.get("/api/rooms"))["rooms"][3]["waiting"] >= 1
    await ada.close()


async def test_a_running_game_shows_no_secrets_and_has_no_record(club: Club) -> None:
    game, blue, red = await club.seat("study")
    body = await club.get(f"/api/games/{game}")
    assert set(body) >= {"game", "version", "view"}
    view = body["view"]
    assert "hand" not in view
    assert "you" not in view
    assert "solution" not in json.dumps(body)
    refused = await club.get(f"/api/games/{game}/record", status=409)
    assert refused["error"]["code"] == "in_progress"

    async def listed() -> bool:
        return game in {entry["game"] for entry in (await club.get("/api/games?room=study&limit=200"))["games"]}

    await eventually(listed)
    await blue.play(game, "resign")
    await red.wait("over", lambda e: e["game"] == game)
    await eventually(lambda: listed_not(club, game))


async def listed_not(club: Club, game: str) -> bool:
    return game not in {entry["game"] for entry in (await club.get("/api/games?room=study&limit=200"))["games"]}


async def test_a_finished_game_is_archived_rated_and_listed(club: Club) -> None:
    game, blue, red = await finished(club)
    for client in (blue, red):
        rated = await client.wait("rated", lambda e: e["game"] == game)
        assert rated["variant"] == "blitz"
        assert set(rated["before"]) == {"rating", "deviation"} == set(rated["after"])
    record = await club.get(f"/api/games/{game}/record")
    assert set(record) >= RECORD_KEYS
    assert record["format"] == "numbridge.record/1"
    assert record["end"] == {"result": "blue", "reason": "resign"}
    assert record["players"]["blue"]["id"] == blue.id
    profile = await club.get(f"/api/players/{blue.id}")
    assert profile["games"] == {"won": 1, "lost": 0, "drawn": 0}
    assert profile["ratings"]["blitz"]["games"] == 1
    assert profile["ratings"]["blitz"]["rating"] > 1500
    played = (await club.get(f"/api/players/{red.id}/games"))["games"]
    assert played[0] | {"ended_at": 0} == {
        "game": game, "room": "blitz", "variant": "blitz", "color": "red", "result": "blue", "reason": "resign",
        "opponent": played[0]["opponent"], "ended_at": 0,
    }  # fmt: skip
    assert played[0]["opponent"]["id"] == blue.id
    board = (await club.get("/api/leaderboard/blitz?limit=200"))["players"]
    assert [row["rank"] for row in board] == list(range(1, len(board) + 1))
    assert blue.id in {row["id"] for row in board}
    assert [row["rating"] for row in board] == sorted((row["rating"] for row in board), reverse=True)
    end = await club.get(f"/api/games/{game}")
    assert end["view"]["status"] == "over"
    assert end["view"]["result"] == "blue"


async def test_a_players_games_come_in_pages(club: Club) -> None:
    one, two = await asyncio.gather(club.guest("Ada"), club.guest("Bob"))
    games = []
    for _ in range(3):
        game, blue, red = await club.pair(one, two, "flags", rated=True)
        await blue.play(game, "resign")
        await red.wait("rated", lambda e, game=game: e["game"] == game)  # type: ignore[misc]
        games.append(game)
    first = await club.get(f"/api/players/{one.id}/games?limit=2")
    assert [entry["game"] for entry in first["games"]] == [games[2], games[1]]
    last = await club.get(f"/api/players/{one.id}/games?limit=2&before={first['next']}")
    assert [entry["game"] for entry in last["games"]] == [games[0]]
    assert "next" not in last


async def test_a_bearer_header_brings_hello_unasked(club: Club) -> None:
    ada = await club.guest()
    headers = {"Authorization": f"Bearer {ada.token}"}
    async with club.session.ws_connect(f"{ada.url}/ws", protocols=("numbridge.v1",), headers=headers) as socket:
        hello = json.loads(await socket.receive_str(timeout=5))
        assert hello["ev"] == "hello"
        assert hello["player"]["id"] == ada.id
        assert socket.protocol == "numbridge.v1"


async def test_a_strange_origin_is_turned_away(club: Club) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await club.session.ws_connect(f"{club.urls[0]}/ws", headers={"Origin": "https://evil.example"})
    assert refused.value.status == 403
