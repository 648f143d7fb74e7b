"""The lobby through the gateway's sockets: seeks, lists, notices, who is here."""

from typing import Any

import pytest

from numbridge import wire
from numbridge.errors import Reason, Rejected
from numbridge.v1 import lobby_pb2 as pb
from tests.helpers.client import Client, Refused
from tests.helpers.eventually import eventually
from tests.unit.gateway.fake_services import a_seek
from tests.unit.gateway.fakes import Cluster
from tests.unit.gateway.games import GAME
from tests.unit.gateway.world import gateway


def added(seek: str, room: str = "blitz") -> bytes:
    return wire.event("seek_added", seek={"seek": seek, "room": room})


def removed(seek: str) -> bytes:
    return wire.event("seek_removed", seek=seek)


async def test_hello_brings_games_and_seeks() -> None:
    cluster = Cluster()
    cluster.lobby.greeting = pb.GreetReply(games=["g1", "g2"], seeks=["s1"])
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        hello = await ada.wait("hello")
        assert (hello["player"], hello["games"], hello["seeks"]) == ({"id": "ada", "name": "ada"}, ["g1", "g2"], ["s1"])
        assert hello["server_at"] > 1_600_000_000_000
        await eventually(lambda: cluster.ratings.known == {"ada": "ada"})


async def test_a_seek_is_posted_with_what_the_client_asked_for() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        ok = await ada.ask("seek", room="blitz", blocks="irregular", givens=[8, 10], rated=False, rating=[1000, 2000])
        (request,) = cluster.lobby.asked("post")
        assert isinstance(request, pb.PostSeekRequest)
        assert (request.seek, request.player.id, request.gateway) == (ok["seek"], "ada", "g1")
        wish = request.wish
        assert (wish.room, wish.blocks, wish.givens_min, wish.givens_max) == ("blitz", "irregular", 8, 10)
        assert (wish.HasField("highlight"), wish.rated, wish.rating_min, wish.rating_max) == (False, False, 1000, 2000)
        await ada.ask("seek", room="blitz", givens=9, highlight=True, rated="any")
        wish = cluster.lobby.asked("post")[1].wish  # type: ignore[attr-defined]
        assert (wish.givens_min, wish.givens_max, wish.highlight, wish.HasField("rated")) == (9, 9, True, False)
        assert not wish.HasField("rating_min")


async def test_numbers_beyond_any_room_are_cut_so_that_the_lobby_can_name_its_limits() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        await ada.ask("seek", room="blitz", givens=10**12, rating=[-(10**15), 10**15])
        await ada.ask("seek", room="blitz", givens=[1, -(10**9)])
        one, two = (request.wish for request in cluster.lobby.asked("post"))  # type: ignore[attr-defined]
        assert (one.givens_min, one.givens_max) == (1_000_000, 1_000_000)
        assert (one.rating_min, one.rating_max) == (-1_000_000, 1_000_000)
        assert (two.givens_min, two.givens_max) == (1, -1_000_000)


@pytest.mark.parametrize("reason", [Reason.BAD_SEEK, Reason.GONE, Reason.FORBIDDEN, Reason.LIMIT, Reason.UNAVAILABLE])
async def test_the_lobbys_refusals_reach_the_client(reason: Reason) -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        cluster.lobby.refusal = Rejected(reason, "says the lobby", retry_ms=700)
        asked: list[tuple[str, dict[str, Any]]] = [
            ("seek", {"room": "blitz"}),
            ("cancel_seek", {"seek": "s1"}),
            ("accept_seek", {"seek": "s1"}),
            ("rematch", {"game": GAME}),
            ("block", {"player": "bob"}),
        ]
        for op, fields in asked:
            with pytest.raises(Refused) as caught:
                await ada.ask(op, **fields)
            assert (caught.value.code, caught.value.event["message"]) == (reason, "says the lobby")
            assert caught.value.event["retry_ms"] == 700


async def test_nobody_blocks_himself() -> None:
    async with gateway() as world:
        ada = await world.player("ada")
        with pytest.raises(Refused) as caught:
            await ada.ask("block", player="ada")
        assert caught.value.code == "forbidden"


async def test_block_and_unblock_reach_the_lobby() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        await ada.ask("block", player="bob")
        await ada.ask("unblock", player="bob")
        asked = cluster.lobby.asked("block")
        assert [(r.player, r.other, r.blocked) for r in asked] == [  # type: ignore[attr-defined]
            ("ada", "bob", True),
            ("ada", "bob", False),
        ]


# --- seek lists --------------------------------------------------------------------------------------------------


