"""Deadlines on one heap, and the ledger of stalls."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from tablesvc.clocks import Clocks
from tablesvc.stalls import Stalls
from tests.helpers.eventually import eventually
from tests.helpers.tables import HandClock


@dataclass(eq=False)
class Bell:
    clock: HandClock
    due: int | None = None
    armed: int | None = None
    rang: list[int] = field(default_factory=list)

    def ring(self) -> None:
        self.rang.append(self.clock())


async def test_everybody_is_rung_once_and_not_before(clock: HandClock) -> None:
    clocks = Clocks(clock)
    bells = [Bell(clock) for _ in range(50)]
    for number, bell in enumerate(bells):
        clocks.arm(bell, clock() + 1_000 + number)
    clock.pass_(1_024)
    clocks._fire()
    assert [len(bell.rang) for bell in bells] == [1] * 25 + [0] * 25
    clock.pass_(1_000)
    clocks._fire()
    assert [len(bell.rang) for bell in bells] == [1] * 50
    assert len(clocks) == 0
    clocks.stop()


async def test_a_deadline_that_moves_rings_where_it_went(clock: HandClock) -> None:
    clocks = Clocks(clock)
    later, sooner, off = Bell(clock), Bell(clock), Bell(clock)
    for bell in (later, sooner, off):
        clocks.arm(bell, clock() + 1_000)
    for step in range(20):  # a game's moves: the heap does not grow with them
        clocks.arm(later, clock() + 2_000 + step)
    clocks.arm(sooner, clock() + 500)
    clocks.arm(off, None)
    assert len(clocks) == 4
    clock.pass_(500)
    clocks._fire()
    assert len(sooner.rang) == 1
    clock.pass_(500)
    clocks._fire()
    assert (later.rang, off.rang, len(sooner.rang)) == ([], [], 1)
    clock.pass_(1_019)
    clocks._fire()
    assert len(later.rang) == 1
    clocks.stop()


async def test_the_loop_rings_by_itself(clock: HandClock) -> None:
    clocks = Clocks(clock)
    bell = Bell(clock)
    clocks.arm(bell, clock() - 5)
    await eventually(lambda: bell.rang == [clock()])
    clocks.stop()


def test_a_stall_is_given_back_once() -> None:
    stalls = Stalls()
    stalls.add(100, 200)
    stalls.begin(300)
    assert stalls.open
    assert stalls.since(0, 350) == 150
    assert stalls.since(150, 350) == 100
    assert stalls.since(320, 350) == 30
    assert stalls.end(400) == 300
    assert stalls.end(400) is None
    assert stalls.since(0, 1_000) == 200
    assert stalls.since(400, 1_000) == 0


intervals = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=30)


@given(intervals, st.integers(0, 600), st.integers(0, 600))
def test_the_ledger_counts_every_stalled_millisecond_once(
    steps: list[tuple[int, int]], since: int, length: int
) -> None:
    """Stalls are noted in the order in which they end; they may begin inside the one before."""
    stalls = Stalls()
    stalled: set[int] = set()
    end = 0
    for back_or_gap, took in steps:
        began = max(0, end - back_or_gap // 2) if back_or_gap % 2 else end + back_or_gap
        ended = max(end, began) + took
        stalls.add(began, ended)
        stalled |= set(range(began, ended))
        end = ended
    now = since + length
    assert stalls.since(since, now) == len([ms for ms in stalled if since <= ms < now])
