"""The gateway's HTTP side: every call, every refusal, safe headers, limits, and the way into a socket."""

from typing import Any

import aiohttp
import pytest

from numbridge.errors import Reason, Rejected
from numbridge.v1 import common_pb2
from tests.helpers.eventually import eventually
from tests.unit.gateway.fake_services import a_seek, an_end
from tests.unit.gateway.fakes import Cluster
from tests.unit.gateway.games import GAME, UNKNOWN_GAME
from tests.unit.gateway.world import World, gateway


async def call(world: World, path: str, status: int = 200, method: str = "GET", **kwargs: Any) -> Any:
    """A JSON answer with the expected status."""
    async with world.session.request(method, world.url + path, **kwargs) as response:
        assert response.status == status, await response.text()
        assert response.content_type == "application/json"
        return await response.json()


async def refused(world: World, path: str, status: int, code: str, **kwargs: Any) -> str:
    """The sentence of a refusal."""
    body = await call(world, path, status, **kwargs)
    assert set(body) == {"error"}
    assert body["error"]["code"] == code
    message: str = body["error"]["message"]
    assert message
    return message


# --- guests ------------------------------------------------------------------------------------------------------


async def test_a_guest_gets_a_token_that_logs_in() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        body = await call(world, "/api/guests", 201, "POST", json={"name": "  Ada Lovelace "})
        assert body["player"]["name"] == "Ada Lovelace"
        assert cluster.ratings.known == {body["player"]["id"]: "Ada Lovelace"}
        async with world.session.ws_connect(f"{world.url}/ws") as socket:
            await socket.send_json({"op": "hello", "token": body["token"]})
            hello = await socket.receive_json(timeout=5)
            assert hello["player"] == body["player"]


@pytest.mark.parametrize("data", [None, b"", b"{}", b'{"name": null}', b'{"color": "green"}'])
async def test_a_guest_without_a_name_gets_one(data: bytes | None) -> None:
    async with gateway() as world:
        body = await call(world, "/api/guests", 201, "POST", data=data)
        assert body["player"]["name"].startswith("Guest")


@pytest.mark.parametrize(
    "data",
    [
        b"{", b"[]", b'"Ada"', b'{"name": 5}', b'{"name": ["Ada"]}', b'{"name": "a\\u0000b"}', b'{"name": "a\\nb"}',
        b'{"name": "a\\u202eb"}', b'{"name": "a\\u200bb"}', b'{"name": "   "}', b'{"name": ""}', b'{"name": "\\ud800"}',
        b'{"name": "' + b"x" * 33 + b'"}', b"\xff\xfe", b"[" * 3000, b'{"name": NaN}',
    ],
)  # fmt: skip
async def test_a_name_that_cannot_be_shown_is_refused_in_words(data: bytes) -> None:
    async with gateway() as world:
        assert "name" in await refused(world, "/api/guests", 400, "bad_message", method="POST", data=data)


async def test_a_long_body_is_refused() -> None:
    async with gateway() as world:
        await refused(world, "/api/guests", 413, "bad_message", method="POST", data=b'{"name": "' + b"x" * 5000 + b'"}')


async def test_where_guests_are_off_they_are_forbidden() -> None:
    async with gateway(guests=False) as world:
        await refused(world, "/api/guests", 403, "forbidden", method="POST")


async def test_guests_come_in_while_the_ratings_are_away() -> None:
    cluster = Cluster()
    cluster.ratings.refusal = Rejected(Reason.UNAVAILABLE, "away")
    async with gateway(cluster) as world:
        await call(world, "/api/guests", 201, "POST", json={"name": "Ada"})


# --- reading -----------------------------------------------------------------------------------------------------


