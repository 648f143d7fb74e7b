"""What operators may do over HTTP: who may, what is asked of whom, what is written down, what is refused."""

from typing import Any

import pytest

from numbridge.clock import now_ms
from numbridge.errors import Reason, Rejected
from numbridge.v1 import ratings_pb2
from tests.contract.test_gateway_http import call, refused
from tests.helpers.eventually import eventually
from tests.unit.gateway.fakes import Cluster
from tests.unit.gateway.games import GAME
from tests.unit.gateway.world import World, gateway

HOUR = 3_600_000
CALLS = [
    ("POST", "/api/admin/rooms/blitz/close"),
    ("POST", "/api/admin/rooms/blitz/open"),
    ("POST", f"/api/admin/games/{GAME}/end"),
    ("POST", "/api/admin/players/eve/mute"),
    ("POST", "/api/admin/players/eve/unmute"),
    ("POST", "/api/admin/announcements"),
    ("GET", "/api/admin/restrictions"),
    ("GET", "/api/admin/audit"),
]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def operator(world: World) -> dict[str, Any]:
    """Arguments of an operator's call."""
    return {"method": "POST", "headers": bearer(world.token("op", admin=True))}


def deeds(cluster: Cluster) -> list[tuple[str, str, str, str, int]]:
    """What was written down."""
    return [(one.actor, one.action, one.subject, one.detail, one.until) for one in cluster.ratings.done]


@pytest.mark.parametrize(("method", "path"), CALLS)
async def test_nobody_but_an_operator(method: str, path: str) -> None:
    cluster = Cluster()
    cluster.ratings.known["eve"] = "Eve"
    async with gateway(cluster) as world:

        async def asks(status: int, code: str, headers: dict[str, str]) -> None:
            await refused(
                world, path, status, code, method=method, json={"until": now_ms() + HOUR, "text": "x"}, headers=headers
            )

        await asks(401, "unauthorized", {})
        await asks(401, "unauthorized", bearer("nonsense"))
        await asks(401, "unauthorized", {"Authorization": world.token("op", admin=True)})
        await asks(401, "unauthorized", bearer(world.token("op", admin=True, lifetime_ms=-HOUR)))
        await asks(403, "forbidden", bearer(world.token("eve")))
        await asks(403, "forbidden", bearer(world.token("guest-1", guest=True)))
        await asks(403, "forbidden", bearer(world.token("guest-1", guest=True, admin=True)))
    assert cluster.ratings.done == []
    assert [name for name, _ in cluster.lobby.calls if name == "end_game"] == []


async def test_a_room_is_closed_and_opened_and_both_are_written_down() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        args = operator(world)
        assert await call(world, "/api/admin/rooms/blitz/close", **args, json={"why": " tea  time "}) == {"audit": "1"}
        assert await call(world, "/api/admin/rooms/blitz/open", **args) == {"audit": "2"}
        assert await call(world, "/api/admin/rooms/not-any-more/open", **args) == {"audit": "3"}
        await refused(world, "/api/admin/rooms/nowhere/close", 404, "not_found", **args)
    assert deeds(cluster) == [
        ("op", "close_room", "blitz", "tea  time", 0),
        ("op", "open_room", "blitz", "", 0),
        ("op", "open_room", "not-any-more", "", 0),
    ]


async def test_a_game_is_ended() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        args = operator(world)
        assert await call(world, f"/api/admin/games/{GAME}/end", **args) == {"audit": "1", "was_over": False}
        cluster.lobby.over.add(GAME)
        assert await call(world, f"/api/admin/games/{GAME}/end", **args) == {"audit": "2", "was_over": True}
        cluster.lobby.refusal = Rejected(Reason.NOT_FOUND, "there is no such game")
        await refused(world, "/api/admin/games/07-none/end", 404, "not_found", **args)
    assert cluster.lobby.asked("end_game") == [GAME, GAME, "07-none"]
    assert deeds(cluster)[0] == ("op", "end_game", GAME, "", 0)


async def test_a_player_is_muted_until_a_time() -> None:
    cluster = Cluster()
    cluster.ratings.known["eve"] = "Eve"
    until = now_ms() + HOUR
    async with gateway(cluster) as world:
        args = operator(world)
        await call(world, "/api/admin/players/eve/mute", **args, json={"until": until, "why": "stalling"})
        await call(world, "/api/admin/players/eve/unmute", **args)
        await refused(world, "/api/admin/players/nobody/mute", 404, "not_found", **args, json={"until": until})
    assert deeds(cluster) == [("op", "mute", "eve", "stalling", until), ("op", "unmute", "eve", "", 0)]


