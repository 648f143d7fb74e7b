"""Whole games between players that see nothing but their view, through the real engine."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, cast

from numbridge.bots.brain import Action, choose
from tablesvc.dealing.dealer import deal
from tablesvc.engine.commands import Arrive, Claim, Command, Exchange, Pie, Place
from tablesvc.engine.decide import decide
from tablesvc.engine.evolve import evolve
from tablesvc.engine.opening import open_game
from tablesvc.engine.seats import BLUE, RED, Seat
from tablesvc.engine.settings import SIDE_OF_VARIANT, Deal, GameSettings, Player
from tablesvc.engine.state import State
from tablesvc.engine.views import view

MOST_MOVES = 300
STEP_MS = 1_000

View = dict[str, Any]
Chooser = Callable[[View, Random], Action]


class SeededDice:
    """Dice that fall the same way for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def below(self, n: int, /) -> int:
        return self._random.randrange(n)


def opened(variant: str, blocks: str, givens: int, price: int, seed: int) -> State:
    """A fresh game with both players at the table."""
    side = SIDE_OF_VARIANT[variant]
    dealt = deal(side, blocks, givens, seed)
    settings = GameSettings(variant, side, blocks, givens, price, True, True, 60_000, 900_000)
    deal_of = Deal(dealt.blocks, dealt.solution, dealt.givens)
    dice = SeededDice(seed)
    state = evolve(None, open_game("room", settings, Player("a", "A"), Player("b", "B"), deal_of, 0, dice))
    for seat in (BLUE, RED):
        for event in decide(state, Arrive(seat), 0, dice):
            state = evolve(state, event)
    return state


def seen_by(state: State, seat: Seat, now: int) -> View:
    return cast(View, view(state, seat, now))


def command(state: State, action: Action, by: Seat) -> Command:
    """The engine's command of a protocol action."""
    index = state.table.field.geometry.index
    match action["kind"]:
        case "place":
            return Place(by, index[action["cell"]], action["tile"])
        case "claim":
            return Claim(by, index[action["cell"]], action.get("tile"))
        case "exchange":
            return Exchange(by)
        case "pie":
            return Pie(by)
    raise AssertionError(action)


def play_out(state: State, seed: int, blue: Chooser = choose, red: Chooser = choose) -> tuple[State, Counter[str]]:
    """Plays to the end, which must come within MOST_MOVES; illegal moves are raised. Gives the last state and how
    often each kind of move was made ("miss" counts on top)."""
    dice, rng = SeededDice(seed), Random(seed)
    kinds: Counter[str] = Counter()
    now = 0
    while not state.over:
        assert kinds.total() - kinds["miss"] < MOST_MOVES
        now += STEP_MS
        seat = state.position.to_move
        action = (blue if seat == BLUE else red)(seen_by(state, seat, now), rng)
        before = sum(state.position.mistakes)
        for event in decide(state, command(state, action, seat), now, dice):
            state = evolve(state, event)
        kinds[action["kind"]] += 1
        kinds["miss"] += sum(state.position.mistakes) - before
    return state, kinds
