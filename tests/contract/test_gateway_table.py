"""At a table through the gateway's sockets: joining, frames, resume, plays, presence, and failovers behind it."""

import asyncio

import pytest

from gateway.ports import LinkLost
from numbridge.errors import Reason, Rejected
from numbridge.routing import Owner
from numbridge.v1 import table_pb2 as pb
from tests.helpers.client import Refused
from tests.helpers.eventually import eventually
from tests.unit.gateway.fake_services import an_end
from tests.unit.gateway.fakes import Cluster, refused
from tests.unit.gateway.games import GAME, OTHER_GAME, UNKNOWN_GAME
from tests.unit.gateway.world import World, gateway


def plays(cluster: Cluster) -> list[pb.Play]:
    """Every play that was sent to a worker, repeats included."""
    return [command.play for _, command in cluster.workers.sent if command.HasField("play")]


async def refusal(asked: object) -> Refused:
    with pytest.raises(Refused) as caught:
        await asked  # type: ignore[misc]
    return caught.value


async def test_each_seat_gets_its_own_frames() -> None:
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
        assert table.plays[0].player == "ada"


async def test_viewers_of_one_seat_share_a_subscription() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        watchers = await world.seated(GAME, "eve", "fay", "gus")
        assert cluster.views.opened == 1
        cluster.workers.move(table)
        for client in watchers:
            await client.wait("move")
        for client in watchers:
            await client.ask("leave", game=GAME)
        assert cluster.views.count() == 0
        assert world.metric("numbridge_gateway_subscriptions") == 0


async def test_presence_counts_connections_by_seat() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        ada, tab, eve = await world.seated(GAME, "ada", "ada", "eve")
        assert cluster.workers.presence[GAME] == (2, 0, 1)
        await tab.close()
        await eventually(lambda: cluster.workers.presence[GAME] == (1, 0, 1))
        await eve.ask("leave", game=GAME)
        assert cluster.workers.presence[GAME] == (1, 0, 0)
        await ada.drop()
        await eventually(lambda: cluster.workers.presence[GAME] == (0, 0, 0))


async def test_a_new_owner_and_a_new_link_are_told_of_presence_again() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        await world.seated(GAME, "ada")
        cluster.workers.reports.clear()
        cluster.owners.change(Owner("w2", "w2:1", 2))
        assert cluster.workers.reports == [("w2:1", GAME)]
        for callback in cluster.workers.opens:
            callback("w2:1")
            callback("w1:1")  # not the owner: it is told nothing
        assert cluster.workers.reports == [("w2:1", GAME)] * 2


async def test_what_is_said_while_the_subscription_is_made_is_not_lost() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    cluster.views.gate = asyncio.Event()
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        joining = asyncio.create_task(ada.join(GAME))
        await eventually(lambda: cluster.views.opened == 1)
        cluster.workers.move(table, 2)
        cluster.views.gate.set()
        assert (await joining)["version"] == 2
        cluster.workers.move(table)
        await ada.wait("move", lambda e: e["version"] == 3)
        assert ada.gaps == []


async def test_join_since_brings_the_run_and_nothing_twice() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    cluster.workers.move(table, 5)
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        await ada.ask("join", game=GAME, since=2)
        await ada.wait("move", lambda e: e["version"] == 5)
        assert [e["version"] for e in ada.events if e["ev"] == "move"] == [3, 4, 5]
        table.forgotten = 4
        bob = await world.player("bob")
        await bob.ask("join", game=GAME, since=2)
        assert (await bob.wait("state"))["version"] == 5


async def test_lost_frames_are_asked_for() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        ada, eve = await world.seated(GAME, "ada", "eve")
        cluster.workers.publish = False
        cluster.workers.move(table, 3)
        cluster.workers.publish = True
        cluster.workers.move(table)
        for client in (ada, eve):
            await client.wait("move", lambda e: e["version"] == 4)
            assert [e["version"] for e in client.events if e["ev"] == "move"] == [1, 2, 3, 4]
        assert not any(join.arrive for join in table.joins[2:])  # looking again is not arriving again