async def test_rooms_seeks_and_games() -> None:
    cluster = Cluster()
    cluster.lobby.open["blitz"] = [a_seek("s1")]
    settings = common_pb2.GameSettings(variant="blitz", side=6, blocks="regular", givens=10, claim_price=2)
    cluster.lobby.playing = [
        common_pb2.GameSummary(
            game=GAME, room="blitz", settings=settings, status="playing", started_at=7, version=3,
            blue=common_pb2.Player(id="ada", name="Ada", rating=1500), red=common_pb2.Player(id="bob", name="Bob"),
        )
    ]  # fmt: skip
    async with gateway(cluster) as world:
        rooms = (await call(world, "/api/rooms"))["rooms"]
        assert rooms[0] == {"id": "blitz", "name": "blitz", "waiting": 1, "playing": 2}
        assert [seek["seek"] for seek in (await call(world, "/api/seeks"))["seeks"]] == ["s1"]
        assert (await call(world, "/api/seeks?room=bridge"))["seeks"] == []
        await refused(world, "/api/seeks?room=nowhere", 404, "not_found")
        (game,) = (await call(world, "/api/games?room=blitz&limit=5"))["games"]
        assert (game["game"], game["room"], game["settings"]["side"]) == (GAME, "blitz", 6)
        assert game["players"] == {
            "blue": {"id": "ada", "name": "Ada", "rating": 1500},
            "red": {"id": "bob", "name": "Bob"},
        }
        assert cluster.lobby.asked("games") == [("blitz", 5)]
        await call(world, "/api/games?limit=100000")
        assert cluster.lobby.asked("games")[1] == ("", 200)


async def test_players_their_games_and_the_leaderboard() -> None:
    cluster = Cluster()
    cluster.ratings.known["ada"] = "Ada"
    async with gateway(cluster) as world:
        profile = await call(world, "/api/players/ada")
        assert profile["ratings"]["blitz"] == {"rating": 1510.5, "deviation": 80.25, "volatility": 0.06, "games": 3}
        assert profile["games"] == {"won": 2, "lost": 1, "drawn": 0}
        await refused(world, "/api/players/nobody", 404, "not_found")
        await refused(world, f"/api/players/{'x' * 65}", 404, "not_found")
        page = await call(world, "/api/players/ada/games?limit=1")
        assert page["games"][0]["opponent"] == {"id": "p2", "name": "Bob"}
        assert page["next"] == "cursor"
        assert "next" not in await call(world, "/api/players/ada/games?before=cursor")
        rows = (await call(world, "/api/leaderboard/blitz"))["players"]
        assert rows == [{"rank": 1, "id": "p1", "name": "Ada", "rating": 1600.0, "deviation": 60.0, "games": 9}]
        await refused(world, "/api/leaderboard/chess", 404, "not_found")


@pytest.mark.parametrize("limit", ["x", "0", "-1", "1.5", "", "+3", "1e3", "٣", "9" * 30, "%00"])
@pytest.mark.parametrize("path", ["/api/games", "/api/leaderboard/blitz", "/api/players/p1/games"])
async def test_a_bad_limit_is_refused_by_name(path: str, limit: str) -> None:
    async with gateway() as world:
        assert "limit" in await refused(world, f"{path}?limit={limit}", 400, "bad_message")


async def test_a_running_game_as_a_spectator_sees_it() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        for headers in ({}, {"Authorization": f"Bearer {world.token('ada')}"}):
            body = await call(world, f"/api/games/{GAME}", headers=headers)
            assert body == {"game": GAME, "version": 0, "view": {"status": "playing"}}
        assert not any(join.arrive or join.player for join in table.joins)
        await refused(world, f"/api/games/{GAME}/record", 409, "in_progress")
        table.status = "adjourned"
        await refused(world, f"/api/games/{GAME}/record", 409, "in_progress")
        table.status = "over"
        assert await call(world, f"/api/games/{GAME}/record") == {"format": "numbridge.record/1"}


