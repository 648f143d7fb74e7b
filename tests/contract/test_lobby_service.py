"""The whole lobby on real NATS and Redis; table workers and ratings are remembered fakes."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.contract.lobby_club import Club, club
from tests.helpers.eventually import eventually


@pytest_asyncio.fixture
async def one(clean_nats: str, clean_redis: str) -> AsyncIterator[Club]:
    """A club with one replica."""
    async with club(clean_nats, clean_redis) as made:
        yield made


async def test_two_seekers_alone_in_a_room_meet_at_once(one: Club) -> None:
    first = await one.post("ada", givens_min=24, givens_max=33, blocks="irregular", rated=False, highlight=True)
    assert first.seek.wish.givens_min == 24
    await one.post("bob", givens_min=31, givens_max=34)
    ada, bob = await one.hears("ada", "seated"), await one.hears("bob", "seated")
    assert ada["game"] == bob["game"]
    assert {ada["color"], bob["color"]} == {"blue", "red"}
    assert ada["opponent"] == {"id": "bob", "name": "Bob", "rating": 1500}
    assert ada["settings"] == bob["settings"]
    assert ada["settings"]["blocks"] == "irregular"
    assert ada["settings"]["givens"] == 31
    assert ada["settings"]["highlight"] is True
    assert ada["settings"]["rated"] is False
    assert ada["_seeks"] == [first.seek.seek]
    assert ada["game"].startswith("07-")
    assert one.tables.made.keys() == {ada["game"]}
    assert await one.listed() == []
    await eventually(lambda: one.apps[0].seating.in_hand == 0)
