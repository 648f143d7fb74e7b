"""The table worker as a service, on a real NATS: commands over the link, tables that move, workers that die."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import nats
import pytest
import pytest_asyncio
from nats.aio.client import Client

from numbridge import names
from numbridge.errors import Reason, from_proto
from numbridge.frames import unpack
from numbridge.v1 import log_pb2
from numbridge.v1 import table_pb2 as pb
from tests.helpers.eventually import eventually
from tests.helpers.table_workers import SHARDS, WorkerUnderTest, call, game_in, refused, settled
from tests.helpers.tables import BRIDGE, DOMAINS

Start = Callable[..., Awaitable[WorkerUnderTest]]


@pytest_asyncio.fixture
async def start(clean_nats: str) -> AsyncIterator[Start]:
    """Starts workers; what still runs at the end is stopped."""
    started: list[WorkerUnderTest] = []

    async def one(name: str, **changes: Any) -> WorkerUnderTest:
        worker = await WorkerUnderTest.start(name, nats_url=clean_nats, **changes)
        started.append(worker)
        return worker

    yield one
    for worker in started:
        await worker.close()


@pytest_asyncio.fixture
async def bus(clean_nats: str) -> AsyncIterator[Client]:
    client = await nats.connect(clean_nats)
    yield client
    await client.close()


async def test_several_tables_in_one_call_are_made_and_answered_each_for_itself(start: Start) -> None:
    worker = await start("w1")
    await settled(worker)
    there, fresh, odd, slow = (game_in(worker.shards) for _ in range(4))
    await worker.create(there)
    asked = [
        worker.wanted(there),
        worker.wanted(there, blue="eve"),
        worker.wanted(fresh),
        worker.wanted(odd, blue="bob"),
        worker.wanted("no game id"),
    ]
    made = (await worker.stub.CreateTables(pb.CreateTablesRequest(tables=asked, wait_ms=5_000))).tables
    assert [one.WhichOneof("outcome") for one in made] == ["made", "reject", "made", "reject", "reject"]
    assert (made[0].made.existed, made[2].made.existed) == (True, False)
    assert made[2].made.summary.game == fresh
    assert [from_proto(one.reject).reason for one in made if one.HasField("reject")][:2] == [
        Reason.FORBIDDEN, Reason.BAD_MESSAGE,
    ]  # fmt: skip

    async def ask(wait_ms: int) -> str | None:
        request = pb.CreateTablesRequest(tables=[worker.wanted(slow)], wait_ms=wait_ms)
        return str((await worker.stub.CreateTables(request)).tables[0].WhichOneof("outcome"))

    assert await ask(0) == "pending"  # the making goes on
    assert await ask(5_000) == "made"
    too_many = pb.CreateTablesRequest(tables=[worker.wanted(fresh)] * 201)
    assert await refused(call(worker.stub.CreateTables(too_many))) is Reason.BAD_MESSAGE


async def test_a_game_from_creation_to_its_result(start: Start, bus: Client) -> None:
    worker = await start("w1")
    await settled(worker)
    results = await bus.jetstream().subscribe("result.>", stream=names.RESULTS, durable="t")
    notices = await bus.subscribe("seats.*")
    game = game_in(worker.shards)
    watching = await bus.subscribe(names.view_subject(game, "watch"))
    await bus.flush()
    made = await worker.create(game)
    assert not made.existed
    assert made.summary.status == "playing"
    assert (await worker.create(game)).existed
    assert await refused(worker.create(game, blue="eve")) is Reason.FORBIDDEN
    notice = log_pb2.SeatNotice.FromString((await notices.next_msg(5)).data)
    assert [g.game for g in notice.games] == [game]

    link = worker.link
    seat = (await link.ask(game, look=pb.Look(player="bob"))).seat
    assert (seat.seat, seat.status) == ("red", "playing")
    state = json.loads((await link.join(game, "ada")).state)
    assert state["view"]["you"] == "blue"
    await link.join(game, "bob")
    assert await link.play(game, "ada", 0, "exchange", ref="r1") == 1
    assert await link.play(game, "ada", 0, "exchange", ref="r1") == 1
    assert await refused(link.play(game, "bob", 0, "exchange")) is Reason.STALE
    assert await link.play(game, "bob", 1, "resign") == 2
    seen: list[int] = []
    while 2 not in seen:
        seen += [version for version, _ in unpack((await watching.next_msg(5)).data) if version]
    assert seen == [1, 2]

    message = await results.next_msg(5)
    result = log_pb2.GameResult.FromString(message.data)
    assert (result.game, result.result, result.reason, result.version) == (game, "blue", "resign", 2)
    assert json.loads(result.record)["end"] == {"result": "blue", "reason": "resign"}
    assert json.loads(result.final_view)["status"] == "over"
    # Not known to be in SQL: published again, then kept a while, then purged.
    again = await results.next_msg(5)
    assert log_pb2.GameResult.FromString(again.data) == result
    assert (await call(worker.stub.GetWorker(pb.GetWorkerRequest()))).unconfirmed == 1
    shard = int(game[:2], 16)
    await bus.publish(names.archived_subject(shard, game), game.encode())
    await eventually(lambda: worker.app.outbox.unconfirmed == 0)
    await eventually(lambda: game not in worker.app.registry_of_tables.shards[shard].tables)
    assert await worker.app.world.log.read_game(shard, game, 0) == []
    assert await refused(link.join(game)) is Reason.NOT_FOUND


async def test_what_is_asked_of_the_wrong_place_is_refused(start: Start) -> None:
    worker = await start("w1", shards=2)
    await settled(worker)
    assert await refused(worker.link.join("nonsense")) is Reason.NOT_FOUND
    assert await refused(worker.link.join("00-ABCDEFGHIJKLMNOP")) is Reason.NOT_FOUND
    assert await refused(call(worker.stub.GetTable(pb.GetTableRequest(game="00-ABCDEFGHIJKLMNOP")))) is Reason.NOT_FOUND
    assert await refused(worker.link.ask("00-ABCDEFGHIJKLMNOP")) is Reason.BAD_MESSAGE


async def test_another_workers_game_has_moved(start: Start) -> None:
    one, two = await start("w1"), await start("w2")
    await settled(one, two)
    game = game_in(two.shards)
    assert await refused(one.link.join(game)) is Reason.MOVED
    assert await refused(one.create(game)) is Reason.MOVED


async def test_the_operator_ends_a_game(start: Start) -> None:
    worker = await start("w1")
    await settled(worker)
    game = game_in(worker.shards)
    await worker.create(game, DOMAINS)
    assert not (await call(worker.stub.EndTable(pb.EndTableRequest(game=game)))).was_over
    assert (await call(worker.stub.EndTable(pb.EndTableRequest(game=game)))).was_over
    assert (await call(worker.stub.GetTable(pb.GetTableRequest(game=game)))).summary.status == "over"
    record = (await worker.link.ask(game, record=pb.GetRecord())).record
    assert json.loads(record)["end"] == {"result": "none", "reason": "operator"}


async def test_presence_ends_with_the_link(start: Start, bus: Client) -> None:
    worker = await start("w1")
    await settled(worker)
    game = game_in(worker.shards)
    await worker.create(game)
    watching = await bus.subscribe(names.view_subject(game, "watch"))
    await bus.flush()
    worker.link.present(game, blue=1, watchers=3)

    async def said() -> dict[str, Any]:
        [(version, text)] = unpack((await watching.next_msg(5)).data)
        assert version == 0
        found: dict[str, Any] = json.loads(text)
        return found

    first = await said()
    assert (first["blue"], first["red"], first["watchers"]) == (True, False, 3)
    assert first["clock"]["running"]
    await worker.link.close()
    last = await said()
    assert (last["blue"], last["red"], last["watchers"]) == (False, False, 0)


async def test_a_second_worker_takes_its_share_and_nothing_is_lost(start: Start) -> None:
    """1. one worker owns all, 2. another comes: some shards move with their games, 3. refs and versions survive."""
    one = await start("w1")
    await settled(one)
    games = [game_in(one.shards, n) for n in range(SHARDS)]
    for game in games:
        await one.create(game, BRIDGE)
        await one.link.join(game, "ada")
        await one.link.join(game, "bob")
        assert await one.link.play(game, "ada", 0, "exchange", ref="r1") == 1
    before = {game: (await one.link.join(game, "bob", 0, arrive=False)).frames[0].text for game in games}
    two = await start("w2")
    await settled(one, two)
    for game in games:
        at = two if int(game[:2], 16) in two.shards else one
        elsewhere = one if at is two else two
        assert await refused(elsewhere.link.join(game)) is Reason.MOVED
        assert await at.link.play(game, "ada", 0, "exchange", ref="r1") == 1
        joined = await at.link.join(game, "bob", 0, arrive=False)
        assert [frame.text for frame in joined.frames] == [before[game]]
        assert await at.link.play(game, "bob", 1, "exchange", ref="r2") == 2


async def test_a_killed_workers_games_go_on(start: Start) -> None:
    """1. two workers play, 2. one dies without a word, 3. the other takes its games when the lease is over."""
    one, two = await start("w1"), await start("w2")
    await settled(one, two)
    games = [game_in(two.shards, n) for n in range(2 * len(two.shards))]
    for game in games:
        await two.create(game)
        await two.link.join(game, "ada")
        await two.link.join(game, "bob")
        assert await two.link.play(game, "ada", 0, "exchange", ref="r1") == 1
    await two.close()
    await settled(one)
    for game in games:
        assert await one.link.play(game, "ada", 0, "exchange", ref="r1") == 1
        view = json.loads((await one.link.join(game, "bob")).state)["view"]
        bank = view["clock"]["red_ms"]
        left = view["clock"]["deadline_at"] - one.app.world.clock()
        assert bank == 300_000
        assert left > 25_000  # of 30 s: the time without an owner was nobody's
        assert await one.link.play(game, "bob", 1, "exchange", ref="r2") == 2


async def test_a_drained_worker_hands_over_and_leaves(start: Start) -> None:
    one, two = await start("w1"), await start("w2")
    await settled(one, two)
    games = [game_in(two.shards, n) for n in range(len(two.shards))]
    for game in games:
        await two.create(game)
    reply = await call(two.stub.Drain(pb.DrainRequest()))
    assert reply.shards == len(games)  # one in each; by now some may be handed over
    await asyncio.wait_for(two.app.ended.wait(), 15)
    await settled(one)
    assert two.shards == set()
    assert await refused(two.create(game_in({0}))) in (Reason.UNAVAILABLE, Reason.MOVED)
    assert "w2" not in one.app.world.settings.name
    for game in games:
        assert (await one.create(game)).existed
    await eventually(lambda: [w for w in one.app.ownership._leases.workers() if w == "w2"] == [])


async def test_a_restarted_worker_of_the_same_name_takes_its_games_back(start: Start) -> None:
    one = await start("w1")
    await settled(one)
    game = game_in(one.shards)
    await one.create(game)
    await one.link.join(game, "ada")
    await one.close()
    again = await start("w1")
    await settled(again)
    assert await again.link.play(game, "ada", 0, "exchange") == 1


async def test_a_worker_cut_off_and_replaced_does_nothing_more(start: Start, bus: Client) -> None:
    """A worker's lease is taken from under it, as after a long pause: it notices, drops its tables and rejoins."""
    one = await start("w1")
    await settled(one)
    game = game_in(one.shards)
    await one.create(game)
    await one.link.join(game, "ada")
    shard = int(game[:2], 16)
    # Its own lease is over for the others, and it can't beat: as if stopped.
    one.app.ownership._valid_until = 0.0
    beat = one.app.ownership._beat

    async def no_beat() -> None:
        return None

    one.app.ownership._beat = no_beat  # type: ignore[method-assign]
    two = await start("w2")
    await settled(two)
    assert await two.link.play(game, "ada", 0, "exchange", ref="r1") == 1
    told: list[bytes] = []
    watching = await bus.subscribe(names.view_subject(game, "watch"))
    await bus.flush()
    # Back again: what it is asked meanwhile it may not answer from what it remembers.
    asked = asyncio.ensure_future(refused(one.link.play(game, "ada", 0, "resign")))
    one.app.ownership._beat = beat  # type: ignore[method-assign]
    assert await asked is Reason.MOVED
    await settled(one, two)
    owner = one if shard in one.shards else two
    assert await owner.link.play(game, "ada", 0, "exchange", ref="r1") == 1
    assert await owner.link.play(game, "bob", 1, "exchange", ref="r3") == 2
    while True:
        try:
            told.append((await watching.next_msg(0.3)).data)
        except nats.errors.TimeoutError:
            break
    versions = [version for data in told for version, _ in unpack(data) if version]
    assert sorted(set(versions)) in ([2], [1, 2])


@pytest.mark.parametrize("settings", [BRIDGE, DOMAINS])
async def test_other_variants_are_dealt_and_played(start: Start, settings: Any) -> None:
    worker = await start("w1")
    await settled(worker)
    game = game_in(worker.shards)
    await worker.create(game, settings)
    assert await worker.link.play(game, "ada", 0, "exchange") == 1
    view = json.loads((await worker.link.join(game)).state)["view"]
    assert view["to_move"] == "red"
