"""Games for the engine's tests: known deals, dice that obey, and a table that checks itself at every event."""

import json
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random

from msgspec.structs import replace

from tablesvc.engine.commands import Arrive, Claim, Command, Exchange, Pie, Place
from tablesvc.engine.decide import decide
from tablesvc.engine.dice import Dice
from tablesvc.engine.events import VERSIONED, Event
from tablesvc.engine.evolve import evolve, rebuild
from tablesvc.engine.frames import Frames, frames
from tablesvc.engine.geometry import cells_of, geometry
from tablesvc.engine.opening import open_game
from tablesvc.engine.position import Position
from tablesvc.engine.seats import BLUE, RED, Seat
from tablesvc.engine.settings import SIDE_OF_VARIANT, Deal, GameSettings, Player
from tablesvc.engine.state import State

GOLDEN = Path(__file__).parents[2] / "golden"
ANN, BOB = Player("ann", "Ann", 1500), Player("bob", "Bob")
START = 1_000_000


@cache
def deals() -> dict[str, tuple[str, Deal]]:
    """Deals with one solution each, by name, with the kind of their blocks."""
    found = json.loads((GOLDEN / "deals.json").read_text())
    return {
        name: (deal["kind"], Deal(deal["blocks"], deal["solution"], deal["givens"])) for name, deal in found.items()
    }


def deal_names(variant: str) -> list[str]:
    """Names of the deals that the variant can be played on."""
    side = SIDE_OF_VARIANT[variant]
    return [name for name, (_, deal) in deals().items() if len(deal.blocks) == side * side]


def settings(variant: str, deal: str, price: int = 1, move_ms: int = 60_000, game_ms: int = 900_000) -> GameSettings:
    """Settings that fit the deal."""
    kind, dealt = deals()[deal]
    givens = sum(char != "." for char in dealt.givens)
    return GameSettings(variant, SIDE_OF_VARIANT[variant], kind, givens, price, True, True, move_ms, game_ms)


class SeededDice:
    """Dice that fall the same way for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def below(self, n: int, /) -> int:
        return self._random.randrange(n)


class LowDice:
    """Dice that always show 0: the lowest digit is drawn, the leftmost tile taken."""

    def below(self, n: int, /) -> int:
        assert n >= 1
        return 0


class Game:
    """A table around the engine. Every event is checked against what must always hold."""

    def __init__(
        self, variant: str, deal: str, price: int = 1, dice: Dice | None = None, arrived: bool = True, **times: int
    ) -> None:
        self.dice: Dice = dice or SeededDice(1)
        self.now = START
        opened = open_game(
            "room", settings(variant, deal, price, **times), ANN, BOB, deals()[deal][1], START, self.dice
        )
        self.events: list[Event] = [opened]
        self.state = evolve(None, opened)
        self.frames: list[Frames] = []
        self.altered = False
        check_state(self.state)
        if arrived:
            self.do(Arrive(BLUE))
            self.do(Arrive(RED))

    def do(self, command: Command, lag_ms: int = 0) -> tuple[Event, ...]:
        """Decides, then evolves; returns the events. A refusal is raised and changes nothing."""
        return self.evolve(decide(self.state, command, self.now, self.dice, lag_ms))

    def evolve(self, events: Iterable[Event]) -> tuple[Event, ...]:
        events = tuple(events)
        for event in events:
            before = self.state
            self.state = evolve(before, event)
            self.events.append(event)
            check_state(self.state)
            seen = frames("game", event, self.state)
            assert self.state.version == before.version + isinstance(event, VERSIONED)
            assert (seen is not None) == isinstance(event, VERSIONED)
            if seen is not None:
                assert seen.watch["version"] == self.state.version
                self.frames.append(seen)
        return events

    def set(self, **position: object) -> None:
        """Puts another position on the table (fields of Position); it must keep the invariant."""
        self.altered = True
        self.state = replace(self.state, position=replace(self.state.position, **position))
        check_state(self.state)

    def cell(self, name: str) -> int:
        return self.state.table.field.geometry.index[name]

    @property
    def mover(self) -> Seat:
        return self.state.position.to_move

    @property
    def hand(self) -> tuple[int, ...]:
        return self.state.position.hands[self.mover]

    def hit(self) -> Place:
        """A right placement of the mover's first tile."""
        return right_placement(self.state, self.hand[0])

    def miss(self) -> Place:
        """A wrong placement of the mover's first tile."""
        tile = self.hand[0]
        field = self.state.table.field
        wrong = [cell for cell in empty_cells(self.state) if field.solution[cell] != tile]
        return Place(self.mover, wrong[0], tile)

    def claim(self) -> Claim:
        """A claim of the first unowned given, with the first tile."""
        return Claim(self.mover, self.unowned()[0], self.hand[0] if self.hand else None)

    def unowned(self) -> list[int]:
        owned = self.state.position.owned
        return cells_of(self.state.table.field.givens & ~(owned[0] | owned[1]))

    def check_replay(self) -> None:
        """Live play and a rebuild from the events agree."""
        if not self.altered:
            assert rebuild(self.events) == self.state


