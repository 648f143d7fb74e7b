"""What the engine costs a move: `python -m bench.engine [--games N] [--seed S]`.

Games are played at random; every command is decided, its events evolved, and the frames of all three viewers made. In
the same run the same frames are encoded and decoded as JSON, by the standard library and by msgspec, so that the ratios
hold on a slow or a busy machine too. Wall time, median over the moves.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from random import Random
from typing import TypeVar

import msgspec

from bench.conditions import Conditions
from tablesvc.dealing.dealer import deal
from tablesvc.engine.commands import Arrive, Claim, Command, Exchange, Pie, Place
from tablesvc.engine.decide import decide
from tablesvc.engine.dice import Dice
from tablesvc.engine.events import Event
from tablesvc.engine.evolve import evolve
from tablesvc.engine.frames import Frames, frames
from tablesvc.engine.legal import moves
from tablesvc.engine.opening import open_game
from tablesvc.engine.seats import BLUE, RED
from tablesvc.engine.settings import Deal, GameSettings, Player
from tablesvc.engine.state import State
from tablesvc.engine.views import view

VARIANTS: list[tuple[str, int, str, int, int]] = [
    ("bridge", 9, "regular", 30, 1),
    ("blitz", 6, "irregular", 10, 2),
    ("domains", 9, "irregular", 30, 1),
]
KNOWN = 0.8  # how often a player knows the right cell
STEPS = ("decide", "evolve", "frames", "move", "views", "json", "msgspec")
T = TypeVar("T")


class RandomDice:
    """Dice from a seeded generator."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def below(self, n: int, /) -> int:
        """See Dice."""
        return self._random.randrange(n)


class Stopwatch:
    """Microseconds of each step of each move."""

    def __init__(self) -> None:
        self.taken: dict[str, list[float]] = {step: [] for step in STEPS}

    def run(self, step: str, work: Callable[[], T]) -> T:
        """Does the work, notes the time."""
        started = time.perf_counter_ns()
        done = work()
        self.taken[step].append((time.perf_counter_ns() - started) / 1000)
        return done


def opening(variant: str, side: int, blocks: str, givens: int, price: int, seed: int, dice: Dice) -> State:
    """A fresh game with both players at the table."""
    dealt = deal(side, blocks, givens, seed)
    settings = GameSettings(variant, side, blocks, givens, price, True, True, 60_000, 900_000)
    dealt_here = Deal(dealt.blocks, dealt.solution, dealt.givens)
    state = evolve(None, open_game("bench", settings, Player("a", "A"), Player("b", "B"), dealt_here, 0, dice))
    for seat in (BLUE, RED):
        for event in decide(state, Arrive(seat), 0, dice):
            state = evolve(state, event)
    return state


def pick(state: State, random: Random) -> Command:
    """A move: a right placement where the player knows one, else anything legal."""
    field, position = state.table.field, state.position
    options = list(moves(field, position))
    right = [option for option in options if option[0] == "place" and field.solution[option[1] or 0] == option[2]]
    kind, cell, tile = random.choice(right if right and random.random() < KNOWN else options)
    by = position.to_move
    if kind == "place" and cell is not None and tile is not None:
        return Place(by, cell, tile)
    if kind == "claim" and cell is not None:
        return Claim(by, cell, tile)
    return Pie(by) if kind == "pie" else Exchange(by)


def play(state: State, random: Random, dice: Dice, watch: Stopwatch) -> int:
    """Plays a game to its end; returns the number of moves."""
    now = played = 0
    while not state.over:
        command = pick(state, random)
        now += random.randrange(50)
        played += 1
        before = state

        def deciding(state: State = before, command: Command = command, now: int = now) -> tuple[Event, ...]:
            return decide(state, command, now, dice)

        events = watch.run("decide", deciding)

        def evolving(state: State = before, events: tuple[Event, ...] = events) -> list[State]:
            states = []
            for event in events:
                state = evolve(state, event)
                states.append(state)
            return states

        states = watch.run("evolve", evolving)

        def framing(events: tuple[Event, ...] = events, states: list[State] = states) -> list[Frames | None]:
            return [frames("game", event, after) for event, after in zip(events, states, strict=True)]

        made = watch.run("frames", framing)
        watch.taken["move"].append(sum(watch.taken[step][-1] for step in ("decide", "evolve", "frames")))
        state = states[-1]

        def viewing(state: State = state, now: int = now) -> list[dict[str, object]]:
            return [view(state, seat, now) for seat in (BLUE, RED, None)]

        watch.run("views", viewing)
        shown = [frame for each in made if each is not None for frame in (each.blue, each.red, each.watch)]

        def with_json(shown: list[dict[str, object]] = shown) -> list[object]:
            return [json.loads(json.dumps(frame, separators=(",", ":"))) for frame in shown]

        def with_msgspec(shown: list[dict[str, object]] = shown) -> list[object]:
            return [msgspec.json.decode(msgspec.json.encode(frame)) for frame in shown]

        watch.run("json", with_json)
        watch.run("msgspec", with_msgspec)
    return played


def main(argv: list[str] | None = None) -> int:
    """Plays, measures, prints a table. Returns 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description="what the engine costs a move")
    parser.add_argument("--games", type=int, default=20, help="games of each variant (default 20)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    conditions = Conditions()
    print("microseconds a move, median (99th percentile); ratio: decide + evolve + frames / JSON round trip")
    print(f"{'variant':9}{'moves':>6}" + "".join(f"{step:>16}" for step in STEPS) + f"{'ratio json':>12}{'msgspec':>9}")
    for variant, side, blocks, givens, price in VARIANTS:
        watch, played = Stopwatch(), 0
        for game in range(max(1, args.games)):
            random = Random(f"{args.seed} {variant} {game}")
            dice = RandomDice(random)
            state = opening(variant, side, blocks, givens, price, args.seed + game, dice)
            played += play(state, random, dice, watch)
        middle = {step: statistics.median(taken) for step, taken in watch.taken.items()}
        high = {step: sorted(taken)[len(taken) * 99 // 100] for step, taken in watch.taken.items()}
        cells = "".join(f"{middle[step]:9.1f} ({high[step]:4.0f})" for step in STEPS)
        ratios = [middle["move"] / middle[step] for step in ("json", "msgspec")]
        print(f"{variant:9}{played:6}{cells}{ratios[0]:12.2f}{ratios[1]:9.2f}")
    print("\n" + conditions.line())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
