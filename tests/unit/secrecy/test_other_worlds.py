"""Flip one secret: not a byte that another viewer gets may differ. And the harness sees a leak where there is one."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from structlog import get_logger

from numbridge.errors import Reason, Rejected
from numbridge.v1 import common_pb2 as common
from tablesvc import codec, judge, reads
from tablesvc import table as tables
from tablesvc.engine import frames, views
from tablesvc.engine.events import Moved
from tablesvc.engine.opening import open_game
from tablesvc.engine.seats import BLUE
from tablesvc.engine.state import State
from tablesvc.works import Join, Play
from tests.helpers.tables import ADA, BOB
from tests.unit.engine.playing import START, SeededDice, deals, empty_cells, settings
from tests.unit.secrecy.compare import Leak, Tally, one_game
from tests.unit.secrecy.hall import Hall


def some_hall() -> Hall:
    """A table of Bridge."""
    dice = SeededDice(1)
    return Hall(open_game("room", settings("bridge", "nine-a"), ADA, BOB, deals()["nine-a"][1], START, dice), dice)


async def test_nothing_that_leaves_depends_on_what_is_secret() -> None:
    tally = Tally()
    for seed in range(36):
        await one_game(seed, tally)
    assert tally.tile_flips > 30
    assert tally.field_flips > 30
    assert tally.refused > 100
    assert set(tally.compared) == {"answer", "frames", "log", "metrics", "presence", "seats"}


def leak_paid(patch: pytest.MonkeyPatch) -> None:
    shown = views.move_view

    def leaking(state: State, move: Moved) -> dict[str, object]:
        return shown(state, move) | ({"digit": move.paid[0]} if move.paid else {})

    patch.setattr(frames, "move_view", leaking)


def leak_solution(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(views, "field_text", lambda field, position: field.digits)


def leak_bag(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reads, "view", lambda state, seat, now: views.view(state, seat, now) | {"bag": state.position.bag})


def leak_hands(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reads, "view", lambda state, seat, now: views.view(state, BLUE, now))


def leak_in_a_refusal(patch: pytest.MonkeyPatch) -> None:
    judged = judge.play

    def leaking(state: State, *args: Any) -> judge.Verdict:
        verdict = judged(state, *args)
        if verdict.rejected is not None and verdict.rejected.reason is Reason.NOT_YOUR_TURN:
            verdict.rejected = Rejected(Reason.NOT_YOUR_TURN, f"wait: he holds {state.position.hands}")
        return verdict

    patch.setattr(judge, "play", leaking)


def leak_in_a_log_line(patch: pytest.MonkeyPatch) -> None:
    also(patch, lambda table: get_logger("x").debug(str(table.state.position)))


def leak_in_a_summary(patch: pytest.MonkeyPatch) -> None:
    told = codec.summary

    def leaking(game: str, state: State) -> common.GameSummary:
        summary = told(game, state)
        summary.room = state.table.deal.solution
        return summary

    patch.setattr(codec, "summary", leaking)


def leak_in_a_metric(patch: pytest.MonkeyPatch) -> None:
    also(patch, lambda table: table.world.metrics.moved(max(table.state.position.hands[BLUE], default=0)))


def also(patch: pytest.MonkeyPatch, more: Callable[[tables.Table], object]) -> None:
    """Whenever a table tells what has happened, it does `more`."""
    tell = tables.Table._tell

    async def both(self: tables.Table, *args: Any) -> None:
        await tell(self, *args)
        more(self)

    patch.setattr(tables.Table, "_tell", both)


async def games(count: int) -> None:
    for seed in range(count):
        await one_game(seed, Tally())


LEAKS = [
    leak_paid, leak_solution, leak_bag, leak_hands, leak_in_a_refusal, leak_in_a_log_line, leak_in_a_summary,
    leak_in_a_metric,
]  # fmt: skip


async def test_a_hit_and_a_miss_leave_by_the_same_ways() -> None:
    """As many messages to the same viewers, log lines and records; only the frame says which of the two it was."""
    ways = []
    for hit in (True, False):
        hall = some_hall()
        for player in ("ada", "bob"):
            await hall.do("watch", Join(player, None, arrive=True))
        state = hall.table.state
        tile = state.position.hands[BLUE][0]
        cells = [cell for cell in empty_cells(state) if (state.table.field.solution[cell] == tile) == hit]
        name = state.table.field.geometry.names[cells[0]]
        before, records = len(hall.taps), len(hall.cluster.messages)
        await hall.do("blue", Play("ada", "r", 0, "place", name, tile, 0))
        hall.measure()
        left = [(tap.who, tap.where, b"" if tap.where == "frames" else tap.what) for tap in hall.taps[before:]]
        ways.append((left, len(hall.cluster.messages) - records))
        await hall.close()
    assert ways[0] == ways[1]
    assert ways[0][1] == 1


@pytest.fixture
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as context:
        yield context


@pytest.mark.parametrize("leak", LEAKS)
async def test_a_leak_is_seen(patch: pytest.MonkeyPatch, leak: Callable[[pytest.MonkeyPatch], None]) -> None:
    leak(patch)
    with pytest.raises(Leak):
        await games(12)
