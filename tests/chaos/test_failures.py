"""docs/failures.md, row by row: who goes away, what players see meanwhile, how it heals without a restart."""

import asyncio
import signal
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from numbridge import redis_io
from numbridge.clock import monotonic
from tests.chaos.outside import Served, served, stays_away
from tests.chaos.processes import Processes
from tests.chaos.run import ROOMS
from tests.helpers.client import Client, Club, Refused
from tests.helpers.client import club as open_club
from tests.helpers.cluster import arguments, command
from tests.helpers.eventually import eventually
from tests.helpers.servers import Postgres

AWAY_S = 30.0  # NATS
LESS_S = 10.0  # what nobody at a table depends on
pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A cluster whose servers this file can take away."""
    with served(tmp_path_factory.mktemp("failures"), *arguments(ROOMS, workers=2, gateways=2)) as cluster:
        yield cluster


@pytest_asyncio.fixture
async def members(up: Served) -> AsyncIterator[Club]:
    """The club, once all is well again after the test before."""
    assert await Processes(up).until_all_ready(60) == []
    async with open_club(*up.urls) as opened:
        yield opened


def services(up: Served) -> dict[str, int]:
    """Process ids: who was not started again."""
    return {process["name"]: process["pid"] for process in up.facts()["processes"]}


async def until_done(call: Callable[[], Awaitable[Any]], timeout_s: float = 40.0) -> Any:
    """Asks until it is not refused as `unavailable`; any other refusal is raised."""

    async def once() -> Any:
        try:
            return await call()
        except Refused as refused:
            if refused.code != "unavailable":
                raise RuntimeError(str(refused.event)) from refused
            return None
        except (TimeoutError, OSError):
            return None

    return await eventually(once, timeout_s=timeout_s, every_s=0.2, what="it is possible again")


async def plays_on(game: str, blue: Client, red: Client) -> None:
    """The next two moves, seen by both, without a gap."""
    for client in (blue, red):
        if client.views[game]["to_move"] is None:
            raise AssertionError("the game is over")
    version = max(blue.versions[game], red.versions[game])
    first, second = (blue, red) if version % 2 == 0 else (red, blue)  # each of their moves is one version
    for player, other in ((first, second), (second, first)):
        version = (await until_done(partial(player.play, game, "exchange")))["version"]
        await eventually(partial(has_seen, other, game, version), timeout_s=20)
    assert blue.gaps == red.gaps == []


def has_seen(client: Client, game: str, version: int) -> bool:
    return client.versions[game] >= version


async def seated(members: Club) -> tuple[str, Client, Client]:
    """A game in which both have moved."""
    game, blue, red = await members.seat("blitz", rated=True)
    await plays_on(game, blue, red)
    return game, blue, red


async def comes_back(members: Club, client: Client, url: str, game: str) -> Client:
    """The same player on another gateway, where he went on from what he had seen."""
    again = await members.again(client, url)
    again.versions[game], again.views[game] = client.versions[game], client.views[game]
    await again.join(game, since=client.versions[game])
    return again


def other_than(up: Served, client: Client) -> str:
    return next(url for url in up.urls if url != client.url)


async def test_gateway_killed(up: Served, members: Club) -> None:
    game, blue, red = await seated(members)
    up.kill(Processes(up).urls[blue.url])
    assert await blue.closed() != 1000
    version = (await red.play(game, "exchange"))["version"] if red.versions[game] % 2 else red.versions[game]
    again = await comes_back(members, blue, other_than(up, blue), game)
    await eventually(lambda: again.versions[game] == version)
    await plays_on(game, again, red)


async def test_gateway_drained(up: Served, members: Club) -> None:
    game, blue, red = await seated(members)
    up.kill(Processes(up).urls[blue.url], signal.SIGTERM)
    assert await blue.closed() == 1012
    again = await comes_back(members, blue, other_than(up, blue), game)
    await plays_on(game, again, red)


async def test_gateway_standing_still(up: Served, members: Club) -> None:
    """Nothing comes from it, not even an answer to a ping; its players go on elsewhere; later it goes on itself."""
    game, blue, red = await seated(members)
    name, pid = Processes(up).urls[blue.url], up.pid(Processes(up).urls[blue.url])
    up.kill(name, signal.SIGSTOP)
    try:
        with pytest.raises(TimeoutError):
            await blue.ask("ping", timeout_s=2)
        again = await comes_back(members, blue, other_than(up, blue), game)
        red = red if red.url != blue.url else await comes_back(members, red, other_than(up, red), game)
        await plays_on(game, again, red)
    finally:
        up.kill(name, signal.SIGCONT)
    third = await until_done(lambda: members.again(again, blue.url))
    await third.join(game)
    await plays_on(game, third, red)
    assert up.pid(name) == pid


async def test_all_workers_restarted_one_after_the_other(up: Served, members: Club) -> None:
    """Four games go on all the while: no move is refused, lost or seen with a gap."""
    tables = [await seated(members) for _ in range(4)]
    before, done = services(up), asyncio.Event()

    async def keep_playing(game: str, blue: Client, red: Client) -> int:
        moves = 0
        while not done.is_set():
            version = blue.versions[game]
            mover, other = (blue, red) if version % 2 == 0 else (red, blue)
            version = (await mover.play(game, "exchange", version=version))["version"]
            for client in (mover, other):
                await eventually(partial(has_seen, client, game, version), timeout_s=20)
            moves += 1
        return moves

    playing = [asyncio.create_task(keep_playing(*table)) for table in tables]
    try:
        for name in ("table-1", "table-2"):
            drained = await asyncio.to_thread(command, "drain", name, "--data", str(up.data))
            assert drained.returncode == 0, drained.stderr
            assert await Processes(up).until_ready(name, before[name], 30)
    finally:
        done.set()
        moves = await asyncio.gather(*playing)
    assert min(moves) > 2
    after = services(up)
    assert {name for name in before if before[name] != after[name]} == {"table-1", "table-2"}
    for game, blue, red in tables:
        assert blue.gaps == red.gaps == []
        await plays_on(game, blue, red)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_worker_killed_or_standing_still(up: Served, members: Club, number: signal.Signals) -> None:
    """Whichever worker has it, each game goes on, with no error to anybody; the other worker's are not touched."""
    tables = [await seated(members) for _ in range(4)]
    pid = up.pid("table-1")
    up.kill("table-1", number)
    answers = await asyncio.gather(*(blue.play(game, "exchange") for game, blue, _ in tables))
    assert [answer["version"] for answer in answers] == [3] * 4
    if number is signal.SIGSTOP:
        up.kill("table-1", signal.SIGCONT)
        assert up.pid("table-1") == pid
    for game, blue, red in tables:
        await red.play(game, "exchange", version=3)
        await eventually(partial(has_seen, blue, game, 4))
        await plays_on(game, blue, red)
        state = await (await members.again(blue)).join(game)
        clock = state["view"]["clock"]
        assert min(clock["blue_ms"], clock["red_ms"]) > 270_000  # nobody's bank has paid for it