async def test_after_a_loss_everyone_asks_and_spectators_share_the_answer() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        clients = await world.seated(GAME, "ada", "eve", "fay", "gus")
        cluster.workers.publish = False
        cluster.workers.move(table, 2)
        before = len(table.joins)
        cluster.views.lose()
        for client in clients:
            await client.wait("move", lambda e: e["version"] == 2)
        assert sorted(join.player for join in table.joins[before:]) == ["", "ada"]


async def test_an_answer_whose_frames_do_not_come_makes_viewers_ask() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        ada, bob = await world.seated(GAME, "ada", "bob")
        cluster.workers.publish = False
        await ada.play(GAME, "exchange")
        for client in (ada, bob):
            await client.wait("move", lambda e: e["version"] == 1)
        assert world.metric("numbridge_gateway_resyncs_total", why="missing") == 1


async def test_a_bus_that_is_away_refuses_the_join() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        cluster.views.away = True
        assert (await refusal(ada.join(GAME))).code == "unavailable"
        assert cluster.workers.presence[GAME] == (0, 0, 0)
        cluster.views.away = False
        assert (await ada.join(GAME))["version"] == 0


@pytest.mark.parametrize("game", [UNKNOWN_GAME, "nonsense", "ffff-0123456789abcdef"])
async def test_unknown_games(game: str) -> None:
    async with gateway() as world:
        ada = await world.player("ada")
        assert (await refusal(ada.ask("join", game=game))).code == "not_found"
        assert (await refusal(ada.play(game, "pie", version=0))).code == "not_found"
        assert (await refusal(ada.ask("rematch", game="nonsense"))).code == "not_found"


async def test_a_finished_game_comes_from_the_archive() -> None:
    cluster = Cluster()
    cluster.ratings.archive[GAME] = an_end(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        ada, eve = await world.player("ada"), await world.player("eve")
        state = await ada.join(GAME)
        assert (state["version"], state["view"]["status"], state["view"]["you"]) == (9, "over", "blue")
        assert "you" not in (await eve.join(GAME))["view"]
        assert (await refusal(ada.play(GAME, "exchange", version=9))).code == "over"
        assert (await refusal(eve.play(GAME, "exchange", version=9))).code == "forbidden"


@pytest.mark.parametrize("reason", [Reason.OVER, Reason.NOT_YOUR_TURN, Reason.ILLEGAL, Reason.FORBIDDEN])
async def test_a_workers_refusal_reaches_the_client(reason: Reason) -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        (ada,) = await world.seated(GAME, "ada")
        cluster.workers.script = [refused(reason, ply=3)]
        caught = await refusal(ada.play(GAME, "exchange"))
        assert (caught.code, caught.event["ply"], caught.event["message"]) == (reason, 3, f"{reason} says the worker")


async def test_a_play_tells_the_worker_of_the_sockets_lag() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    async with gateway(cluster, ping_ms=60_000, dead_ms=120_000) as world:
        (ada,) = await world.seated(GAME, "ada")
        (connection,) = world.app.keeper.connections
        payload = connection._lag.ping(100.0, b"salt")
        assert connection._lag.pong(payload, 100.2)
        await ada.play(GAME, "exchange")
        assert table.plays[0].lag_ms == 100


async def test_stale_names_the_current_version() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        (ada,) = await world.seated(GAME, "ada")
        cluster.workers.move(table)
        caught = await refusal(ada.play(GAME, "exchange", version=0))
        assert (caught.code, caught.event["version"]) == ("stale", 1)


# --- failovers ---------------------------------------------------------------------------------------------------


async def moving(world: World, *script: pb.Answer | LinkLost | Rejected | None) -> None:
    """A play that meets `script` first and is accepted all the same, once."""
    cluster = world.cluster
    table = cluster.workers.tables[GAME]
    ada = await world.player("ada")
    await ada.join(GAME)
    cluster.workers.script = list(script)
    ok = await ada.play(GAME, "exchange")
    assert ok["version"] == 1
    assert len(table.plays) == 1
    assert len(plays(cluster)) == len(script) + 1
    assert len({play.ref for play in plays(cluster)}) == 1


async def test_moved_is_answered_by_asking_the_new_owner() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        await ada.join(GAME)
        cluster.workers.script = [refused(Reason.MOVED)]
        playing = asyncio.create_task(ada.play(GAME, "exchange"))
        await eventually(lambda: len(plays(cluster)) == 1)
        cluster.owners.change(Owner("w2", "w2:1", 2))
        assert (await playing)["version"] == 1
        assert [addr for addr, command in cluster.workers.sent if command.HasField("play")] == ["w1:1", "w2:1"]


async def test_a_lost_link_and_a_busy_worker_are_tried_again_under_the_same_ref() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        await moving(world, LinkLost("w1:1"), refused(Reason.UNAVAILABLE), refused(Reason.MOVED))


async def test_an_empty_ref_is_a_ref_like_any_other() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        (ada,) = await world.seated(GAME, "ada")
        for kind in ("exchange", "pie"):
            mark = len(ada.events)
            await ada.send({"op": "play", "ref": "", "game": GAME, "version": 0, "action": {"kind": kind}})
            assert await ada.wait("ok", since=mark) == {"ev": "ok", "ref": "", "version": 1}
        assert [play.action for play in table.plays] == ["exchange"]
        assert all(play.ref for play in plays(cluster))  # a worker takes an empty one for none


async def test_a_play_that_took_effect_before_the_link_was_lost_counts_once() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    async with gateway(cluster, link_timeout_ms=100) as world:
        (ada,) = await world.seated(GAME, "ada")
        cluster.workers.script = [None]  # no answer comes …
        playing = asyncio.create_task(ada.play(GAME, "exchange", ref="mine"))
        await eventually(lambda: len(plays(cluster)) == 1)
        cluster.workers.answer(pb.Command(game=GAME, play=plays(cluster)[0]))  # … though the worker did it
        assert (await playing)["version"] == 1
        assert len(table.plays) == 1


async def test_a_shard_that_changes_hands_does_not_wait_for_the_old_owners_answer() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        (ada,) = await world.seated(GAME, "ada")
        cluster.workers.script = [None]
        playing = asyncio.create_task(ada.play(GAME, "exchange"))
        await eventually(lambda: len(plays(cluster)) == 1)
        cluster.owners.change(None)  # between two owners nothing is decided
        cluster.owners.change(Owner("w2", "w2:1", 2))
        assert (await playing)["version"] == 1


async def test_without_an_owner_the_player_waits_and_then_hears_that_it_is_unavailable() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster, table_deadline_ms=300, link_timeout_ms=300) as world:
        (ada,) = await world.seated(GAME, "ada")
        cluster.owners.now = None
        caught = await refusal(ada.play(GAME, "exchange"))
        assert caught.code == "unavailable"
        assert (await ada.ask("ping"))["server_at"]
        cluster.owners.change(Owner("w2", "w2:1", 2))
        assert (await ada.play(GAME, "exchange"))["version"] == 1


