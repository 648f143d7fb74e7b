"""The table "Who may do what" of docs/security.md: it names all there is, and each of its cells is true."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import structlog

from numbridge import wire
from tests.contract.test_gateway_admin import HOUR, bearer
from tests.contract.test_gateway_openapi import a_club
from tests.unit.gateway.games import GAME
from tests.unit.gateway.world import World, gateway

DOC = Path(__file__).parents[2] / "docs/security.md"
ROLES = ("nobody", "guest", "player", "spectator", "operator")
REFUSED = ("unauthorized", "forbidden")
CELLS = {"yes", "lobby", *REFUSED}
FIELDS: dict[str, dict[str, Any]] = {
    "seek": {"room": "blitz"},
    "cancel_seek": {"seek": "s1"},
    "accept_seek": {"seek": "s1"},
    "join": {"game": GAME},
    "leave": {"game": GAME},
    "play": {"game": GAME, "version": 0, "action": {"kind": "resign"}},
    "rematch": {"game": GAME},
    "block": {"player": "carol"},
    "unblock": {"player": "carol"},
}


def table() -> dict[str, dict[str, str]]:
    """What the document says: role and cell, by op or call."""
    return {row[0].strip("`"): dict(zip(ROLES, row[1:], strict=True)) for row in _rows()}


def _rows() -> Iterator[list[str]]:
    section = DOC.read_text(encoding="utf-8").split("Who may do what\n", 1)[1].split("\n## ", 1)[0]
    for line in section.splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def tokens(world: World, role: str) -> list[str | None]:
    """Tokens that make somebody this."""
    match role:
        case "nobody":
            return [None, "nonsense", world.token("op", admin=True, lifetime_ms=-HOUR)]
        case "guest":
            return [world.token("guest-1", guest=True)]
        case "player":
            return [world.token("ada"), world.token("bob")]
        case "spectator":
            return [world.token("eve")]
        case _:
            return [world.token("op", admin=True)]


async def code_of_op(world: World, op: str, token: str | None) -> str:
    """What a new connection's first op after hello is refused with; empty if it is not."""
    async with world.session.ws_connect(f"{world.url}/ws") as socket:
        if token is not None:
            await socket.send_json({"op": "hello", "token": token, "ref": "hello"})
        elif op == "hello":
            await socket.send_json({"op": "hello", "token": "", "ref": "hello"})
        if op != "hello":
            await socket.send_json({"op": op, "ref": "asked", **FIELDS.get(op, {})})
        while True:
            answer = await socket.receive_json(timeout=5)
            if answer.get("ref") == ("hello" if op == "hello" else "asked"):
                assert answer.get("code") not in ("bad_message", "unavailable"), answer
                return str(answer.get("code", ""))


async def code_of_call(world: World, call: str, token: str | None) -> str:
    """What a call is refused with; empty if who makes it is not why."""
    method, pattern = call.split(" ")
    path = pattern.format(room="blitz", game=GAME, player="ada", variant="blitz")
    headers = {} if token is None else bearer(token)
    async with world.session.request(method, world.url + path, headers=headers, json={}) as answer:
        if answer.status in (401, 403):
            return str((await answer.json())["error"]["code"])
        assert answer.status < 500
        return ""


async def test_the_table_names_every_op_and_every_call() -> None:
    ops = {kind.__struct_config__.tag for kind in get_args(wire.ClientMessage)}
    async with gateway(a_club()) as world:
        calls = {f"{method} {path}" for path, method in world.app.server.routes() if path.startswith("/api/")}
    named = [row[0].strip("`") for row in _rows()]
    assert sorted(named) == sorted(ops | {call for call in calls if not call.startswith("HEAD ")})
    assert {cell for cells in table().values() for cell in cells.values()} <= CELLS


@pytest.fixture
def talkative() -> None:
    """Logs at debug on stdout, whatever a test before has set."""
    structlog.reset_defaults()


@pytest.mark.usefixtures("talkative")
async def test_every_cell_is_true_and_no_token_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    wrong, shown = [], set()
    async with gateway(a_club(), limits=False) as world:
        for what, cells in table().items():
            for role, cell in cells.items():
                for token in tokens(world, role):
                    shown.add(token or "")
                    found = await (code_of_call if " " in what else code_of_op)(world, what, token)
                    if (found if found in REFUSED else "") != (cell if cell in REFUSED else ""):
                        wrong.append((what, role, cell, found))
    assert wrong == []
    logged = capsys.readouterr().out
    assert "listening" in logged
    assert "outcome" in logged  # a line at debug
    assert [part for token in shown for part in token.split(".")[1:] if part in logged] == []


async def test_a_token_in_a_url_is_none() -> None:
    async with gateway(a_club()) as world:
        token = world.token("op", admin=True)
        for name in ("token", "access_token", "authorization"):
            assert await code_of_call(world, f"GET /api/admin/audit?{name}={token}", None) == "unauthorized"