async def test_lobby_killed(up: Served, members: Club) -> None:
    game, blue, red = await seated(members)
    seeker = await members.guest("Seeker")
    seek = (await seeker.ask("seek", room="domains"))["seek"]
    up.kill("lobby-1")
    await plays_on(game, blue, red)

    async def still_open() -> bool:
        return seek in [entry["seek"] for entry in (await members.get("/api/seeks"))["seeks"]]

    await eventually(lambda: until_done(still_open), timeout_s=60)
    other = await members.guest("Other")
    await until_done(lambda: other.ask("accept_seek", seek=seek))
    assert (await seeker.wait("seated"))["game"] == (await other.wait("seated"))["game"]


async def test_ratings_away(up: Served, members: Club) -> None:
    """Games go on and end. Nobody new can seek: without ratings and block lists no pair is known to be allowed."""
    game, blue, red = await seated(members)
    other, one, two = await seated(members)
    seeker = await members.guest("Seeker")
    up.kill("ratings-1", signal.SIGSTOP)
    try:
        await blue.play(game, "resign")
        await red.wait("over", lambda event: event["game"] == game)
        await plays_on(other, one, two)
        with pytest.raises(Refused) as refused:
            await seeker.ask("seek", room="domains", timeout_s=20)
        assert refused.value.code == "unavailable"
        assert not [event for event in red.events if event["ev"] == "rated"]
    finally:
        up.kill("ratings-1", signal.SIGCONT)
    assert (await red.wait("rated", timeout_s=60))["game"] == game
    assert (await members.get(f"/api/games/{game}/record"))["end"]["reason"] == "resign"
    seek = await until_done(lambda: seeker.ask("seek", room="domains"))
    await seeker.ask("cancel_seek", seek=seek["seek"])


