"""Anything that two players, a clock and a failing cluster can do, in any order."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from tablesvc.dealing.solver import has_unique_solution
from tablesvc.engine.clock import deadline
from tablesvc.engine.commands import (
    Accept,
    Arrive,
    Claim,
    Command,
    Decline,
    Exchange,
    Offer,
    Pie,
    Place,
    Resign,
    Resume,
    TakeOver,
    Tick,
)
from tablesvc.engine.errors import GameOver, Illegal, NotYourTurn, Refused
from tablesvc.engine.events import VERSIONED
from tablesvc.engine.legal import moves, pass_due
from tablesvc.engine.record import as_dict, from_events
from tablesvc.engine.record_check import check
from tablesvc.engine.seats import BLUE, RED
from tablesvc.engine.views import view
from tests.unit.engine.playing import Game, SeededDice, command, deal_names

SEATS = st.sampled_from([BLUE, RED])


class Table(RuleBasedStateMachine):
    """A table under random commands; `Game` checks every state, this checks what spans several."""

    versions = Bundle("versions")

    @initialize(
        variant=st.sampled_from(["bridge", "blitz", "domains"]),
        deal=st.integers(0, 99),
        price=st.sampled_from([1, 2]),
        seed=st.integers(0, 99),
        short=st.booleans(),
    )
    def open(self, variant: str, deal: int, price: int, seed: int, short: bool) -> None:
        names = deal_names(variant)
        times = {"move_ms": 1_000, "game_ms": 2_500} if short else {}
        self.game = Game(variant, names[deal % len(names)], price, SeededDice(seed), arrived=False, **times)

    @precondition(lambda self: not self.game.state.over)
    @rule(pick=st.integers(0, 10**6), know=st.booleans())
    def move(self, pick: int, know: bool) -> None:
        game = self.game
        self.ring()
        if game.state.status != "playing":
            return
        options = list(moves(game.state.table.field, game.state.position))
        chosen: Command = command(options[pick % len(options)], game.mover)
        if know and game.hand:
            chosen = game.hit()
        game.do(Arrive(game.mover))
        game.do(chosen)

    @rule(by=SEATS, cell=st.integers(-1, 81), tile=st.integers(0, 10), kind=st.sampled_from([Place, Claim]))
    def blunder(self, by: int, cell: int, tile: int, kind: type[Place | Claim]) -> None:
        self.attempt(kind(by, cell, tile))

    @rule(by=SEATS, kind=st.sampled_from([Exchange, Pie, Resume]))
    def press(self, by: int, kind: type[Exchange | Pie | Resume]) -> None:
        self.attempt(kind(by))

    @rule(by=SEATS, kind=st.sampled_from(["draw", "adjourn"]), what=st.sampled_from([Offer, Decline]))
    def offer(self, by: int, kind: str, what: type[Offer | Decline]) -> None:
        self.attempt(what(by, kind))

    @rule(by=SEATS)
    def accept_adjournment(self, by: int) -> None:
        self.attempt(Accept(by, "adjourn"))

    @precondition(lambda self: self.game.state.version > 30)
    @rule(by=SEATS, resign=st.booleans())
    def give_up(self, by: int, resign: bool) -> None:
        self.attempt(Resign(by) if resign else Accept(by, "draw"))

    @rule(passed=st.sampled_from([0, 1, 700, 999, 60_000]), lag=st.sampled_from([0, 300, 9_000]))
    def wait(self, passed: int, lag: int) -> None:
        self.game.now += passed
        self.game.do(Tick(), lag)

    @rule(by=SEATS)
    def arrive(self, by: int) -> None:
        self.game.do(Arrive(by))

    @rule(down=st.sampled_from([0, 5_000, 10**9]))
    def take_over(self, down: int) -> None:
        self.ring()
        before = deadline(self.game.state)
        last_at = self.game.state.last_at
        self.game.now += down
        self.game.do(TakeOver())
        after = deadline(self.game.state)
        # nobody loses time to it, and nobody gains a deadline
        assert (after is None) == (before is None)
        if before is not None and after is not None:
            assert after - self.game.now == before - last_at

    def ring(self) -> None:
        self.game.do(Tick())

    def attempt(self, tried: Command) -> None:
        """A command that may be refused; a refusal changes nothing, and says so in the right order."""
        self.ring()
        before = self.game.state
        refusal: Refused | None = None
        try:
            self.game.do(tried)
        except Refused as refused:
            refusal = refused
        if refusal is None:
            assert self.game.state.version > before.version
            return
        assert self.game.state is before
        assert str(refusal)
        expected: type[Refused] = Illegal
        if before.over:
            expected = GameOver
        elif isinstance(tried, Place | Claim | Exchange | Pie | Offer) and tried.by != before.position.to_move:
            expected = NotYourTurn
        assert type(refusal) is expected

    @invariant()
    def nothing_is_due_that_has_not_happened(self) -> None:
        state = self.game.state
        if state.status == "playing":
            assert not pass_due(state.table.field, state.position)
            assert state.position.winner is None

    @invariant()
    def versions_have_no_gaps(self) -> None:
        assert self.game.state.version == sum(isinstance(event, VERSIONED) for event in self.game.events)
        assert [seen.watch["version"] for seen in self.game.frames] == list(range(1, self.game.state.version + 1))

    @invariant()
    def a_spectator_sees_no_tile(self) -> None:
        shown = view(self.game.state, None, self.game.now)
        assert "hand" not in shown
        assert "you" not in shown
        assert shown["blocks"] == self.game.state.table.deal.blocks

    def teardown(self) -> None:
        if not hasattr(self, "game"):
            return
        self.game.check_replay()
        record = from_events("g", self.game.events)
        checked = check(record, has_unique_solution)
        assert checked.positions[-1] == self.game.state.position
        assert (checked.result, checked.reason) == (self.game.state.result, self.game.state.reason)
        moves_only = [event for event in self.game.events if type(event).__name__ == "Moved"]
        assert len(moves_only) == len(checked.positions) - 1
        assert "offer" not in str(as_dict(record))


TestTable = Table.TestCase
TestTable.settings = settings(
    max_examples=40, stateful_step_count=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