def empty_cells(state: State) -> list[int]:
    field = state.table.field
    return cells_of(field.geometry.full & ~(field.givens | state.position.solved))


def right_placement(state: State, tile: int) -> Place:
    cell = next(cell for cell in empty_cells(state) if state.table.field.solution[cell] == tile)
    return Place(state.position.to_move, cell, tile)


def command(move: tuple[str, int | None, int | None], by: Seat) -> Command:
    """The command of a move as `legal.moves` lists it."""
    kind, cell, tile = move
    if kind == "exchange":
        return Exchange(by)
    if kind == "pie":
        return Pie(by)
    assert cell is not None
    if kind == "claim":
        return Claim(by, cell, tile)
    assert tile is not None
    return Place(by, cell, tile)


def late(game: Game, empty: Iterable[str], blue: tuple[int, ...], red: tuple[int, ...], **position: object) -> None:
    """A late position: all but the cells named are solved, the hands as given, the rest of the tiles in the bag."""
    field = game.state.table.field
    holes = [field.geometry.index[name] for name in empty]
    bag = [0] * (field.geometry.side + 1)
    for cell in holes:
        bag[field.solution[cell]] += 1
    for tile in blue + red:
        bag[tile] -= 1
    solved = field.geometry.full & ~field.givens
    for cell in holes:
        solved &= ~(1 << cell)
    game.set(solved=solved, hands=(red, blue), bag=tuple(bag), bag_size=sum(bag), **position)


def check_state(state: State) -> None:
    """What holds in every state of every game."""
    field, position = state.table.field, state.position
    check_tiles(state, position)
    assert all(len(hand) <= 3 for hand in position.hands)
    assert position.bag_size == sum(position.bag)
    assert not position.owned[RED] & position.owned[BLUE]
    assert not position.solved & field.givens
    assert all(0 <= bank <= state.table.settings.game_ms for bank in state.banks)
    assert 1 <= position.moves_left <= (2 if field.domains else 1)
    assert (state.result is None) == (state.status != "over") == (state.reason is None)
    if state.offer is not None:
        assert state.status == ("adjourned" if state.offer.kind == "resume" else "playing")


def check_tiles(state: State, position: Position) -> None:
    """Digit by digit, bag and hands are the solution of the empty cells."""
    tiles = Counter(position.hands[0]) + Counter(position.hands[1])
    tiles += Counter({digit: count for digit, count in enumerate(position.bag) if count})
    assert min(position.bag) >= 0
    assert tiles == Counter(state.table.field.solution[cell] for cell in empty_cells(state))


def mask(side: int, *names: str) -> int:
    """Cells by name as a set."""
    return sum(1 << geometry(side).index[name] for name in names)
