"""The log becomes tables again: the same state, refs and frames; damage sets one game aside."""

import pytest

from tablesvc.codec import write_record
from tablesvc.engine.events import Moved
from tablesvc.ports import Logged
from tablesvc.recovery import NewerOwner, Replay
from tablesvc.story import Story
from tablesvc.table import Table
from tablesvc.works import Accepted
from tablesvc.world import World
from tests.helpers.memory_tables import Cluster
from tests.helpers.tables import GAME, OurShard, act, ask, good_place, mover, opened_table

OTHER = "07-PONMLKJIHGFEDCBA"


def messages(cluster: Cluster, *games: str) -> list[Logged]:
    return [message for _, message in cluster.messages if not games or message.game in games]


async def play_some(table: Table, moves: int) -> None:
    for number in range(moves):
        player = mover(table.state)
        what = {"action": "exchange"} if number % 3 else {"action": "place", **good_place(table.state)}
        outcome = await ask(table, act(table, player, ref=f"m{number}", **what))
        assert isinstance(outcome, Accepted)


async def test_replay_equals_live(table: Table, cluster: Cluster) -> None:
    await play_some(table, 20)
    replay = Replay(epoch=1)
    replay.take_all(messages(cluster))
    found = replay.games[GAME]
    assert found.state == table.state
    assert found.seq == table.seq
    assert found.refs == table.refs
    assert len(found.refs) == 20
    rebuilt = Story(GAME, found.records)
    for seat in ("blue", "red", "watch"):
        told = cluster.told(GAME, seat)
        assert rebuilt.since(0, found.state.version, seat) == told


@pytest.mark.parametrize(
    "damage",
    [
        b"\xff\xff",
        write_record(OTHER, 1, 1, "x.1", 0, []),  # another game's
        write_record(GAME, 9, 1, "x.2", 0, []),  # a version too far on
        write_record(GAME, 0, 0, "x.3", 0, []),  # of an older owner, after the newer one's
        write_record(
            GAME, 4, 1, "x.4", 0, [Moved("place", 1, 3, 77, False, (), (77,), 0, 0)]
        ),  # a tile there is none of
    ],
)
async def test_a_damaged_log_sets_its_own_game_aside(
    table: Table, world: World, cluster: Cluster, shard: OurShard, damage: bytes
) -> None:
    other = opened_table(world, cluster, shard, OTHER)
    await play_some(table, 3)
    await play_some(other, 3)
    log = messages(cluster, GAME)
    log.append(Logged(GAME, 10_000, damage))
    replay = Replay(epoch=1)
    replay.take_all([*log, *messages(cluster, OTHER)])
    assert set(replay.damaged) == {GAME}
    assert set(replay.games) == {OTHER}
    assert replay.games[OTHER].state == other.state


async def test_a_log_without_its_beginning_is_damaged(table: Table, cluster: Cluster) -> None:
    await play_some(table, 3)
    replay = Replay(epoch=1)
    replay.take_all(messages(cluster)[1:])
    assert set(replay.damaged) == {GAME}


async def test_an_append_stored_twice_counts_once(table: Table, cluster: Cluster) -> None:
    first = messages(cluster)[0]
    replay = Replay(epoch=1)
    replay.take_all([first, Logged(GAME, 50, first.data)])
    assert replay.games[GAME].state == table.state
    assert replay.games[GAME].seq == 50


async def test_a_later_owners_record_ends_the_replay(table: Table, cluster: Cluster) -> None:
    replay = Replay(epoch=1)
    replay.take_all(messages(cluster))
    with pytest.raises(NewerOwner):
        replay.take(Logged(GAME, 99, write_record(GAME, 0, 2, "new.1", 0, [])))