async def test_nats_away_for_half_a_minute(up: Served, members: Club) -> None:
    """Nobody can move, nobody is charged; what was sent meanwhile counts once; no process was started again."""
    game, blue, red = await seated(members)
    before = services(up)
    up.nats.kill()
    try:
        began = monotonic()
        with pytest.raises(Refused) as refused:
            await blue.ask("play", game=game, version=2, action={"kind": "exchange"}, ref="kept", timeout_s=30)
        assert refused.value.code == "unavailable"
        with pytest.raises(Refused) as refused:
            await red.ask("join", game=game, timeout_s=30)
        assert refused.value.code == "unavailable"
        await stays_away(began, AWAY_S)
    finally:
        up.nats.start()
    answer = await until_done(
        lambda: blue.ask("play", game=game, version=2, action={"kind": "exchange"}, ref="kept", timeout_s=30)
    )
    assert answer["version"] == 3
    move = await red.wait("move", lambda event: event["version"] == 3 and event["game"] == game)
    assert (move["by"], move["kind"]) == ("blue", "exchange")
    assert move["clock"]["blue_ms"] > 285_000
    assert red.gaps == blue.gaps == []
    await red.play(game, "resign")
    await blue.wait("rated")
    record = await members.get(f"/api/games/{game}/record")
    assert [one["kind"] for one in record["moves"]] == ["exchange"] * 3
    await until_done(lambda: members.seat("blitz"))
    assert services(up) == before


async def test_nats_restarts(up: Served, members: Club) -> None:
    """A stall, no refusal, nothing lost."""
    game, blue, red = await seated(members)
    before = services(up)
    up.nats.kill()
    up.nats.start()
    answer = await until_done(
        lambda: blue.ask("play", game=game, version=2, action={"kind": "exchange"}, ref="once", timeout_s=30)
    )
    assert answer["version"] == 3
    await eventually(partial(has_seen, red, game, 3), timeout_s=20)
    assert red.gaps == blue.gaps == []
    await red.play(game, "exchange", version=3)
    await eventually(partial(has_seen, blue, game, 4), timeout_s=20)
    assert services(up) == before


async def test_redis_away(up: Served, members: Club) -> None:
    """Games go on and end, also for those who have to connect again; nobody can seek; then everybody can."""
    game, blue, red = await seated(members)
    ending, one, two = await seated(members)
    seeker = await members.guest("Seeker")
    before = services(up)
    up.redis.kill()
    try:
        began = monotonic()
        with pytest.raises(Refused) as refused:
            await seeker.ask("seek", room="domains", timeout_s=20)
        assert refused.value.code == "unavailable"
        await red.drop()
        red = await comes_back(members, red, red.url, game)
        await plays_on(game, blue, red)
        await one.play(ending, "resign")
        await two.wait("rated")
        board = await members.get("/api/leaderboard/blitz?limit=1000")
        assert {one.id, two.id} <= {entry["id"] for entry in board["players"]}
        await stays_away(began, LESS_S)
    finally:
        up.redis.start()
    assert (await red.wait("games", timeout_s=40))["games"] == [game]  # what its hello could not say
    seek = await until_done(lambda: seeker.ask("seek", room="domains"))
    await seeker.ask("cancel_seek", seek=seek["seek"])
    await plays_on(game, blue, red)
    assert services(up) == before