async def watching(world: Any, room: str | None = "blitz") -> tuple[Client, list[str]]:
    ada = await world.player("ada")
    await ada.ask("watch_lobby", room=room)
    snapshot = await ada.wait("seeks")
    return ada, [seek["seek"] for seek in snapshot["seeks"]]


async def test_a_watcher_gets_the_list_and_then_its_changes() -> None:
    cluster = Cluster()
    cluster.lobby.open["blitz"] = [a_seek("s1")]
    async with gateway(cluster) as world:
        ada, seeks = await watching(world)
        assert seeks == ["s1"]
        cluster.notices.change("blitz", 1, added("s2"), removed("s1"))
        assert (await ada.wait("seek_added"))["seek"]["seek"] == "s2"
        assert (await ada.wait("seek_removed"))["seek"] == "s1"
        _, later = await watching(world)
        assert later == ["s2"]
        assert len(cluster.lobby.asked("seeks")) == 1  # the list is read once for all


async def test_a_seek_in_the_list_has_its_shape() -> None:
    cluster = Cluster()
    cluster.lobby.open["blitz"] = [a_seek("s1")]
    async with gateway(cluster) as world:
        ada, _ = await watching(world)
        (seek,) = (await ada.wait("seeks"))["seeks"]
        assert seek == {
            "seek": "s1", "room": "blitz", "player": {"id": "p1", "name": "Ada", "rating": 1500}, "blocks": "any",
            "givens": [7, 12], "highlight": "any", "rated": "any", "since": 5,
        }  # fmt: skip


async def test_watching_all_rooms_and_leaving() -> None:
    cluster = Cluster()
    cluster.lobby.open["blitz"] = [a_seek("s1")]
    cluster.lobby.open["bridge"] = [a_seek("s2", "bridge")]
    async with gateway(cluster) as world:
        ada, seeks = await watching(world, None)
        assert sorted(seeks) == ["s1", "s2"]
        cluster.notices.change("bridge", 1, added("s3", "bridge"))
        await ada.wait("seek_added")
        await ada.ask("unwatch_lobby")
        cluster.notices.change("bridge", 2, added("s4", "bridge"))
        await ada.ask("ping")
        assert sum(e["ev"] == "seek_added" for e in ada.events) == 1
        assert not any(cluster.notices.rooms.values())  # nobody watches, nothing is subscribed to


async def test_an_unknown_room_is_not_found() -> None:
    async with gateway() as world:
        ada = await world.player("ada")
        with pytest.raises(Refused) as caught:
            await ada.ask("watch_lobby", room="nowhere")
        assert caught.value.code == "not_found"


@pytest.mark.parametrize("how", ["gap", "new run", "loss"])
async def test_a_hole_in_the_changes_is_mended_by_the_difference(how: str) -> None:
    cluster = Cluster()
    cluster.lobby.open["blitz"] = [a_seek("s1"), a_seek("s2")]
    async with gateway(cluster) as world:
        ada, _ = await watching(world)
        cluster.lobby.open["blitz"] = [a_seek("s2"), a_seek("s3")]
        if how == "gap":
            cluster.lobby.marks["blitz"] = ("r1", 5)
            cluster.notices.change("blitz", 5, added("s3"))
        elif how == "new run":
            cluster.lobby.marks["blitz"] = ("r2", 1)
            cluster.notices.change("blitz", 1, added("s3"), run="r2")
        else:
            cluster.lobby.marks["blitz"] = ("r1", 2)
            for callback in cluster.notices.losses:
                callback()
        assert (await ada.wait("seek_removed"))["seek"] == "s1"
        assert (await ada.wait("seek_added"))["seek"]["seek"] == "s3"
        await ada.ask("ping")
        assert sum(e["ev"] in ("seek_added", "seek_removed") for e in ada.events) == 2


async def test_changes_that_the_list_knows_already_are_not_told_twice() -> None:
    cluster = Cluster()
    cluster.lobby.open["blitz"] = [a_seek("s1")]
    cluster.lobby.marks["blitz"] = ("r1", 4)
    async with gateway(cluster) as world:
        ada, _ = await watching(world)
        cluster.notices.change("blitz", 4, added("s1"))
        cluster.notices.change("blitz", 5, added("s5"))
        await ada.wait("seek_added", lambda e: e["seek"]["seek"] == "s5")
        assert sum(e["ev"] == "seek_added" for e in ada.events) == 1


# --- who is here -------------------------------------------------------------------------------------------------


