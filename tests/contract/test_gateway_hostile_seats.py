"""Whatever clients do, in whatever order: nobody gets a frame that was meant for another seat.

Each frame of the tables here bears a mark, the seat that it was made for.
"""

import asyncio
import json
from random import Random

import pytest

from tests.helpers.client import Client, Refused
from tests.unit.gateway.fakes import Cluster, Table
from tests.unit.gateway.games import GAME, OTHER_GAME
from tests.unit.gateway.world import World, gateway


class Crowd:
    """Players with several connections each, at two tables where they sit differently."""

    def __init__(self, world: World, tables: list[Table], random: Random) -> None:
        self.world = world
        self.tables = tables
        self.random = random
        self.clients: list[Client] = []
        self.ever: list[Client] = []

    async def step(self) -> None:
        """Somebody does something."""
        dice = self.random.random()
        if dice < 0.10 or not self.clients:
            client = await self.world.player(self.random.choice(("ada", "bob", "eve")))
            self.clients.append(client)
            self.ever.append(client)
            return
        client, table = self.random.choice(self.clients), self.random.choice(self.tables)
        try:
            if dice < 0.45:
                since = self.random.choice((None, 0, table.version, 10**9))
                await client.ask("join", game=table.game, **({} if since is None else {"since": since}))
            elif dice < 0.55:
                await client.ask("leave", game=table.game)
            elif dice < 0.75:
                action = {"kind": "exchange"}
                await client.ask("play", game=table.game, version=table.version, action=action)
            elif dice < 0.80:
                await client.ask("hello", token=self.world.token(self.random.choice(("ada", "bob", "eve"))))
            elif dice < 0.85:
                self.world.cluster.views.lose()
            else:
                self.world.cluster.workers.move(table)
        except (Refused, ConnectionError):
            pass

    async def drop(self) -> None:
        """Somebody's connection is lost."""
        await self.clients.pop(self.random.randrange(len(self.clients))).drop()

    def check(self) -> int:
        """Every mark that a client got is his own seat's; how many there were."""
        marks = 0
        for client in self.ever:
            for event in client.events:
                table = next((table for table in self.tables if table.game == event.get("game")), None)
                if table is None or event["ev"] not in ("move", "state"):
                    continue
                marks += 1
                mark = event.get("seen_by") or event["view"].get("you", "watch")
                assert mark == table.seat(client.id), (client.id, event)
        return marks


@pytest.mark.parametrize("seed", range(3))
async def test_frames_reach_nobody_but_their_own_seat(seed: int) -> None:
    cluster = Cluster()
    tables = [cluster.table(GAME, "ada", "bob"), cluster.table(OTHER_GAME, "bob", "eve")]
    async with gateway(cluster) as world:
        crowd = Crowd(world, tables, Random(seed))
        for _ in range(60):
            await asyncio.gather(*(crowd.step() for _ in range(3)))
            if crowd.random.random() < 0.2:
                await crowd.drop()
            table = crowd.random.choice(tables)
            async with world.session.get(f"{world.url}/api/games/{table.game}") as response:
                assert "you" not in (await response.json())["view"]
        assert crowd.check() > 100


@pytest.mark.parametrize("credentials", ["", "ada"])
async def test_http_shows_a_running_game_as_to_a_spectator_whoever_asks(credentials: str) -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        headers = {"Authorization": f"Bearer {world.token(credentials)}"} if credentials else {}
        async with world.session.get(f"{world.url}/api/games/{GAME}", headers=headers) as response:
            assert json.loads(await response.text())["view"] == {"status": "playing"}
        [join] = cluster.workers.tables[GAME].joins
        assert (join.player, join.arrive) == ("", False)
        async with world.session.get(f"{world.url}/api/games/{GAME}/record", headers=headers) as response:
            assert response.status == 409
        sent = [command.WhichOneof("kind") for _, command in cluster.workers.sent]
        assert "record" not in sent, "the record of a running game is not even asked for"


async def test_a_second_hello_changes_nobody() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        eve = await world.player("eve")
        with pytest.raises(Refused, match="hello already"):
            await eve.ask("hello", token=world.token("ada"))
        state = await eve.join(GAME)
        assert "you" not in state["view"]
        with pytest.raises(Refused, match="forbidden"):
            await eve.ask("play", game=GAME, version=0, action={"kind": "resign"})
