"""One table: what it logs, says and answers, and in which order it refuses."""

import asyncio
import json

from numbridge.errors import Rejected
from tablesvc.engine.seats import BLUE, RED
from tablesvc.table import Table
from tablesvc.works import Accepted, Ended, EndIt, GetRecord, Join, Joined, Look, Present, Seated, Work
from tablesvc.world import World
from tests.helpers.eventually import eventually
from tests.helpers.memory_tables import Cluster
from tests.helpers.tables import (
    GAME,
    HandClock,
    OurShard,
    act,
    ask,
    good_place,
    memory_log,
    mover,
    reason,
)


async def both_come(table: Table) -> None:
    for player in ("ada", "bob"):
        joined = await ask(table, Join(player, None, arrive=True))
        assert isinstance(joined, Joined)
    assert table.state.both_arrived


async def test_a_move_is_logged_then_told_then_answered(table: Table, cluster: Cluster) -> None:
    await both_come(table)
    cell = good_place(table.state)
    answer = await ask(table, act(table, "ada", "place", ref="r1", **cell))
    assert answer == Accepted(1)
    record = cluster.of_game(GAME)[-1]
    assert (record.version, record.ref, record.player, record.epoch) == (1, "r1", "ada", 1)
    assert record.events[0].moved.kind == "place"
    for seat in ("blue", "red", "watch"):
        [(version, text)] = cluster.told(GAME, seat)
        frame = json.loads(text)
        assert (version, frame["version"], frame["ev"]) == (1, 1, "move")
        assert ("hand" in frame) == (seat != "watch")


async def test_nothing_changes_before_the_log_has_it(table: Table, world: World, cluster: Cluster) -> None:
    await both_come(table)
    hold = memory_log(world).hold = asyncio.Event()
    before = table.state
    waiting = asyncio.ensure_future(ask(table, act(table, "ada", "exchange")))
    await eventually(lambda: memory_log(world).waiting_since() is not None)
    assert table.state is before
    assert cluster.told(GAME) == []
    hold.set()
    assert await waiting == Accepted(1)


async def test_a_used_ref_gets_its_first_answer_whatever_is_asked(table: Table, cluster: Cluster) -> None:
    await both_come(table)
    first = act(table, "ada", "exchange", ref="same")
    assert await ask(table, first) == Accepted(1)
    logged = len(cluster.of_game(GAME))
    assert await ask(table, first) == Accepted(1)
    assert await ask(table, act(table, "ada", "resign", ref="same")) == Accepted(1)
    assert len(cluster.of_game(GAME)) == logged
    assert await ask(table, act(table, "bob", "exchange", ref="same")) == Accepted(2)  # another player's own


async def test_a_duplicate_in_flight_waits_for_the_first(table: Table, world: World, cluster: Cluster) -> None:
    await both_come(table)
    hold = memory_log(world).hold = asyncio.Event()
    play = act(table, "ada", "exchange", ref="twice")
    answers = [asyncio.ensure_future(ask(table, play)) for _ in range(3)]
    await eventually(lambda: memory_log(world).waiting_since() is not None)
    hold.set()
    assert await asyncio.gather(*answers) == [Accepted(1)] * 3
    assert sum(record.ref == "twice" for record in cluster.of_game(GAME)) == 1


async def test_a_refused_play_does_not_use_up_its_ref(table: Table) -> None:
    await both_come(table)
    bad = act(table, "ada", "place", ref="again", cell="a1", tile=9)
    assert reason(await ask(table, bad)) == "illegal"
    assert await ask(table, act(table, "ada", "exchange", ref="again")) == Accepted(1)


async def test_refusals_come_in_the_protocols_order(table: Table) -> None:
    await both_come(table)
    # A stranger is forbidden whatever is asked.
    assert reason(await ask(table, act(table, "eve", "place", version=9))) == "forbidden"
    # Stale before not_your_turn before illegal.
    stale = await ask(table, act(table, "bob", "place", version=5, cell="z9", tile=9))
    assert reason(stale) == "stale"
    assert isinstance(stale, Rejected)
    assert stale.version == 0
    assert reason(await ask(table, act(table, "bob", "place", cell="z9", tile=9))) == "not_your_turn"
    off_field = await ask(table, act(table, "ada", "place", cell="z9", tile=1))
    assert reason(off_field) == "illegal"
    assert isinstance(off_field, Rejected)
    assert off_field.ply == 0
    assert reason(await ask(table, act(table, "ada", "dance"))) == "bad_message"
    # Resigning goes by its own state, out of turn and at any version; afterwards over is first.
    assert await ask(table, act(table, "bob", "resign", version=77)) == Accepted(1)
    assert table.state.result == "blue"
    assert reason(await ask(table, act(table, "ada", "place", version=55, cell="z9", tile=9))) == "over"


async def test_a_play_after_the_deadline_finds_the_turn_burned(table: Table, clock: HandClock) -> None:
    await both_come(table)
    play = act(table, "ada", "exchange")
    clock.pass_(30_001)
    refused = await ask(table, play)
    assert reason(refused) == "stale"
    assert isinstance(refused, Rejected)
    assert refused.version == 1
    assert table.state.last is not None
    assert (table.state.last.kind, table.state.to_move) == ("burn", RED)


