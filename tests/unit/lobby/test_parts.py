"""Small parts: caches, the choice of a worker, settings, rooms, keys."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lobby import keys
from lobby.adapters.cache import Cache
from lobby.adapters.workers import RoutedWorkers
from lobby.matching.seek import Span
from lobby.pools import preferred
from lobby.rooms import load_rooms
from lobby.settings import LobbySettings
from numbridge.routing import WorkerEntry
from numbridge.settings import SettingsError


class Source:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> Callable[[], Any]:
        async def load() -> int:
            self.asked += 1
            await asyncio.sleep(0)
            return self.asked

        return load


async def test_a_cache_keeps_for_a_while_and_forgets_the_least_used() -> None:
    now, source = 0.0, Source()
    cache: Cache[int] = Cache(2, 5.0, lambda: now)
    assert [await cache.get("a", source()), await cache.get("a", source())] == [1, 1]
    now = 5.0
    assert await cache.get("a", source()) == 2
    await cache.get("b", source())
    await cache.get("a", source())
    await cache.get("c", source())
    assert len(cache) == 2
    assert await cache.get("a", source()) == 2
    assert await cache.get("b", source()) == 5


async def test_what_is_dropped_while_it_is_loaded_is_not_kept() -> None:
    """A block is written while an older list of it is under way."""
    source = Source()
    cache: Cache[int] = Cache(2, 5.0, lambda: 0.0)
    loading = asyncio.create_task(cache.get("a", source()))
    await asyncio.sleep(0)
    cache.drop("a")
    assert await loading == 1
    assert await cache.get("a", source()) == 2


class Map:
    """A shard map with two workers and one that drains."""

    def __init__(self) -> None:
        self.beat = 1

    def workers(self) -> list[WorkerEntry]:
        def entry(name: str, tables: int, draining: bool = False) -> WorkerEntry:
            return WorkerEntry(name, "run", "host:1", draining, tables, 3_000, self.beat)

        return [entry("busy", 10), entry("idle", 7), entry("leaving", 0, draining=True)]

    def shards_by_worker(self) -> dict[str, list[int]]:
        return {"busy": [1], "idle": [2], "leaving": [3], "unknown": [4]}


def test_tables_go_to_the_least_loaded_and_a_burst_is_spread() -> None:
    workers = RoutedWorkers(Map(), lambda shards: shards[0])  # type: ignore[arg-type]
    assert [workers.pick() for _ in range(9)] == [2, 2, 2, 1, 2, 1, 2, 1, 2]
    assert workers.any
    assert workers.idle() is False


def test_without_workers_there_is_nowhere_to_go() -> None:
    class Nobody(Map):
        def workers(self) -> list[WorkerEntry]:
            return []

    workers = RoutedWorkers(Nobody())  # type: ignore[arg-type]
    assert workers.pick() is None
    assert not workers.any
    assert workers.idle() is None


def test_rooms_are_spread_and_move_only_with_their_owner() -> None:
    rooms = [f"room{number}" for number in range(300)]
    three = {room: preferred(room, ["a", "b", "c"]) for room in rooms}
    two = {room: preferred(room, ["a", "c"]) for room in rooms}
    assert all(sum(owner == name for owner in three.values()) > 60 for name in "abc")
    assert all(two[room] == owner for room, owner in three.items() if owner != "b")


def test_everything_wrong_with_the_settings_is_said_at_once() -> None:
    env = {
        "NUMBRIDGE_GATEWAY_LEASE_MS": "9000",
        "NUMBRIDGE_SEAT_ATTEMPT_MS": "20000",
        "NUMBRIDGE_DELTAS_MS": "1",
        "NUMBRIDGE_GRPC_PORT": "70000",
    }
    with pytest.raises(SettingsError) as refused:
        LobbySettings.load(env)
    assert len(refused.value.problems) == 4
    assert LobbySettings.load({}).one_table


def test_the_clubs_rooms_become_limits() -> None:
    rooms = {room.id: room for room in load_rooms("").all}
    assert list(rooms) == ["bridge", "study", "blitz", "domains"]
    blitz = rooms["blitz"].limits
    assert (blitz.regular, blitz.irregular, blitz.default) == (Span(8, 12), Span(7, 12), 10)
    assert (rooms["study"].limits.rated, rooms["study"].limits.highlight) == (False, True)
    assert b'"claim_price":2' in rooms["blitz"].public


def test_a_broken_rooms_file_names_its_problems(tmp_path: Path) -> None:
    path = tmp_path / "rooms.toml"
    path.write_text('[[room]]\nid = "x"\nvariant = "chess"\n')
    with pytest.raises(RuntimeError, match="line 3"):
        load_rooms(str(path))


def test_members_of_a_room_form_one_range_by_age() -> None:
    members = [keys.in_order("a", 2, "s-2"), keys.in_order("a", 10, "s-1"), keys.in_order("ab", 1, "s-3")]
    assert members[0] < members[1]
    low, high = keys.room_range("a")
    assert [low[1:] <= member < high[1:] for member in members] == [True, True, False]
    assert keys.name_in(members[0].encode()) == "s-2"
