"""Seeks that come together, and how long one may wait beside another that fits it."""

from lobby.matching.tolerance import Tolerance
from numbridge.clock import now_ms
from numbridge.v1 import common_pb2, lobby_pb2
from tests.contract.lobby_club import GATEWAY, club


async def test_no_seek_waits_beside_one_that_fits_beyond_the_bound(clean_nats: str, clean_redis: str) -> None:
    """Far apart in rating, in a room that is not quiet: held apart while one is fresh, paired once both have waited."""
    async with club(clean_nats, clean_redis) as one:
        for number in range(8):
            await one.post(f"crowd{number}", rating_min=1, rating_max=2)
        bound = Tolerance().any_after_ms
        one.ratings.ratings = {"ada": 500, "bob": 2500}
        await one.post("ada", seek="s-ada", since=now_ms() - 2 * bound)
        since = now_ms() - bound + 500  # half a second before his time
        await one.post("bob", seek="s-bob", since=since)
        seated = await one.hears("ada", "seated")
        assert seated["opponent"]["id"] == "bob"
        assert now_ms() >= since + bound


async def test_seeks_that_are_posted_together_are_answered_each_for_itself(clean_nats: str, clean_redis: str) -> None:
    def seek(player: str, room: str) -> lobby_pb2.PostSeekRequest:
        wish = lobby_pb2.SeekWish(room=room, rating_min=1, rating_max=2)
        return lobby_pb2.PostSeekRequest(
            seek=f"s-{player}-{room}", player=common_pb2.Player(id=player, name=player), gateway=GATEWAY, wish=wish
        )

    async with club(clean_nats, clean_redis) as one:
        wanted = [seek("ada", "bridge"), seek("bob", "nowhere"), seek("eve", "bridge"), seek("ada", "study")]
        replies = (await one.stub.PostSeeks(lobby_pb2.PostSeeksRequest(seeks=wanted))).replies
        assert [reply.seek.seek for reply in replies] == ["s-ada-bridge", "", "s-eve-bridge", "s-ada-study"]
        assert common_pb2.RejectReason.Name(replies[1].reject.reason) == "REJECT_REASON_NOT_FOUND"
        assert sorted(await one.listed()) == ["s-ada-bridge", "s-ada-study", "s-eve-bridge"]