async def test_lag_up_to_its_cap_is_made_good(table: Table, clock: HandClock) -> None:
    await both_come(table)
    late = act(table, "ada", "exchange", lag_ms=9_000)
    clock.pass_(30_400)
    assert await ask(table, late) == Accepted(1)
    assert table.state.to_move == RED


async def test_the_clock_burns_a_turn_by_itself(table: Table, clock: HandClock, cluster: Cluster) -> None:
    await both_come(table)
    clock.pass_(30_000)
    table.ring()
    await eventually(lambda: table.state.version == 1)
    assert json.loads(cluster.told(GAME)[-1][1])["kind"] == "burn"


async def test_the_deadline_waits_for_the_movers_lag(table: Table, clock: HandClock) -> None:
    await both_come(table)
    assert reason(await ask(table, act(table, "ada", "place", lag_ms=300))) == "illegal"
    clock.pass_(30_100)
    table.ring()
    await eventually(lambda: not table.busy)
    assert table.state.version == 0
    clock.pass_(200)
    table.ring()
    await eventually(lambda: table.state.version == 1)


async def test_nobody_came(table: Table, clock: HandClock) -> None:
    clock.pass_(30_000)
    table.ring()
    await eventually(lambda: table.state.over)
    assert (table.state.result, table.state.reason) == ("none", "no_show")


async def test_only_a_players_own_coming_counts(table: Table, cluster: Cluster) -> None:
    await ask(table, Join("eve", None, arrive=True))
    await ask(table, Join("ada", None, arrive=False))
    assert table.state.arrived == (False, False)
    await ask(table, Join("ada", None, arrive=True))
    await ask(table, Join("ada", None, arrive=True))
    assert table.state.arrived[BLUE]
    assert len(cluster.of_game(GAME)) == 2
    assert cluster.told(GAME) == []


async def test_a_play_is_a_coming_too(table: Table) -> None:
    assert await ask(table, act(table, "ada", "exchange")) == Accepted(1)
    assert table.state.arrived == (False, True)


async def test_join_since_gives_exactly_what_was_missed(table: Table, cluster: Cluster) -> None:
    await both_come(table)
    for _ in range(30):
        await ask(table, act(table, mover(table.state), "exchange"))
    told = cluster.told(GAME, "red")
    for since in (0, 1, 15, 29, 30):
        joined = await ask(table, Join("bob", since, arrive=False))
        assert isinstance(joined, Joined)
        assert joined.state is None
        assert joined.frames == told[since:]  # old ones are made again, byte for byte
    for never in (31, -1):
        joined = await ask(table, Join("bob", never, arrive=False))
        assert isinstance(joined, Joined)
        assert joined.frames == []
        assert json.loads(joined.state or b"")["version"] == 30


async def test_views_and_looks_know_the_seats(table: Table) -> None:
    for player, seat in (("ada", "blue"), ("bob", "red"), ("eve", "watch"), ("", "watch")):
        assert await ask(table, Look(player)) == Seated(seat, "playing")  # type: ignore[arg-type]
        joined = await ask(table, Join(player, None, arrive=False))
        assert isinstance(joined, Joined)
        view = json.loads(joined.state or b"")["view"]
        assert view.get("you") == (None if seat == "watch" else seat)
        assert ("hand" in view) == (seat != "watch")
        assert json.loads(joined.presence)["ev"] == "presence"


async def test_presence_is_summed_over_links(table: Table) -> None:
    table.submit(Work(Present(1, 1, 0, 2)))
    table.submit(Work(Present(2, 0, 1, 3)))
    joined = await ask(table, Join("", None, arrive=False))
    assert isinstance(joined, Joined)
    said = json.loads(joined.presence)
    assert (said["blue"], said["red"], said["watchers"]) == (True, True, 5)
    table.submit(Work(Present(1, 0, 0, 0)))
    joined = await ask(table, Join("", None, arrive=False))
    assert isinstance(joined, Joined)
    said = json.loads(joined.presence)
    assert (said["blue"], said["red"], said["watchers"]) == (False, True, 3)


async def test_the_record_is_secret_until_the_game_is_over(table: Table) -> None:
    assert reason(await ask(table, GetRecord())) == "forbidden"
    assert await ask(table, EndIt()) == Ended(was_over=False)
    assert await ask(table, EndIt()) == Ended(was_over=True)
    record = await ask(table, GetRecord())
    assert isinstance(record, bytes)
    assert json.loads(record)["end"] == {"result": "none", "reason": "operator"}


async def test_a_full_mailbox_refuses_and_loses_nothing(table: Table, world: World) -> None:
    await both_come(table)
    hold = memory_log(world).hold = asyncio.Event()
    limit = world.settings.mailbox_limit
    first = asyncio.ensure_future(ask(table, act(table, "ada", "exchange")))
    await eventually(lambda: memory_log(world).waiting_since() is not None)
    asked = [asyncio.ensure_future(ask(table, Look("ada"))) for _ in range(limit + 3)]
    refused = await asyncio.gather(*asked[limit:])
    assert {reason(outcome) for outcome in refused} == {"unavailable"}
    hold.set()
    assert await first == Accepted(1)
    assert all(isinstance(outcome, Seated) for outcome in await asyncio.gather(*asked[:limit]))


async def test_a_closed_table_says_moved(table: Table, shard: OurShard) -> None:
    from numbridge.errors import moved

    table.close(moved())
    assert reason(await ask(table, Look("ada"))) == "moved"