async def test_a_stuck_table_does_not_hold_up_another() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    cluster.table(OTHER_GAME, "ada", "cyd")
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        await ada.join(GAME)
        await ada.join(OTHER_GAME)
        cluster.workers.script = [None]
        stuck = asyncio.create_task(ada.play(GAME, "exchange"))
        await eventually(lambda: len(plays(cluster)) == 1)
        assert (await ada.play(OTHER_GAME, "exchange"))["version"] == 1
        cluster.owners.change(Owner("w2", "w2:1", 2))
        assert (await stuck)["version"] == 1


async def test_a_resync_that_is_refused_is_tried_again() -> None:
    cluster = Cluster()
    table = cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        (ada,) = await world.seated(GAME, "ada")
        cluster.workers.publish = False
        cluster.workers.move(table)
        cluster.workers.script = [refused(Reason.INTERNAL)] * 2
        cluster.views.lose()
        await ada.wait("move", lambda e: e["version"] == 1)
        assert not [e for e in ada.events if e["ev"] == "error"]


async def test_a_fault_of_our_own_is_internal_and_hurts_nobody_else() -> None:
    cluster = Cluster()
    cluster.table(GAME, "ada", "bob")
    async with gateway(cluster) as world:
        ada, bob = await world.seated(GAME, "ada", "bob")
        cluster.lobby.fault = ZeroDivisionError("a secret that nobody must read")
        caught = await refusal(ada.ask("seek", room="blitz"))
        assert caught.code == "internal"
        assert "secret" not in caught.event["message"]
        assert (await ada.play(GAME, "exchange"))["version"] == 1
        await bob.wait("move")
        assert world.metric("numbridge_gateway_faults_total", where="PostSeek") == 1
