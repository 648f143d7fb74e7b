"""The rooms file is read again while the lobby runs: what stays valid stays, the rest ends with its reason."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from lobby import keys, reloading
from lobby.stored import decode_seek
from tests.contract.lobby_club import Club, club
from tests.contract.test_lobby_service import refusal
from tests.helpers.eventually import eventually

LOW: dict[str, Any] = {"givens_min": 22, "givens_max": 24}
HIGH: dict[str, Any] = {"givens_min": 30, "givens_max": 34}
NOBODY: dict[str, Any] = {"rating_min": 1, "rating_max": 2}


USUAL = {
    "variant": '"bridge"',
    "givens": "{ min = 22, max = 34, default = 30 }",
    "claim_price": "1",
    "move_ms": "60000",
    "game_ms": "900000",
    "rated": "true",
}
UNRATED = {"rated": "false"}
MORE = {"givens": "{ min = 28, max = 40, default = 30 }"}


class RoomsFile:
    """A rooms file that is written again and again."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, **rooms: dict[str, str]) -> list[str]:
        """A room says what is not as usual about it. Gives the lines."""
        lines = []
        for room, changes in rooms.items():
            lines += ["[[room]]", f'id = "{room}"', f'name = "{room.title()}"']
            lines += [f"{key} = {value}" for key, value in (USUAL | changes).items()]
        self.path.write_text("\n".join(lines))
        return lines

    def remove(self) -> None:
        """There is none."""
        self.path.unlink()


@pytest.fixture
def rooms_file(tmp_path: Path) -> RoomsFile:
    made = RoomsFile(tmp_path / "rooms.toml")
    made.write(bridge={}, study=UNRATED, other={})
    return made


@pytest_asyncio.fixture
async def one(clean_nats: str, clean_redis: str, rooms_file: RoomsFile) -> AsyncIterator[Club]:
    """A club with one replica, with rooms of a file."""
    async with club(clean_nats, clean_redis, rooms_file=str(rooms_file.path)) as made:
        yield made


async def stored(made: Club, seek: str) -> Any:
    """An open seek as Redis has it."""
    text = await made.redis.hget(keys.SEEKS, seek)
    assert text is not None
    return decode_seek(text)


async def test_seeks_that_stay_valid_keep_id_and_age_and_others_end_with_the_reason(
    one: Club, rooms_file: RoomsFile
) -> None:
    await one.post("low", seek="s-low", **LOW, **NOBODY)
    wide = (await one.post("wide", seek="s-wide", **NOBODY)).seek
    high = (await one.post("high", seek="s-high", **HIGH, **NOBODY)).seek
    await one.post("gone", "other", seek="s-gone", **NOBODY)
    await one.post("calm", "study", seek="s-calm", **NOBODY)
    game = await one.play("ada", "bob")
    as_it_was = one.tables.made[game]

    rooms_file.write(
        bridge=MORE | {"move_ms": "30000"},
        study=UNRATED,
        fresh={},
    )
    assert await one.apps[0].reloading.reload()

    await one.hears("low", "seek_ended", seek="s-low", reason="room_changed")
    await one.hears("gone", "seek_ended", seek="s-gone", reason="room_gone")
    await eventually(lambda: _set(one, ["s-calm", "s-high", "s-wide"]))
    assert (await stored(one, "s-high")).since == high.since
    await eventually(lambda: _givens(one, "s-wide", (28, 34)))
    assert (await stored(one, "s-wide")).since == wide.since
    assert not any(event["ev"] == "seek_ended" for who in ("wide", "high", "calm") for event in one.heard.get(who, []))
    assert one.tables.made[game] == as_it_was  # a game that goes on does so by the settings it began with
    assert await one.status_of("ada", game, "playing")

    assert refusal(await one.post("eve", "other")) == "NOT_FOUND"
    await eventually(lambda: one.apps[0].pools.owned == {"bridge", "study", "fresh"})
    for player in ("cleo", "dan"):
        await one.post(player, "fresh")
    await one.hears("cleo", "seated")
    await one.post("eve", "bridge", **HIGH)
    await one.post("fay", "bridge")
    seated = await one.hears("eve", "seated")
    assert seated["settings"]["move_ms"] == 30_000
    [taken] = _reads(one, "taken")
    assert taken == 1


async def _set(made: Club, seeks: list[str]) -> bool:
    return sorted(await made.listed()) == seeks


async def _givens(made: Club, seek: str, givens: tuple[int, int]) -> bool:
    return bool((await stored(made, seek)).givens == givens)


