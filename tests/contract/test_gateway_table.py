"""At a table through the gateway: joining, frames, resume, plays, and everything between."""

from tests.unit.gateway.fakes import GAME, Cluster
from tests.unit.gateway.world import gateway


async def test_join_play_and_watch() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        ada, bob, eve = await world.seated(GAME, "ada", "bob", "eve")
        assert [client.views[GAME].get("you") for client in (ada, bob, eve)] == ["blue", "red", None]
        ok = await ada.play(GAME, "place", tile=3, cell="a1")
        assert ok["version"] == 1
        for client, seat in ((ada, "blue"), (bob, "red"), (eve, "watch")):
            assert (await client.wait("move"))["seen_by"] == seat
        assert (table.plays[0].action, table.plays[0].cell, table.plays[0].tile) == ("place", "a1", 3)
        assert cluster.workers.presence[GAME] == (1, 1, 1)
