"""Questions that wait go out together."""

import asyncio
from collections.abc import Sequence

import pytest

from numbridge.together import Together, TooMany


class Place:
    """Answers with ten times the question, once it may."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.may = asyncio.Event()
        self.fault: Exception | None = None

    async def __call__(self, questions: Sequence[int]) -> Sequence[int]:
        self.calls.append(list(questions))
        await self.may.wait()
        if self.fault is not None:
            raise self.fault
        return [10 * question for question in questions]


def asking(lane: "Together[int, int]", *questions: int) -> "list[asyncio.Task[int]]":
    return [asyncio.create_task(lane.ask(question)) for question in questions]


async def turn() -> None:
    """Everything that can go on does."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_the_first_goes_at_once_and_those_who_come_meanwhile_go_together() -> None:
    place = Place()
    lane: Together[int, int] = Together(place, most=3, in_flight=1, waiting=10)
    first = asking(lane, 1)
    await turn()
    others = asking(lane, 2, 3, 4, 5)
    await turn()
    assert place.calls == [[1]]
    place.may.set()
    assert await asyncio.gather(*first, *others) == [10, 20, 30, 40, 50]
    assert place.calls == [[1], [2, 3, 4], [5]]


async def test_several_calls_may_be_under_way() -> None:
    place = Place()
    lane: Together[int, int] = Together(place, most=3, in_flight=2, waiting=10)
    tasks = []
    for question in (1, 2, 3, 4):
        tasks += asking(lane, question)
        await turn()
    assert place.calls == [[1], [2]]
    place.may.set()
    assert await asyncio.gather(*tasks) == [10, 20, 30, 40]
    assert place.calls == [[1], [2], [3, 4]]


async def test_a_failed_call_fails_each_of_its_questions_and_the_next_goes() -> None:
    place = Place()
    lane: Together[int, int] = Together(place, most=3, in_flight=1, waiting=10)
    place.fault = OSError("away")
    place.may.set()
    outcomes = await asyncio.gather(*asking(lane, 1, 2), return_exceptions=True)
    assert all(isinstance(outcome, OSError) for outcome in outcomes)
    place.fault = None
    assert await lane.ask(3) == 30


async def test_too_many_are_refused_and_who_has_gone_is_not_asked_for() -> None:
    place = Place()
    lane: Together[int, int] = Together(place, most=5, in_flight=1, waiting=2)
    [first] = asking(lane, 1)
    await turn()
    waiting = asking(lane, 2, 3)
    await turn()
    with pytest.raises(TooMany):
        await lane.ask(4)
    waiting[0].cancel()
    await turn()
    place.may.set()
    assert (await first, await waiting[1]) == (10, 30)
    assert place.calls == [[1], [3]]


async def test_closing_cancels_those_who_wait() -> None:
    place = Place()
    lane: Together[int, int] = Together(place, most=1, in_flight=1, waiting=10)
    tasks = asking(lane, 1, 2)
    await turn()
    await lane.close()
    assert all(isinstance(one, asyncio.CancelledError) for one in await asyncio.gather(*tasks, return_exceptions=True))