def _reads(made: Club, outcome: str) -> list[float]:
    value = made.apps[0].registry.get_sample_value("numbridge_lobby_rooms_read_total", {"outcome": outcome})
    return [] if value is None else [value]


async def test_watchers_of_the_list_hear_of_each_seek_that_went(one: Club, rooms_file: RoomsFile) -> None:
    await one.post("low", seek="s-low", **LOW, **NOBODY)
    await one.post("gone", "other", seek="s-gone", **NOBODY)
    await one.list_events(2)
    rooms_file.write(bridge=MORE, study=UNRATED)
    await one.apps[0].reloading.reload()
    await one.hears("low", "seek_ended", seek="s-low")

    def shown() -> bool:
        left: dict[str, set[str]] = {}
        for delta in one.deltas:
            if delta.seq == 1:  # a new run: watchers take a snapshot, which holds what is open
                left[delta.room] = set()
            for event in one.events_of(delta):
                if event["ev"] == "seek_added":
                    left.setdefault(delta.room, set()).add(event["seek"]["seek"])
                else:
                    left.setdefault(delta.room, set()).discard(event["seek"])
        return left.get("other") == set() and left.get("bridge") == set()

    await eventually(shown)


async def test_a_bad_file_changes_nothing_and_each_problem_is_logged_with_its_line(
    one: Club, rooms_file: RoomsFile
) -> None:
    await one.post("low", seek="s-low", **LOW, **NOBODY)
    before = one.apps[0].parts.rooms.all
    lines_of = rooms_file.write(bridge={"claim_price": "7"}, study={"variant": '"chess"'})
    with capture_logs() as lines:
        assert not await one.apps[0].reloading.reload()
    said = [line["problem"] for line in lines if line["event"] == "rooms_file_refused"]
    assert len(said) == 2
    price, variant = (lines_of.index(line) + 1 for line in ("claim_price = 7", 'variant = "chess"'))
    assert said[0].startswith(f"line {price}: room 'bridge': claim_price")
    assert said[1].startswith(f"line {variant}: room 'study': variant")
    rooms_file.remove()
    with capture_logs() as lines:
        assert not await one.apps[0].reloading.reload()
    assert [line["file"] for line in lines if line["event"] == "rooms_file_refused"] == [str(rooms_file.path)]
    assert one.apps[0].parts.rooms.all == before
    assert await one.listed() == ["s-low"]
    assert _reads(one, "refused") == [2]
    rooms_file.write(bridge={}, study=UNRATED, other={})
    assert await one.apps[0].reloading.reload()
    assert one.apps[0].parts.rooms.all == before


async def test_replicas_read_the_file_one_after_the_other(
    clean_nats: str, clean_redis: str, rooms_file: RoomsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is posted through one that has the old rooms still ends, whoever matches the room."""
    monkeypatch.setattr(reloading, "_HOMELESS_S", 0.0)
    async with club(clean_nats, clean_redis, 2, rooms_file=str(rooms_file.path)) as two:
        rooms_file.write(bridge=MORE, study={}, fresh={})
        first, second = (app.reloading for app in two.apps)
        assert await first.reload()
        await two.post("late", "other", seek="s-late", via=1, **NOBODY)
        await two.post("new", "fresh", seek="s-new", via=0, **NOBODY)
        assert await second.reload()
        await eventually(lambda: {room for app in two.apps for room in app.pools.owned} == {"bridge", "study", "fresh"})
        for reload in (first, second):
            await reload.sweep()
        await two.hears("late", "seek_ended", seek="s-late", reason="room_gone")
        assert "s-new" in await two.listed()


async def test_misfits_wait_until_redis_has_heard_of_them(one: Club, rooms_file: RoomsFile) -> None:
    """Redis goes away in the middle of it: none is forgotten."""
    for number in range(3):
        await one.post(f"low{number}", seek=f"s-{number}", **LOW, **NOBODY)
    seeks, tried = one.apps[0].parts.seeks, 0
    end = seeks.end

    async def shaky(seek: str, player: str) -> Any:
        nonlocal tried
        tried += 1
        if tried == 2:
            raise OSError("away")
        return await end(seek, player)

    seeks.end = shaky  # type: ignore[method-assign]
    rooms_file.write(bridge=MORE, study={}, other={})
    await one.apps[0].reloading.reload()
    for number in range(3):
        await one.hears(f"low{number}", "seek_ended", reason="room_changed")
    assert tried >= 4
