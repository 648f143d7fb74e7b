"""Log records that decode and cannot be: their game is set aside, at whatever place they stand."""

from dataclasses import replace
from typing import Any

import pytest

from tablesvc.codec import Damaged, write_record
from tablesvc.engine.events import Ended, Event, Moved, Offered, Opened
from tablesvc.engine.settings import Deal
from tablesvc.ports import Logged
from tablesvc.recovery import Replay
from tablesvc.sanity import check_event
from tests.fuzz.seeds import a_log
from tests.fuzz.targets import GAME
from tests.unit.engine.playing import Game

AT = 1_000_500
GOOD = Moved("place", 1, 3, 2, False, (), (1,), 10, AT)


def opened() -> Opened:
    event = Game("blitz", "blitz-a").events[0]
    assert isinstance(event, Opened)
    return event


@pytest.mark.parametrize(
    "event",
    [
        replace(GOOD, cell=36), replace(GOOD, cell=-1), replace(GOOD, cell=None), replace(GOOD, tile=7),
        replace(GOOD, tile=None), replace(GOOD, hit=None), replace(GOOD, kind="fly"), replace(GOOD, kind="claim"),
        replace(GOOD, drew=(0,)), replace(GOOD, paid=(9,)), replace(GOOD, used_ms=-1), replace(GOOD, used_ms=2**40),
        replace(GOOD, at=5), replace(GOOD, at=2**60), Offered("war", 1, "open", AT), Offered("draw", 1, "shut", AT),
        Ended("green", "time", (), AT), Ended("blue", "boredom", (), AT), Ended("draw", "time", (), AT),
        Ended("blue", "connection", (99,), AT),
    ],
)  # fmt: skip
def test_an_event_that_cannot_be_is_damage(event: Event) -> None:
    state = Game("blitz", "blitz-a").state
    check_event(state, GOOD)
    with pytest.raises(Damaged):
        check_event(state, event)


@pytest.mark.parametrize("part", ["variant", "side", "claim_price", "move_ms", "game_ms"])
def test_settings_that_cannot_be_are_damage(part: str) -> None:
    first = opened()
    check_event(None, first)
    wrong: dict[str, Any] = {part: "chess" if part == "variant" else 0}
    with pytest.raises(Damaged):
        check_event(None, replace(first, settings=replace(first.settings, **wrong)))


@pytest.mark.parametrize(
    "deal",
    [
        lambda deal: Deal(deal.blocks[:-1], deal.solution, deal.givens),
        lambda deal: Deal(deal.blocks, deal.solution[:-1] + "7", deal.givens),
        lambda deal: Deal(deal.blocks, deal.solution[::-1], deal.givens),
    ],
)
def test_a_deal_that_cannot_be_is_damage(deal: object) -> None:
    first = opened()
    with pytest.raises(Damaged):
        check_event(None, replace(first, deal=deal(first.deal)))  # type: ignore[operator]


def test_a_game_is_opened_once_and_first() -> None:
    state = Game("blitz", "blitz-a").state
    with pytest.raises(Damaged):
        check_event(state, opened())
    with pytest.raises(Damaged):
        check_event(None, GOOD)


def test_a_sound_log_is_read_and_a_draw_of_what_the_bag_did_not_hold_is_not() -> None:
    records = a_log()
    replay = Replay(5)
    replay.take_all(Logged(GAME, number + 1, data) for number, data in enumerate(records))
    assert replay.damaged == {}
    replay = Replay(5)
    for number, data in enumerate(records[:3]):
        replay.take(Logged(GAME, number + 1, data))
    state = replay.games[GAME].state
    greedy = [replace(GOOD, by=state.position.to_move, kind="exchange", cell=None, tile=None, hit=None, drew=(1,) * 9)]
    replay.take(Logged(GAME, 9, write_record(GAME, state.version + 1, 1, "x", AT, greedy)))
    assert set(replay.damaged) == {GAME}