@pytest.mark.parametrize(
    ("path", "body", "names"),
    [
        ("players/eve/mute", b"{}", "until"),
        ("players/eve/mute", b'{"until": "tomorrow"}', "until"),
        ("players/eve/mute", b'{"until": 5}', "until"),
        ("players/eve/mute", b'{"until": 1e400}', "body"),
        ("players/eve/unmute", b'{"why": 5}', "why"),
        ("rooms/blitz/close", b'{"why": "a\\u0000b"}', "why"),
        ("rooms/blitz/close", b'{"why": "%s"}' % (b"x" * 201), "why"),
        ("rooms/blitz/close", b"[]", "body"),
        ("rooms/blitz/close", b"{", "body"),
        ("announcements", b"{}", "text"),
        ("announcements", b'{"text": "  "}', "text"),
        ("announcements", b'{"text": "a\\nb"}', "text"),
        ("announcements", b'{"text": "%s"}' % (b"x" * 501), "text"),
        ("announcements", b'{"text": null}', "text"),
    ],
)
async def test_bad_input_names_the_field_and_nothing_is_written(path: str, body: bytes, names: str) -> None:
    cluster = Cluster()
    cluster.ratings.known["eve"] = "Eve"
    async with gateway(cluster) as world:
        said = await refused(world, f"/api/admin/{path}", 400, "bad_message", **operator(world), data=body)
        assert names in said
    assert cluster.ratings.done == []


async def test_what_cannot_be_written_down_does_not_happen() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        eve = await world.player("eve")
        cluster.ratings.refusal = Rejected(Reason.UNAVAILABLE, "the archive is away; try again")
        args = operator(world)
        for path, body in ((f"games/{GAME}/end", {}), ("announcements", {"text": "hello"})):
            await refused(world, f"/api/admin/{path}", 503, "unavailable", **args, json=body)
        await eve.ask("ping")
        assert [event for event in eve.events if event["ev"] == "announcement"] == []
    assert cluster.lobby.asked("end_game") == []


async def test_an_announcement_reaches_every_connection_once() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        clients = [await world.player(name) for name in ("ada", "bob", "bob")]
        await eventually(lambda: len(cluster.notices.everybody) == 1)
        async with world.session.ws_connect(f"{world.url}/ws") as stranger:  # has not said hello
            await call(world, "/api/admin/announcements", **operator(world), json={"text": "Tea is ready · τσάι"})
            for client in clients:
                heard = await client.wait("announcement")
                assert heard["text"] == "Tea is ready · τσάι"
                assert heard["id"] == "1"
                assert heard["at"] > 0
                await client.ask("ping")
                assert sum(event["ev"] == "announcement" for event in client.events) == 1
            await stranger.send_json({"op": "ping"})
            first = await stranger.receive_json(timeout=5)
            assert first["ev"] != "announcement"
        assert deeds(cluster) == [("op", "announce", "", "Tea is ready · τσάι", 0)]
        cluster.notices.away = True
        await refused(world, "/api/admin/announcements", 503, "unavailable", **operator(world), json={"text": "again"})


async def test_the_audit_and_what_stands_are_shown() -> None:
    cluster = Cluster()
    cluster.ratings.standing = [
        ratings_pb2.Restriction(kind="player", subject="eve", until=77),
        ratings_pb2.Restriction(kind="room", subject="blitz"),
    ]
    async with gateway(cluster) as world:
        args = operator(world)
        for room in ("blitz", "bridge", "blitz"):
            await call(world, f"/api/admin/rooms/{room}/close", **args)
        headers = args["headers"]
        page = await call(world, "/api/admin/audit?limit=2", headers=headers)
        assert [deed["audit"] for deed in page["deeds"]] == ["3", "2"]
        assert page["deeds"][0] == {
            "audit": "3", "at": 5, "by": "op", "action": "close_room", "subject": "blitz", "detail": "",
        }  # fmt: skip
        rest = await call(world, f"/api/admin/audit?limit=2&before={page['next']}", headers=headers)
        assert [deed["audit"] for deed in rest["deeds"]] == ["1"]
        assert "next" not in rest
        assert await call(world, "/api/admin/restrictions", headers=headers) == {
            "closed_rooms": ["blitz"],
            "muted": [{"player": "eve", "until": 77}],
        }
        for field in ("limit", "before"):
            assert field in await refused(world, f"/api/admin/audit?{field}=x", 400, "bad_message", headers=headers)
