"""The served description is true: schemathesis calls everything in it, in ways that fit and in ways that do not."""

import asyncio
import json
import sys
from pathlib import Path

from numbridge import rooms, wire
from numbridge.v1 import common_pb2, lobby_pb2
from tests.contract.test_gateway_hostile import goes_on
from tests.unit.gateway.fake_services import Lobby, a_seek, an_end
from tests.unit.gateway.fakes import Cluster
from tests.unit.gateway.games import GAME, OTHER_GAME
from tests.unit.gateway.world import World, gateway

CONFIG = """
[[operations]]
include-name = "POST /api/guests"
checks.positive_data_acceptance.enabled = false  # what a name may hold is more than a schema can say

[[operations]]
include-path-regex = "^/api/admin/"
checks.positive_data_acceptance.enabled = false  # times to come and visible texts, the same
"""
EXAMPLES = 4  # calls of each kind for each operation


class Club(Lobby):
    """A lobby with the rooms that a club has."""

    async def rooms(self) -> lobby_pb2.GetRoomsReply:
        found = [lobby_pb2.RoomNow(id=room.id, room=wire.encode(room.to_json())) for room in rooms.load()]
        return lobby_pb2.GetRoomsReply(rooms=found)


def a_club() -> Cluster:
    """Something of everything."""
    cluster = Cluster()
    cluster.lobby = Club()
    cluster.lobby.open["blitz"] = [a_seek("s1")]
    settings = common_pb2.GameSettings(variant="blitz", side=6, blocks="regular", givens=10, claim_price=2)
    player = common_pb2.Player(id="ada", name="Ada", rating=1500)
    cluster.lobby.playing = [
        common_pb2.GameSummary(game=GAME, room="blitz", settings=settings, status="playing", blue=player, red=player)
    ]
    cluster.ratings.known["ada"] = "Ada"
    cluster.ratings.archive[OTHER_GAME] = an_end(OTHER_GAME, "ada", "bob")
    cluster.table(GAME, "ada", "bob")
    return cluster


async def test_every_call_answers_as_it_is_described(tmp_path: Path) -> None:
    async with gateway(a_club(), limits=False) as world:
        ada, bob = await world.seated(GAME, "ada", "bob")
        (tmp_path / "schemathesis.toml").write_text(CONFIG)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "schemathesis.cli", "run", f"{world.url}/api/openapi.json", "--seed", "1",
            "--generation-deterministic", "--max-examples", str(EXAMPLES), "--phases", "coverage,fuzzing",
            "--no-color", "--header", f"Authorization: Bearer {world.token('op', admin=True)}",
            cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        said, _ = await process.communicate()
        assert process.returncode == 0, said.decode()[-6_000:]
        assert world.metric("numbridge_gateway_faults_total", where="http") == 0
        assert await calls(world) > 200
        assert {deed.action for deed in world.cluster.ratings.done} >= {"close_room", "open_room", "unmute", "end_game"}
        await goes_on(ada, bob)


async def calls(world: World) -> float:
    """HTTP calls that were answered."""
    families = list(world.app.registry.collect())
    name = "numbridge_gateway_http_requests_total"
    return sum(sample.value for family in families for sample in family.samples if sample.name == name)


async def test_every_route_of_the_api_is_described_and_nothing_else() -> None:
    async with gateway(a_club()) as world:
        async with world.session.get(f"{world.url}/api/openapi.json") as response:
            described = json.loads(await response.text())["paths"]
        routes = {
            (pattern, method.lower())
            for pattern, method in world.app.server.routes()
            if pattern.startswith("/api/") and method != "HEAD"
        }
        assert routes == {(p, m) for p, of in described.items() for m in of if p.startswith("/api/")}
