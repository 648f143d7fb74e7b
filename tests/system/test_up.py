"""`numbridge up` and the commands around it, as an operator uses them."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from tests.helpers.client import Client, Club, Refused
from tests.helpers.client import club as open_club
from tests.helpers.cluster import Cluster, arguments, command, running
from tests.helpers.eventually import eventually

ROOMS = Path(__file__).with_name("rooms.toml")


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of this file's own: its processes are killed and drained."""
    folder = tmp_path_factory.mktemp("up")
    rooms = folder / "rooms.toml"
    rooms.write_text(ROOMS.read_text())
    with running(folder / "data", *arguments(rooms, workers=2)) as cluster:
        yield cluster


@pytest_asyncio.fixture
async def members(up: Cluster) -> AsyncIterator[Club]:
    async with open_club(up.url) as opened:
        yield opened


def gone(pid: int) -> Callable[[], bool]:
    def check() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    return check


def test_the_folder_serves_one_cluster_at_a_time(up: Cluster) -> None:
    second = command("up", "--port", "0", "--data", str(up.data))
    assert second.returncode == 2
    assert second.stdout == ""
    assert second.stderr.count("\n") == 1
    assert "in use by another `numbridge up`" in second.stderr
    assert up.process.poll() is None


def test_a_port_that_is_taken_is_said_in_one_line(up: Cluster, tmp_path: Path) -> None:
    second = command("up", "--port", str(urlsplit(up.url).port), "--data", str(tmp_path))
    assert second.returncode == 2
    assert second.stderr.count("\n") == 1
    assert "is in use" in second.stderr


def test_a_rooms_file_with_mistakes_starts_nothing(tmp_path: Path) -> None:
    bad = tmp_path / "rooms.toml"
    bad.write_text('[[room]]\nid = "No spaces please"\nvariant = "chess"\n')
    refused = command("up", "--port", "0", "--data", str(tmp_path / "data"), "--rooms", str(bad))
    assert refused.returncode == 2
    assert "chess" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "data").exists()


def test_the_start_says_where_everything_is(up: Cluster) -> None:
    facts = up.facts()
    assert facts["pid"] == up.process.pid
    kinds = [process["kind"] for process in facts["processes"]]
    assert sorted(kinds) == ["gateway", "lobby", "nats", "ratings", "redis", "table", "table"]
    assert all(process["pid"] for process in facts["processes"])
    assert {path.name for path in (up.data / "logs").glob("*.log")} == {
        f"{process['name']}.log" for process in facts["processes"]
    }


async def test_status_shows_workers_shards_games_seeks_and_lag(up: Cluster, members: Club) -> None:
    await members.seat("study")
    seeker = await members.guest("Seeker")
    await seeker.ask("seek", room="bridge")

    def whole() -> bool:
        done = command("status", "--json", "--data", str(up.data))
        found = json.loads(done.stdout)
        assert done.returncode == 0
        assert found["complete"] is True
        assert found["games"]["playing"] >= 1
        assert found["seeks"] >= 1
        assert found["lag"]["results_waiting"] == 0
        workers = {worker["worker"]: worker for worker in found["workers"]}
        assert set(workers) == {"table-1", "table-2"}
        assert sum(worker["shards"] for worker in workers.values()) == found["shards"]["all"] == 256
        return True

    await eventually(whole, timeout_s=30, every_s=0.2)

    async def shown() -> bool:
        """On a busy machine a worker may be late for one look."""
        screen = await asyncio.to_thread(command, "status", "--data", str(up.data))
        assert screen.returncode == 0
        assert screen.stderr == ""
        for word in ("table-1", "table-2", "256 of 256 served", "playing", "seeks", "lag"):
            assert word in screen.stdout
        assert len(screen.stdout.splitlines()) <= 24
        return True

    await eventually(shown, timeout_s=30, every_s=0.2)


async def test_a_signed_token_lets_its_player_in(up: Cluster, members: Club) -> None:
    signed = command("token", "--player", "ada@club.example", "--name", "Ada", "--data", str(up.data))
    assert signed.returncode == 0
    assert signed.stdout.count("\n") == 1
    client = await Client(members.session, up.url, signed.stdout.strip(), {"id": ""}).connect()
    hello = await client.wait("hello")
    assert hello["player"]["id"] == "ada@club.example"
    assert hello["player"]["name"] == "Ada"
    await client.close()


