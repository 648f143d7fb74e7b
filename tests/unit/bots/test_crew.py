"""Bots at a club over real sockets: whole games, whatever the network and the servers do."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from numbridge.bots import house, table
from numbridge.bots.club import NoClub
from numbridge.bots.crew import Crew, Options
from numbridge.bots.table import Pace
from tests.helpers.eventually import eventually
from tests.unit.bots.toy_club import Hall, Json, ToyClub, toy_club

NAME = "Ada"


@asynccontextmanager
async def crew(club: ToyClub, **options: Any) -> AsyncIterator[list[str]]:
    """A running crew; what it says. It must end in peace when it is told to."""
    said: list[str] = []
    stop = asyncio.Event()
    chosen = {"url": club.url, "pace": Pace(0, 0), "seed": 1, **options}
    running = asyncio.create_task(Crew(Options(**chosen), said.append).run(stop))
    try:
        yield said
        assert not running.done(), running.result()
    finally:
        stop.set()
        async with asyncio.timeout(10):
            await running


def over(club: ToyClub) -> list[Hall]:
    return [hall for hall in club.halls.values() if hall.state.over]


async def until_over(club: ToyClub, games: int = 1) -> None:
    await eventually(lambda: len(over(club)) >= games, 60, what=f"{games} games over")


@pytest.mark.parametrize("room", ["bridge", "blitz", "domains"])
async def test_two_bots_meet_and_play_again_and_again(room: str) -> None:
    async with toy_club() as club, crew(club, count=2, room=room) as said:
        await until_over(club, 2)
        await eventually(lambda: len(said) >= 2)
        assert all(f" {room}: " in line and "Bot 1" in line and "Bot 2" in line for line in said)
        assert all(hall.state.reason in ("connection", "blocks") for hall in over(club))
        assert len({line.split()[0] for line in said}) == len(said)


async def test_without_a_room_they_seek_in_several_and_take_the_rest_back() -> None:
    async with toy_club() as club, crew(club, count=1):
        await eventually(lambda: len(club.seeks) == 3)
    assert club.seeks == {}


def sometimes(every: int, fault: str, op: str = "play") -> Callable[[str, Json], str | None]:
    """Every so many messages of a kind go wrong."""
    count = 0

    def judge(_player: str, message: Json) -> str | None:
        nonlocal count
        count += message["op"] == op
        return fault if message["op"] == op and count % every == 0 else None

    return judge


@pytest.mark.parametrize("fault", ["unavailable", "internal", "limit", "stale", "not_your_turn", "illegal", "drop"])
async def test_a_game_survives_plays_that_go_wrong(fault: str) -> None:
    async with toy_club() as club:
        club.fault = sometimes(5, fault)
        async with crew(club, count=2, room="blitz"):
            await until_over(club)
            assert over(club)[0].state.reason == "connection"


async def test_a_play_whose_answer_was_lost_takes_effect_once() -> None:
    async with toy_club() as club:
        club.fault = sometimes(4, "drop after")
        async with crew(club, count=2, room="blitz"):
            await until_over(club)
        played = [message for _, message in club.heard if message["op"] == "play"]
        assert len({play["version"] for play in played}) == len(over(club)[0].answers)
        assert club.connections > 2


async def test_an_unavailable_table_is_asked_again_under_the_same_ref() -> None:
    async with toy_club() as club:
        club.fault = sometimes(3, "unavailable")
        async with crew(club, count=2, room="blitz"):
            await until_over(club)
        refs: dict[str, set[tuple[int, str]]] = {}
        plays = [message for _, message in club.heard if message["op"] == "play"]
        for play in plays:
            refs.setdefault(play["ref"], set()).add((play["version"], str(play["action"])))
        assert len(plays) > len(refs)
        assert all(len(same) == 1 for same in refs.values())


async def test_a_missing_version_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_QUIET_S", 0.3)
    async with toy_club() as club:
        club.lose_frames = lambda frame: frame["version"] % 6 == 2
        async with crew(club, count=2, room="blitz"):
            await until_over(club)
        assert any("since" in message for _, message in club.heard if message["op"] == "join")


async def test_a_move_that_is_never_legal_is_left_to_the_clock() -> None:
    async with toy_club() as club:
        club.fault = lambda _player, message: "illegal" if message["op"] == "play" else None
        async with crew(club, count=2, room="blitz"):
            await eventually(lambda: club.count("play") >= 3)
            hall = club.halls["g0"]
            with pytest.raises(AssertionError, match="a fourth try"):
                await eventually(lambda: club.count("play") > 3, 0.5, what="a fourth try")
            club.fault = lambda _player, _message: None
            await club.act(hall, hall.names["blue"], kind="offer_draw")
            await until_over(club)


async def test_guests_wait_when_they_are_told_to() -> None:
    async with toy_club() as club:
        club.guests_barred = 3
        async with crew(club, count=2, room="blitz"):
            await until_over(club)
        assert club.guests == 2


async def test_a_refused_guest_comes_as_another() -> None:
    async with toy_club() as club:
        refusals = iter(["unauthorized", "unauthorized"])
        club.fault = lambda _player, message: next(refusals, None) if message["op"] == "hello" else None
        async with crew(club, count=1):
            await eventually(lambda: club.seeks)
        assert club.guests == 3


async def test_there_is_no_use_in_a_club_that_is_not_there_or_has_no_such_room() -> None:
    async with toy_club() as club:
        for options, said in (
            (Options(url=club.url, room="attic"), "no room 'attic'"),
            (Options(url=club.url + "/x"), "no Numbridge club"),
        ):
            with pytest.raises(NoClub, match=said):
                await Crew(options, lambda _: None).run(asyncio.Event())


async def test_tokens_that_are_refused_end_it() -> None:
    async with toy_club() as club:
        club.fault = lambda _player, message: "unauthorized" if message["op"] == "hello" else None
        with pytest.raises(NoClub, match="not let in"):
            await Crew(Options(url=club.url, tokens=("t",)), lambda _: None).run(asyncio.Event())


class Person:
    """Somebody who sits at the toy club without a socket."""

    def __init__(self, club: ToyClub) -> None:
        self.club = club

    async def seek(self, room: str, name: str = NAME) -> None:
        await self.club._seek(name, {"room": room, "rated": True})

    async def game(self) -> Hall:
        hall = await eventually(self._found, 15)
        assert isinstance(hall, Hall)
        return hall

    def _found(self) -> Hall | None:
        mine = (hall for hall in self.club.halls.values() if NAME in hall.names.values())
        return next((hall for hall in mine if not hall.state.over), None)

    async def my_turn(self, hall: Hall) -> None:
        color = hall.color(NAME)
        await eventually(lambda: hall.view(NAME)["to_move"] == color)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """House bots that wait for nothing."""
    monkeypatch.setattr(house, "PATIENCE_S", 0.1)
    monkeypatch.setattr(house, "_TICK_S", 0.02)
    monkeypatch.setattr(house, "_PAUSE_S", (0.0, 0.0))


@pytest.mark.usefixtures("impatient")
async def test_a_house_bot_takes_on_who_waits_and_answers_offers() -> None:
    async with toy_club() as club, crew(club, count=1, house=True):
        person = Person(club)
        await person.seek("bridge")
        hall = await person.game()
        await person.my_turn(hall)
        await club.act(hall, NAME, kind="offer_draw")
        await eventually(lambda: club.count("play", "decline_draw"))
        await person.my_turn(hall)
        await club.act(hall, NAME, kind="exchange")
        await person.my_turn(hall)
        await club.act(hall, NAME, kind="offer_adjourn")
        await eventually(lambda: hall.state.status == "adjourned")
        await club.act(hall, NAME, kind="resume")
        await eventually(lambda: hall.state.status == "playing")
        await club.act(hall, NAME, kind="resign")
        await until_over(club)
        assert not club.count("play", "resign")


@pytest.mark.usefixtures("impatient")
async def test_a_seek_that_is_taken_meanwhile_or_forbidden_harms_nothing() -> None:
    async with toy_club() as club:
        refusals = {"Eve": "gone", "Mallory": "forbidden"}
        asked: list[str] = []

        def judge(_player: str, message: Json) -> str | None:
            if message["op"] != "accept_seek" or message["seek"] not in club.seeks:
                return None
            asked.append(club.seeks[message["seek"]]["player"]["id"])
            return refusals.get(asked[-1])

        club.fault = judge
        async with crew(club, count=1, house=True):
            await eventually(lambda: club.watching)
            person = Person(club)
            await person.seek("blitz", "Eve")
            await eventually(lambda: "Eve" in asked)
            club.seeks.clear()
            await person.seek("blitz", "Mallory")
            await eventually(lambda: "Mallory" in asked)
            await person.seek("bridge")
            assert (await person.game()).room == "bridge"


@pytest.mark.usefixtures("impatient")
async def test_of_three_house_bots_two_play_for_all_to_see_and_one_is_free_for_people() -> None:
    async with toy_club() as club, crew(club, count=3, house=True, pace=Pace(20, 20)):
        await eventually(lambda: club.halls, 15)
        show = club.halls["g0"]
        assert all(name.startswith("House bot") for name in show.names.values())
        person = Person(club)
        await person.seek("blitz")
        hall = await person.game()
        assert not set(hall.names.values()) & set(show.names.values())
        await club.act(hall, NAME, kind="resign")
        await eventually(lambda: show.state.over, 60)
        await eventually(lambda: len(club.halls) >= 3, 15, what="the next exhibition game")
        running = [hall for hall in club.halls.values() if not hall.state.over]
        assert len(running) <= 1


@pytest.mark.usefixtures("impatient")
async def test_two_house_bots_do_not_play_each_other_and_never_accept_a_house_bots_seek() -> None:
    async with toy_club() as club, crew(club, count=2, house=True):
        person = Person(club)
        await person.seek("blitz", "House bot 9")
        await person.seek("bridge")
        hall = await person.game()
        await club.act(hall, NAME, kind="resign")
        assert len(club.halls) == 1
        assert [seek["player"]["id"] for seek in club.seeks.values()] == ["House bot 9"]


@pytest.mark.usefixtures("impatient")
async def test_the_lobby_is_watched_by_another_when_the_lookouts_line_is_cut() -> None:
    async with toy_club() as club, crew(club, count=2, house=True):
        await eventually(lambda: club.watching)
        [lookout] = club.watching
        await club.sockets[lookout].close()
        await eventually(lambda: club.watching and club.count("watch_lobby") == 2, 15)
        person = Person(club)
        await person.seek("domains")
        assert (await person.game()).room == "domains"


async def test_the_thinking_time_is_bounded_by_the_clock() -> None:
    view = {"you": "red", "clock": {"red_ms": 300_000, "blue_ms": 1}, "settings": {"move_ms": 30_000}}
    assert Pace(400, 400).pause_s(view, Random(1)) == 0.4
    view["settings"] = {"move_ms": 1_000}
    assert Pace(400, 400).pause_s(view, Random(1)) == pytest.approx(0.2)
    view["clock"] = {"red_ms": 1_000}
    assert Pace(400, 400).pause_s(view, Random(1)) == pytest.approx(0.03)
    assert Pace(0, 0).pause_s(view, Random(1)) == 0
