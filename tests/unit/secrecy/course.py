"""A random game at a table, written down so that it can be run again in another world.

All that can happen at a table happens: moves that are right, wrong and refused, claims, exchanges, burned turns,
offers, a table put away, viewers who come, come again and look.
"""

from dataclasses import dataclass
from random import Random

from numbridge.errors import Rejected
from numbridge.names import SEATS, Seat
from tablesvc.engine import clock
from tablesvc.engine.events import Event, Moved
from tablesvc.engine.legal import moves
from tablesvc.engine.opening import open_game
from tablesvc.engine.seats import BLUE, RED
from tablesvc.engine.seats import Seat as Side
from tablesvc.engine.settings import Player
from tablesvc.engine.state import State
from tablesvc.works import Accepted, Ask, GetRecord, Join, Look, Play, Present, Ring, Summary
from tests.unit.engine.playing import START, SeededDice, deal_names, deals, empty_cells, settings
from tests.unit.secrecy.hall import Hall

IDS = {BLUE: "ada", RED: "bob"}
NAMED: dict[Side, Seat] = {BLUE: "blue", RED: "red"}


@dataclass(frozen=True, slots=True)
class Step:
    """Something asked of the table."""

    at: int
    who: Seat
    ask: Ask
    claim: int | None = None
    """Index of the event in which a claim was paid."""


@dataclass(frozen=True, slots=True)
class Course:
    """A game as it went."""

    steps: list[Step]
    events: list[Event]
    refused: int
    """Actions that were refused."""


class Everybody:
    """Plays both sides at random, and everybody who looks on."""

    def __init__(self, random: Random, hidden: Side | None) -> None:
        """`hidden`: whose tiles will differ in another world. He names no tile in an action that is refused."""
        self.random = random
        self.hidden = hidden
        self.skill = random.choice((0.1, 0.5, 0.9))
        self._refs = 0

    def ask(self, state: State) -> tuple[Seat, Ask]:
        """What is asked next, and by whom."""
        dice = self.random.random()
        side: Side = self.random.choice((BLUE, RED))
        who: Seat = self.random.choice(SEATS)
        player = "eve" if who == "watch" else IDS[BLUE if who == "blue" else RED]
        if dice < 0.10:
            since = self.random.choice((None, 0, state.version, self.random.randint(0, state.version), 10**6))
            return who, Join(player, since, arrive=self.random.random() < 0.5)
        if dice < 0.13:
            return who, self.random.choice((Look(player), Summary(), GetRecord(), Present(1, 1, 0, 2)))
        if dice < 0.16:
            return "watch", self._play("eve", state, "exchange")
        if dice < 0.20:
            return NAMED[side], self._play(IDS[side], state, *self._offer(state))
        to_move = state.to_move
        if to_move is None:
            return "watch", Summary()
        if state.status == "adjourned":
            return NAMED[side], self._play(IDS[side], state, "resume")
        if dice < 0.32:
            return self._slip(state, to_move)
        return NAMED[to_move], self._move(state, to_move)

    def _play(self, player: str, state: State, action: str, cell: int | None = None, tile: int | None = None) -> Play:
        self._refs += 1
        name = None if cell is None else state.table.field.geometry.names[cell]
        return Play(player, f"r{self._refs}", state.version, action, name, tile, self.random.choice((0, 40, 9_000)))

    def _offer(self, state: State) -> tuple[str]:
        if state.offer is not None:
            kinds = [f"decline_{state.offer.kind}", f"accept_{state.offer.kind}", "offer_adjourn"]
            return (self.random.choice([kind for kind in kinds if not kind.endswith("_resume")]),)
        return (self.random.choice(("offer_draw", "offer_adjourn", "accept_draw", "decline_adjourn", "resume")),)

    def _slip(self, state: State, to_move: Side) -> tuple[Seat, Play]:
        """An action that is against something."""
        field, other = state.table.field, 1 - to_move
        given = self.random.choice([cell for cell in range(field.geometry.cells) if field.givens >> cell & 1])
        holes = empty_cells(state)
        if not holes:
            return NAMED[other], self._play(IDS[other], state, "exchange")
        empty = self.random.choice(holes)
        match self.random.randrange(5):
            case 0:
                return NAMED[other], self._play(IDS[other], state, "place", empty, self.random.randint(1, 9))
            case 1:
                stale = self._play(IDS[to_move], state, "exchange")
                return NAMED[to_move], Play(stale.player, stale.ref, stale.version + 1, "exchange", None, None, 0)
            case 2:
                return NAMED[to_move], self._play(IDS[to_move], state, "place", given, 1)
            case 3:
                return NAMED[to_move], self._play(IDS[to_move], state, "claim", empty, 1)
            case _:
                absent = [d for d in range(1, field.geometry.side + 1) if d not in state.position.hands[to_move]]
                if to_move == self.hidden or not absent:
                    return NAMED[other], self._play(IDS[other], state, "pie")
                return NAMED[to_move], self._play(IDS[to_move], state, "place", empty, self.random.choice(absent))

    def _move(self, state: State, to_move: Side) -> Play:
        hand = state.position.hands[to_move]
        if hand and self.random.random() < self.skill:
            tile = self.random.choice(hand)
            right = [cell for cell in empty_cells(state) if state.table.field.solution[cell] == tile]
            return self._play(IDS[to_move], state, "place", self.random.choice(right), tile)
        options = list(moves(state.table.field, state.position))
        kind = self.random.choice(sorted({option[0] for option in options}))
        _, cell, tile_or_none = self.random.choice([option for option in options if option[0] == kind])
        return self._play(IDS[to_move], state, kind, None if kind == "pie" else cell, tile_or_none)


async def play(random: Random, hidden: Side | None) -> tuple[Hall, Course]:
    """A game that goes on for a while, or to its end; and the world in which it was played."""
    variant = random.choice(("bridge", "blitz", "domains"))
    name = random.choice(deal_names(variant))
    chosen = settings(variant, name, random.choice((1, 2)), game_ms=random.choice((150_000, 900_000)))
    dice = SeededDice(random.randrange(2**32))
    opened = open_game("room", chosen, Player("ada", "Ada", 1500), Player("bob", "Bob"), deals()[name][1], START, dice)
    hall = Hall(opened, dice)
    everybody = Everybody(random, hidden)
    steps: list[Step] = []
    refused, length = 0, random.randint(5, 90)

    async def do(who: Seat, ask: Ask) -> None:
        nonlocal refused
        claims = isinstance(ask, Play) and ask.action == "claim"
        known = len(hall.events()) if claims else 0
        outcome = await hall.do(who, ask)
        refused += isinstance(outcome, Rejected)
        claim = _index(hall.events(), known) if claims and isinstance(outcome, Accepted) else None
        steps.append(Step(hall.clock.now, who, ask, claim))

    for side in (BLUE, RED):
        await do(NAMED[side], Join(IDS[side], None, arrive=True))
    while len(steps) < length:
        hall.clock.pass_(random.choice((1, 300, 4_000)))
        due = clock.deadline(hall.table.state)
        if due is not None and random.random() < 0.03:
            hall.clock.now = max(hall.clock.now, due + 600)
            await do("watch", Ring())
        await do(*everybody.ask(hall.table.state))
    return hall, Course(steps, hall.events(), refused)


def _index(events: list[Event], known: int) -> int:
    """Where the claim is among the events after the first `known`."""
    return next(
        at for at in range(known, len(events)) if isinstance(event := events[at], Moved) and event.kind == "claim"
    )