@pytest.mark.parametrize(
    "args",
    [
        ("token", "--player", ""),
        ("token", "--player", "x" * 65),
        ("token", "--player", "ada", "--name", "\n"),
        ("drain", "nobody"),
    ],
)
def test_a_wrong_argument_is_one_line(up: Cluster, args: tuple[str, ...]) -> None:
    done = command(*args, "--data", str(up.data))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("numbridge: ")


@pytest.mark.parametrize(
    "args", [("status",), ("drain", "table-1"), ("token", "--player", "ada"), ("ratings", "rebuild")]
)
def test_without_a_cluster_a_command_says_so(tmp_path: Path, args: tuple[str, ...]) -> None:
    done = command(*args, "--data", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["gateway-1", "lobby-1", "ratings-1", "table-1", "redis", "nats"])
async def test_a_killed_process_comes_back_and_the_club_goes_on(up: Cluster, members: Club, name: str) -> None:
    before = up.pid(name)
    up.kill(name)
    await eventually(lambda: up.facts()["pid"] == up.process.pid and _pid(up, name) not in (None, before), timeout_s=30)

    async def playable() -> bool:
        game, blue, red = await members.seat("study")
        await blue.play(game, "resign")
        await red.wait("over", lambda event: event["game"] == game)
        return True

    await _patiently(playable)


def _pid(up: Cluster, name: str) -> int | None:
    pids: dict[str, int | None] = {process["name"]: process["pid"] for process in up.facts()["processes"]}
    return pids[name]


async def _patiently(attempt: Callable[[], object]) -> None:
    """Until it works: while a process is away, asking may fail in many ways."""

    async def once() -> object:
        try:
            result = attempt()
            return await result if asyncio.iscoroutine(result) else result
        except (OSError, AssertionError, TimeoutError):
            return None

    await eventually(once, timeout_s=40, every_s=0.2, what="the club goes on")