async def test_redis_emptied(up: Served, members: Club) -> None:
    """Open seeks are open again as they were; a seated player cannot sit at a second table; boards are whole."""
    game, blue, red = await seated(members)
    ending, one, _ = await seated(members)
    await one.play(ending, "resign")
    await one.wait("rated")
    seeker = await members.guest("Seeker")
    await seeker.ask("seek", room="domains")

    async def seeks() -> list[Any]:
        found = (await members.get("/api/seeks?room=domains"))["seeks"]
        return [entry for entry in found if entry["player"]["id"] == seeker.id]

    async def board() -> list[Any]:
        found = (await members.get("/api/leaderboard/blitz?limit=1000"))["players"]
        return [{key: entry[key] for key in ("rank", "id", "rating", "games")} for entry in found]

    open_before, board_before = await seeks(), await board()
    assert open_before
    redis = redis_io.connect(up.redis_url)
    await redis.flushall()
    await redis.aclose()

    async def again() -> bool:
        return await seeks() == open_before

    await eventually(again, timeout_s=30)
    assert await board() == board_before
    with pytest.raises(Refused) as refused:
        await blue.ask("seek", room="blitz")
    assert refused.value.code == "forbidden"
    other = await members.again(red)
    assert (await other.wait("hello"))["games"] == [game]
    await plays_on(game, blue, red)
    accepter = await members.guest("Accepter")
    await until_done(lambda: accepter.ask("accept_seek", seek=open_before[0]["seek"]))
    await seeker.wait("seated")


@pytest.mark.postgres
async def test_postgresql_down(tmp_path: Path) -> None:
    """Games begin, go on and end without it; their results wait; then they are rated, once each."""
    server = Postgres()
    try:
        server.start()
        with served(
            tmp_path, *arguments(ROOMS, workers=1, gateways=1), database_url=f"{server.url}/postgres"
        ) as on_postgres:
            async with open_club(*on_postgres.urls) as there:
                game, blue, red = await seated(there)
                other, one, two = await seated(there)
                before = services(on_postgres)
                server.stop()
                await blue.play(game, "resign")
                await red.wait("over", lambda event: event["game"] == game)
                await plays_on(other, one, two)
                assert not [event for event in red.events if event["ev"] == "rated"]
                server.start()
                assert (await red.wait("rated", timeout_s=60))["game"] == game
                profile = await until_done(lambda: there.get(f"/api/players/{red.id}"))
                assert profile["games"] == {"won": 1, "lost": 0, "drawn": 0}
                await until_done(lambda: there.seat("blitz"))
                assert services(on_postgres) == before
    finally:
        server.remove()


async def test_sql_held_by_somebody_else(up: Served, members: Club) -> None:
    """Games begin, go on and end; their results wait; then they are rated, once each."""
    game, blue, red = await seated(members)
    before = services(up)
    database = Path(up.facts()["database_url"].removeprefix("sqlite:///"))
    with closing(sqlite3.connect(database, isolation_level=None)) as holder:
        await eventually(lambda: holder.execute("BEGIN EXCLUSIVE"))
        began = monotonic()
        await blue.play(game, "resign")
        await red.wait("over", lambda event: event["game"] == game)
        other, one, two = await members.seat("blitz", rated=True)
        await plays_on(other, one, two)
        await stays_away(began, LESS_S)
        assert not [event for event in red.events if event["ev"] == "rated"]
        holder.execute("ROLLBACK")
    await red.wait("rated", timeout_s=60)
    profile = await members.get(f"/api/players/{red.id}")
    assert profile["ratings"]["blitz"]["games"] == 1
    assert profile["games"] == {"won": 1, "lost": 0, "drawn": 0}
    assert services(up) == before