async def test_every_tab_hears_that_the_player_is_seated_once() -> None:
    cluster = Cluster()
    text = wire.event("seated", game=GAME)
    async with gateway(cluster) as world:
        tabs = [await world.player("ada"), await world.player("ada")]
        bob = await world.player("bob")
        cluster.notices.tell("ada", text, game=GAME)
        cluster.notices.tell("ada", text, game=GAME)
        for tab in tabs:
            await tab.wait("seated")
            await tab.ask("ping")
            assert sum(e["ev"] == "seated" for e in tab.events) == 1
        await bob.ask("ping")
        assert not [e for e in bob.events if e["ev"] == "seated"]


async def test_a_lost_seated_notice_is_healed_by_the_heartbeat() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        notice = pb.PlayerNotice(player="ada", text=wire.event("seated", game=GAME), game=GAME)
        cluster.lobby.kept = pb.KeepGatewayReply(seated=[notice])
        for callback in cluster.notices.losses:  # a reconnect of the bus hurries the heartbeat
            callback()
        await ada.wait("seated", timeout_s=2)


async def test_the_heartbeat_tells_who_is_here_and_what_they_seek() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        first = (await ada.ask("seek", room="blitz"))["seek"]
        second = (await ada.ask("seek", room="bridge"))["seek"]
        third = (await ada.ask("seek", room="blitz"))["seek"]  # replaces the first
        kept = await beat(cluster)
        assert (kept.gateway, list(kept.players)) == ("g1", ["ada"])
        assert {seek.seek for seek in kept.seeks} == {second, third}
        assert first not in {seek.seek for seek in kept.seeks}
        await ada.ask("cancel_seek", seek=second)
        cluster.lobby.kept = pb.KeepGatewayReply(ended=[third])
        await beat(cluster)
        cluster.lobby.kept = pb.KeepGatewayReply()
        assert not (await beat(cluster)).seeks
        await ada.close()
        await eventually(lambda: world.metric("numbridge_gateway_connections") == 0)
        assert not (await beat(cluster)).players


async def beat(cluster: Cluster) -> pb.KeepGatewayRequest:
    """The next heartbeat."""
    before = len(cluster.lobby.asked("keep"))
    for callback in cluster.notices.losses:
        callback()
    await eventually(lambda: len(cluster.lobby.asked("keep")) > before)
    request = cluster.lobby.asked("keep")[-1]
    assert isinstance(request, pb.KeepGatewayRequest)
    return request


async def test_the_lobby_is_told_of_the_first_connection_and_of_the_last() -> None:
    cluster = Cluster()

    def told() -> list[bool]:
        """Greetings say that a player is here, and set_presence that he is not any more."""
        said = [(name, request) for name, request in cluster.lobby.calls if name in ("greet", "set_presence")]
        return [name == "greet" or request.connected for name, request in said]  # type: ignore[attr-defined]

    async with gateway(cluster) as world:
        one, two = await world.player("ada"), await world.player("ada")
        assert told() == [True, True]
        await one.close()
        await two.ask("ping")
        assert told() == [True, True]
        await two.drop()
        await eventually(lambda: told() == [True, True, False])
        await world.player("ada")
        assert told() == [True, True, False, True]
    assert told()[-1] is False  # a gateway that stops says so for everybody


async def test_notices_are_not_subscribed_to_for_those_who_left() -> None:
    cluster = Cluster()
    async with gateway(cluster) as world:
        ada = await world.player("ada")
        assert len(cluster.notices.players["ada"]) == 1
        await ada.close()
        await eventually(lambda: cluster.notices.players["ada"] == [])


async def test_while_the_lobby_is_away_hello_is_partial_and_the_rest_follows() -> None:
    """A player whose connection breaks meanwhile is not kept from his game: its clock runs."""
    cluster = Cluster()
    async with gateway(cluster) as world:
        hello = {"op": "hello", "token": world.token("ada")}
        cluster.lobby.refusal = Rejected(Reason.UNAVAILABLE, "the lobby is away")
        async with world.session.ws_connect(f"{world.url}/ws") as socket:
            await socket.send_json(hello)
            said = await socket.receive_json(timeout=5)
            assert (said["ev"], said["partial"], said["games"]) == ("hello", True, [])
            cluster.lobby.greeting = pb.GreetReply(games=["g1"])
            cluster.lobby.refusal = None
            assert await socket.receive_json(timeout=10) == {"ev": "games", "games": ["g1"], "seeks": []}
        async with world.session.ws_connect(f"{world.url}/ws") as socket:
            await socket.send_json(hello)
            said = await socket.receive_json(timeout=5)
            assert (said["ev"], said["games"], "partial" in said) == ("hello", ["g1"], False)