async def test_what_an_operator_does_over_http_takes_effect(up: Cluster, members: Club) -> None:
    token = command("token", "--player", "op", "--name", "Op", "--admin", "--data", str(up.data)).stdout.strip()

    async def admin(path: str, **body: object) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}"}
        async with members.session.post(f"{up.url}/api/admin/{path}", json=body, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            return dict(await answer.json())

    game, blue, red = await members.seat("blitz")
    await admin("announcements", text="Tea is ready")
    for player in (blue, red):
        assert (await player.wait("announcement"))["text"] == "Tea is ready"
    assert not (await admin(f"games/{game}/end", why="a test"))["was_over"]
    for player in (blue, red):
        over = await player.wait("over", lambda event: event["game"] == game)
        assert (over["result"], over["reason"]) == ("none", "operator")
    assert (await admin(f"games/{game}/end"))["was_over"]

    async def refused() -> bool:
        try:
            await blue.ask("seek", room="blitz")
        except Refused as refusal:
            return refusal.code == "forbidden"
        return False

    async def taken() -> bool:
        return bool((await blue.ask("seek", room="blitz"))["seek"])

    await admin("rooms/blitz/close")
    await _patiently(refused)
    await admin("rooms/blitz/open")
    await _patiently(taken)
    await admin(f"players/{blue.id}/mute", until=int(time.time() * 1000) + 3_600_000)
    await blue.wait("seek_ended", lambda event: event["reason"] == "muted")
    await _patiently(refused)
    await admin(f"players/{blue.id}/unmute")
    await _patiently(taken)
    headers = {"Authorization": f"Bearer {token}"}
    async with members.session.get(f"{up.url}/api/admin/audit", headers=headers) as answer:
        done = [deed["action"] for deed in reversed((await answer.json())["deeds"])]
    assert done == ["announce", "end_game", "end_game", "close_room", "open_room", "mute", "unmute"]


async def test_a_hangup_signal_has_the_rooms_file_read_again(up: Cluster, members: Club) -> None:
    """Sent to `up`: the lobby reads it, and nobody is restarted."""
    await members.seat("study")
    pids = [process["pid"] for process in up.facts()["processes"]]
    _add_room(up.data.parent / "rooms.toml", "attic")
    up.process.send_signal(signal.SIGHUP)

    async def open_for_seeks() -> bool:
        await members.seat("attic")
        return True

    await _patiently(open_for_seeks)
    assert [process["pid"] for process in up.facts()["processes"]] == pids


def _add_room(path: Path, room: str) -> None:
    """One more, like `study`."""
    text = path.read_text()
    study = next(block for block in text.split("[[room]]") if 'id = "study"' in block)
    path.write_text(f"{text}\n[[room]]{study.replace('study', room)}")


async def test_a_drained_worker_hands_its_games_over_ends_and_begins_anew(up: Cluster, members: Club) -> None:
    tables = [await members.seat("study") for _ in range(6)]
    pid = up.pid("table-1")
    drained = await asyncio.to_thread(command, "drain", "table-1", "--data", str(up.data))
    assert drained.returncode == 0, drained.stderr
    assert drained.stdout.splitlines()[-1] == "table-1 has ended"
    await eventually(gone(pid))
    for game, blue, red in tables:
        await blue.play(game, "exchange")
        await red.wait("move", lambda event, game=game: event["game"] == game)  # type: ignore[misc]
        assert blue.gaps == red.gaps == []

    def both_serve() -> bool:
        found = json.loads(command("status", "--json", "--data", str(up.data)).stdout)
        return found["complete"] and all(worker["shards"] > 0 for worker in found["workers"])

    await eventually(lambda: _pid(up, "table-1") not in (None, pid), timeout_s=30)
    await _patiently(lambda: asyncio.to_thread(both_serve))


async def test_a_house_bot_takes_a_seek_that_nobody_else_took(tmp_path: Path) -> None:
    with running(tmp_path / "data", *arguments(ROOMS, workers=1, bots=1)) as up:
        async with open_club(up.url) as club:
            guest = await club.guest("Ada")
            posted_at = time.monotonic()
            await guest.ask("seek", room="study")
            seated = await guest.wait("seated", timeout_s=40)
            assert time.monotonic() - posted_at > 4  # people come first
            game = seated["game"]
            state = await guest.join(game)
            if state["view"]["to_move"] == seated["color"]:
                await guest.play(game, "exchange")
            theirs = await guest.wait("move", lambda event: event["by"] != seated["color"], timeout_s=40)
            assert theirs["game"] == game
            assert guest.gaps == []


async def test_state_outlives_a_forced_stop_and_nothing_outlives_a_killed_parent(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(data, *arguments(ROOMS, workers=1)) as up:
        async with open_club(up.url) as club:
            finished, one, two = await club.seat("blitz", rated=True)
            await one.play(finished, "resign")
            await one.wait("rated")
            running_game, blue, red = await club.seat("study")
            await blue.play(running_game, "exchange")
            token, player = red.token, red.player
        pids = [process["pid"] for process in up.facts()["processes"]]
        up.process.send_signal(signal.SIGINT)
        up.process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(up.process.wait, 30) in (0, 1)  # 0 where all had ended before the second came
        for pid in pids:
            await eventually(gone(pid))
        assert not (data / "cluster.json").exists()

    with running(data, *arguments(ROOMS, workers=1)) as up:
        async with open_club(up.url) as club:
            again = await Client(club.session, up.url, token, player).connect()
            assert (await again.wait("hello"))["games"] == [running_game]
            state = await again.join(running_game)
            assert state["version"] == 1
            await again.play(running_game, "exchange")
            record = await club.get(f"/api/games/{finished}/record")
            assert record["end"]["reason"] == "resign"
            before = (await club.get(f"/api/players/{two.id}"))["ratings"]["blitz"]
            assert before["games"] == 1
            rebuilt = await asyncio.to_thread(command, "ratings", "rebuild", "--data", str(data))
            assert (rebuilt.returncode, rebuilt.stdout) == (0, "1 rated games, 2 ratings, 0 changed\n")
            assert (await club.get(f"/api/players/{two.id}"))["ratings"]["blitz"]["rating"] == before["rating"]
        pids = [process["pid"] for process in up.facts()["processes"]]
        up.process.kill()
        for pid in pids:
            await eventually(gone(pid))
    assert command("status", "--data", str(data)).returncode == 2
