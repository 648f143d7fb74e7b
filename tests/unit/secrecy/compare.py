"""Runs a course in two worlds and holds against each other what others were given."""

from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random

from numbridge.names import SEATS
from tablesvc.engine.events import Event, Opened
from tablesvc.engine.seats import BLUE, RED
from tablesvc.engine.seats import Seat as Side
from tablesvc.works import Join, Play, Summary
from tests.unit.secrecy.course import IDS, NAMED, Course, play
from tests.unit.secrecy.flips import Loaded, other_field, other_tiles
from tests.unit.secrecy.hall import Hall, Tapped


class Leak(AssertionError):
    """Somebody was given something that depends on what is kept from him."""


@dataclass(slots=True)
class Tally:
    """What was looked at."""

    games: int = 0
    tile_flips: int = 0
    field_flips: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    """Messages held against each other, by the way out."""
    total_bytes: int = 0
    refused: int = 0


async def one_game(seed: int, tally: Tally) -> None:
    """One random game, with another tile in one hand and with another solution. Raises Leak."""
    random = Random(seed)
    owner: Side = random.choice((BLUE, RED))
    here, course = await play(random, owner)
    await _look_round(here)
    tally.games += 1
    tally.refused += course.refused
    try:
        tiles = other_tiles(course.events, owner, random)
        if tiles is not None:
            tally.tile_flips += 1
            await _hold(here, course, tiles, owner, tally)
        fields = other_field(course.events, random)
        if fields is not None:
            tally.field_flips += 1
            await _hold(here, course, fields, None, tally)
    except Leak as leak:
        raise Leak(f"seed {seed}: {leak}") from None
    finally:
        await here.close()


async def _hold(here: Hall, course: Course, events: list[Event], owner: Side | None, tally: Tally) -> None:
    there = await _again(course, events, owner)
    try:
        assert there.events() == events, "the other world went another way"
        own = None if owner is None else NAMED[owner]
        compare([tap for tap in here.taps if tap.who != own], [tap for tap in there.taps if tap.who != own], tally)
    finally:
        await there.close()


async def _again(course: Course, events: list[Event], owner: Side | None) -> Hall:
    """The course in the world of `events`."""
    opened = events[0]
    assert isinstance(opened, Opened)
    hall = Hall(opened, Loaded(events))
    for step in course.steps:
        hall.clock.now = step.at
        ask = step.ask
        if step.claim is not None and isinstance(ask, Play) and ask.tile is not None:
            ask = replace(ask, tile=events[step.claim].paid[0])  # type: ignore[union-attr]
        await hall.do(step.who, ask)
    await _look_round(hall)
    return hall


async def _look_round(hall: Hall) -> None:
    """In the end everybody looks at everything once more, from the first version on and as a whole."""
    for seat, player in zip(SEATS, (IDS[BLUE], IDS[RED], "eve"), strict=True):
        for since in (None, 0):
            await hall.do(seat, Join(player, since, arrive=False))
    await hall.do("watch", Summary())
    hall.measure()


def compare(here: list[Tapped], there: list[Tapped], tally: Tally) -> None:
    """Raises Leak at the first difference."""
    for one, other in zip(here, there, strict=False):
        if one != other:
            raise Leak(f"{one.where} to {one.who}: {_around(one.what, other.what)}")
        tally.compared[one.where] += 1
        tally.total_bytes += len(one.what)
    if len(here) != len(there):
        raise Leak(f"{len(here)} messages in one world, {len(there)} in the other")


def _around(one: bytes, other: bytes) -> str:
    """Both texts near their first difference."""
    at = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    start = max(0, at - 60)
    return f"{one[start : at + 60]!r} or {other[start : at + 60]!r}"
