"""The fence, searched exhaustively: no schedule of two owners forks a game's history.

The model is the protocol of docs/ownership.md and nothing else: one game's log
whose server accepts an append only if the writer names the last sequence; two
workers that each may believe to own the game; a lease that may move at any
moment (also back, and whether or not the old owner has noticed); messages to
the log that arrive late; acknowledgements that are lost; a worker that dies and
comes back empty; two clients' commands, each sent again until answered, to
whomever.

Every reachable state within the bounds is visited. In each of them:

* an acknowledged command is in the log, once;
* no command is in the log twice;
* a worker that may serve has read everything that its next append will follow,
  or that append will be refused.

A worker without the fence (appends without naming a sequence) must fail the
same search: the checks can fail.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

COMMANDS = ("x", "y")
WORKERS = (0, 1)
MAX_TAKEOVERS = 3


class Append(NamedTuple):
    """An append on its way to the log."""

    writer: int
    incarnation: int
    expects: int
    entry: str


class Worker(NamedTuple):
    """What one worker believes. `seen` is the log as it knows it; None: it does not hold the table."""

    incarnation: int = 0
    seen: tuple[str, ...] | None = None
    serving: bool = False
    waits_for: str | None = None  # the entry whose append is under way


class World(NamedTuple):
    log: tuple[str, ...] = ()
    workers: tuple[Worker, Worker] = (Worker(), Worker())
    on_the_way: tuple[Append, ...] = ()
    acknowledged: frozenset[str] = frozenset()
    takeovers: int = 0
    crashes: int = 0


def replaced(world: World, number: int, worker: Worker, **changes: Any) -> World:
    pair = (worker, world.workers[1]) if number == 0 else (world.workers[0], worker)
    return world._replace(workers=pair, **changes)


def steps(world: World, fenced: bool) -> Iterator[tuple[str, World]]:
    for number in WORKERS:
        yield from worker_steps(world, number)
    for index, append in enumerate(world.on_the_way):
        yield from arrivals(world, index, append, fenced)


def worker_steps(world: World, number: int) -> Iterator[tuple[str, World]]:
    me = world.workers[number]
    # The lease comes to this worker: it reads the log and sends its takeover mark. The other may not know.
    if me.waits_for is None and not me.serving and world.takeovers < MAX_TAKEOVERS:
        mark = f"takeover{world.takeovers}"
        taking = me._replace(seen=world.log, waits_for=mark)
        append = Append(number, me.incarnation, len(world.log), mark)
        yield (
            f"worker {number} takes over",
            replaced(world, number, taking, on_the_way=(*world.on_the_way, append), takeovers=world.takeovers + 1),
        )
    if me.serving and me.seen is not None and me.waits_for is None:
        for command in COMMANDS:
            if command in me.seen:  # the ref was used: the first answer again
                yield f"worker {number} repeats {command}", world._replace(acknowledged=world.acknowledged | {command})
            else:
                append = Append(number, me.incarnation, len(me.seen), command)
                yield (
                    f"worker {number} appends {command}",
                    replaced(world, number, me._replace(waits_for=command), on_the_way=(*world.on_the_way, append)),
                )
    if me.waits_for is not None:
        yield f"worker {number} gives up waiting and reads the tail", settle(world, number)
    if world.crashes < 1 and me.seen is not None:
        gone = Worker(incarnation=me.incarnation + 1)
        yield f"worker {number} dies", replaced(world, number, gone, crashes=world.crashes + 1)


def settle(world: World, number: int) -> World:
    """An append whose fate is unknown: own entry at the tail means it counted, anything else means step down."""
    me = world.workers[number]
    entry = me.waits_for
    assert entry is not None
    assert me.seen is not None
    if world.log[len(me.seen) :] == (entry,):
        return accepted(world, number, entry)
    return replaced(world, number, Worker(incarnation=me.incarnation))


def accepted(world: World, number: int, entry: str) -> World:
    me = world.workers[number]
    assert me.seen is not None
    mine = me._replace(seen=(*me.seen, entry), waits_for=None, serving=True)
    told = world.acknowledged | {entry} if entry in COMMANDS else world.acknowledged
    return replaced(world, number, mine, acknowledged=told)


def arrivals(world: World, index: int, append: Append, fenced: bool) -> Iterator[tuple[str, World]]:
    rest = world.on_the_way[:index] + world.on_the_way[index + 1 :]
    yield f"an append of {append.writer} is lost", world._replace(on_the_way=rest)
    fits = append.expects == len(world.log) or not fenced
    landed = world._replace(on_the_way=rest, log=(*world.log, append.entry) if fits else world.log)
    yield f"{append.entry} of {append.writer} reaches the log, the answer is lost", landed
    me = world.workers[append.writer]
    if me.incarnation == append.incarnation and me.waits_for == append.entry:
        if fits:
            yield (
                f"{append.entry} of {append.writer} is in the log, and it knows",
                accepted(landed, append.writer, append.entry),
            )
        else:  # refused: perhaps an earlier try of the same landed; the tail decides
            yield f"{append.entry} of {append.writer} is refused", settle(landed, append.writer)


def wrong_with(world: World) -> str | None:
    if len(set(world.log)) != len(world.log):
        return "something is in the log twice"
    if not world.acknowledged <= set(world.log):
        return "an acknowledged command is not in the log"
    for number, me in enumerate(world.workers):
        if me.serving and me.seen is not None and world.log[: len(me.seen)] != me.seen:
            return f"worker {number} serves a history that is not the log's"
    return None


def search(fenced: bool) -> tuple[int, list[str] | None]:
    """Number of states visited, and the shortest schedule that goes wrong, if any."""
    start = World()
    came_from: dict[World, tuple[World, str] | None] = {start: None}
    queue = deque([start])
    while queue:
        world = queue.popleft()
        if (wrong := wrong_with(world)) is not None:
            story = [wrong]
            step = came_from[world]
            while step is not None:
                story.append(step[1])
                step = came_from[step[0]]
            return len(came_from), story[::-1]
        for label, following in steps(world, fenced):
            if following not in came_from:
                came_from[following] = (world, label)
                queue.append(following)
    return len(came_from), None


def test_no_schedule_forks_a_history() -> None:
    visited, story = search(fenced=True)
    assert story is None, "\n".join(story or [])
    assert visited > 10_000  # the search did go through a great many schedules


def test_without_the_fence_the_search_finds_a_fork() -> None:
    _, story = search(fenced=False)
    assert story is not None


@pytest.mark.parametrize("fenced", [True, False])
def test_the_model_reaches_what_it_is_about(fenced: bool) -> None:
    """Both commands acknowledged after two takeovers is among the states: the model is not stuck."""
    start = World()
    seen = {start}
    queue = deque([start])
    while queue:
        world = queue.popleft()
        if world.acknowledged == set(COMMANDS) and world.takeovers >= 2:
            return
        for _, following in steps(world, fenced):
            if following not in seen:
                seen.add(following)
                queue.append(following)
    pytest.fail("never both acknowledged")