async def test_a_finished_game_and_its_record() -> None:
    cluster = Cluster()
    cluster.ratings.archive[GAME] = an_end(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        body = await call(world, f"/api/games/{GAME}")
        assert body == {"game": GAME, "version": 9, "view": {"status": "over", "result": "blue"}}
        assert (await call(world, f"/api/games/{GAME}/record"))["archived"] is True


@pytest.mark.parametrize("game", [UNKNOWN_GAME, "nope", "%2e%2e", "a%2fb", "x" * 65])
async def test_unknown_games_are_not_found(game: str) -> None:
    async with gateway() as world:
        await refused(world, f"/api/games/{game}", 404, "not_found")
        await refused(world, f"/api/games/{game}/record", 404, "not_found")


async def test_while_something_is_away_one_is_told_to_come_back() -> None:
    cluster = Cluster()
    cluster.lobby.refusal = Rejected(Reason.UNAVAILABLE, "the lobby is away")
    async with gateway(cluster) as world, world.session.get(f"{world.url}/api/rooms") as response:
        assert response.status == 503
        assert response.headers["Retry-After"]
        assert (await response.json())["error"]["code"] == "unavailable"


async def test_a_fault_of_our_own_tells_nothing() -> None:
    cluster = Cluster()
    cluster.lobby.fault = ZeroDivisionError("a secret that nobody must read")
    async with gateway(cluster) as world:
        assert "secret" not in await refused(world, "/api/rooms", 500, "internal")


# --- shapes of refusal, headers, files ---------------------------------------------------------------------------


async def test_what_is_not_there_or_not_allowed_says_so_as_json() -> None:
    async with gateway() as world:
        for path in ("/api/nothing", "/nothing", "/metrics", "/%2e%2e/main.py", "/..%2fmain.py", "//etc/passwd"):
            await refused(world, path, 404, "not_found")
        for method, path in (("DELETE", "/api/rooms"), ("GET", "/api/guests"), ("POST", "/api/games"), ("PUT", "/")):
            async with world.session.request(method, world.url + path) as response:
                assert response.status in (404, 405), (method, path)
                assert (await response.json())["error"]["code"] in ("bad_message", "not_found")
                assert response.status == 404 or response.headers["Allow"]


async def test_the_page_and_its_headers() -> None:
    async with gateway() as world:
        async with world.session.get(f"{world.url}/") as response:
            assert (response.status, response.content_type) == (200, "text/html")
            policy = response.headers["Content-Security-Policy"]
            assert "script-src 'self'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            tag = response.headers["ETag"]
        async with world.session.get(f"{world.url}/", headers={"If-None-Match": tag}) as response:
            assert response.status == 304
        async with world.session.head(f"{world.url}/index.html") as response:
            assert response.status == 200
            assert await response.read() == b""
        async with world.session.get(f"{world.url}/api/rooms") as response:
            assert response.headers["Cache-Control"] == "no-store"
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize(
    ("accepted", "coding"), [("gzip, deflate", "gzip"), ("br;q=1, gzip;q=0.5", "gzip"), ("gzip;q=0", None), ("", None)]
)
async def test_files_travel_compressed_to_those_who_take_it(accepted: str, coding: str | None) -> None:
    async with gateway() as world:
        url = f"{world.url}/js/app.js"
        async with world.session.get(url, headers={"Accept-Encoding": accepted}) as response:
            assert response.headers.get("Content-Encoding") == coding
            assert response.headers["Vary"] == "Accept-Encoding"
            assert "import" in await response.text()
            tag = response.headers["ETag"]
        headers = {"Accept-Encoding": accepted, "If-None-Match": tag}
        async with world.session.get(url, headers=headers) as response:
            assert response.status == 304


async def test_health_and_readiness() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        async with world.session.get(f"{world.url}/healthz") as response:
            assert response.status == 200
        world.app.draining = True
        async with world.session.get(f"{world.url}/readyz") as response:
            assert response.status == 503
            assert (await response.json())["failing"] == ["draining"]


async def test_the_own_port_serves_the_same() -> None:
    async with gateway(own_port=0) as world:
        shared, own = world.app.server.ports
        assert shared != own
        for port in (shared, own):
            async with world.session.get(f"http://127.0.0.1:{port}/api/rooms") as response:
                assert response.status == 200


# --- limits ------------------------------------------------------------------------------------------------------


async def test_limits_by_address_say_when_to_come_back() -> None:
    async with gateway(guest_burst=2, guest_per_minute=6, http_burst=5, http_per_minute=60) as world:
        for _ in range(2):
            await call(world, "/api/guests", 201, "POST")
        async with world.session.post(f"{world.url}/api/guests") as response:
            assert response.status == 429
            assert int(response.headers["Retry-After"]) in (9, 10, 11)
        for _ in range(2):
            await call(world, "/api/rooms")
        await refused(world, "/api/rooms", 429, "limit")
        async with world.session.get(f"{world.url}/") as response:
            assert response.status == 200  # the page itself still comes


async def test_limits_can_be_lifted() -> None:
    async with gateway(limits=False, guest_burst=1, http_burst=1, connect_burst=1, message_burst=1) as world:
        for _ in range(5):
            await call(world, "/api/guests", 201, "POST")
        ada = await world.player("ada")
        await world.player("ada")
        for _ in range(20):
            await ada.ask("ping")


async def test_a_proxy_that_is_trusted_names_the_client() -> None:
    headers = ({"X-Forwarded-For": f"10.0.0.{n}"} for n in range(1, 4))
    async with gateway(guest_burst=1, trusted_proxies=("127.0.0.0/8",)) as world:
        for header in headers:
            await call(world, "/api/guests", 201, "POST", headers=header)
    async with gateway(guest_burst=1) as world:
        await call(world, "/api/guests", 201, "POST", headers={"X-Forwarded-For": "10.0.0.1"})
        await refused(world, "/api/guests", 429, "limit", method="POST", headers={"X-Forwarded-For": "10.0.0.2"})


# --- the way into a socket ---------------------------------------------------------------------------------------


async def handshake(world: World, **kwargs: Any) -> int:
    """Status of a WebSocket handshake."""
    try:
        async with world.session.ws_connect(f"{world.url}/ws", **kwargs):
            return 101
    except aiohttp.WSServerHandshakeError as error:
        return error.status


async def test_origins() -> None:
    async with gateway(origins=("https://club.example",)) as world:
        own = world.url
        assert await handshake(world) == 101  # bots have none
        assert await handshake(world, headers={"Origin": own}) == 101
        assert await handshake(world, headers={"Origin": "https://club.example"}) == 101
        for strange in ("https://evil.example", "null", f"{own}.evil.example", "http://[", "https://club.example:8443"):
            assert await handshake(world, headers={"Origin": strange}) == 403


async def test_subprotocols() -> None:
    async with gateway() as world:
        async with world.session.ws_connect(f"{world.url}/ws", protocols=("other", "numbridge.v1")) as socket:
            assert socket.protocol == "numbridge.v1"
        assert await handshake(world) == 101
        assert await handshake(world, protocols=("numbridge.v0",)) == 400


async def test_a_plain_get_of_the_socket_is_refused() -> None:
    async with gateway() as world:
        await refused(world, "/ws", 400, "bad_message")


async def test_a_bearer_header_logs_in_or_is_refused_before_the_upgrade() -> None:
    async with gateway() as world:
        token = world.token("ada")
        async with world.session.ws_connect(f"{world.url}/ws", headers={"Authorization": f"Bearer {token}"}) as socket:
            assert (await socket.receive_json(timeout=5))["player"]["id"] == "ada"
            await socket.send_json({"op": "hello", "token": token})
            assert (await socket.receive_json(timeout=5))["code"] == "unauthorized"
        for header in ("Bearer nonsense", "Basic abc", "Bearer", f"Token {token}"):
            assert await handshake(world, headers={"Authorization": header}) == 401


async def test_refused_tokens_are_limited_by_address() -> None:
    async with gateway(hello_burst=2, hello_per_minute=1) as world:
        for _ in range(2):
            assert await handshake(world, headers={"Authorization": "Bearer nonsense"}) == 401
        assert await handshake(world, headers={"Authorization": "Bearer nonsense"}) == 429


async def test_connections_are_limited_by_address_and_in_all() -> None:
    async with gateway(connect_burst=2, connect_per_minute=1) as world:
        assert [await handshake(world) for _ in range(3)] == [101, 101, 429]
    async with gateway(connections_per_address=2) as world:
        ada, _ = await world.player("ada"), await world.player("bob")
        assert await handshake(world) == 429
        await ada.close()
        await eventually(lambda: world.metric("numbridge_gateway_connections") == 1)
        assert await handshake(world) == 101
    async with gateway(connections=1) as world:
        await world.player("ada")
        assert await handshake(world) == 503
