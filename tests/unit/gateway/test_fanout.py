"""Thousands who watch a list are told a slice at a time, and others have their turn in between."""

import asyncio
from collections.abc import Iterable

from gateway import fanout as module
from gateway.fanout import SLICE, Fanout
from gateway.ports import Watcher
from numbridge.tasks import Tasks

WHOLE = b"the whole list"


class Seen:
    """A watcher."""

    written = 0  # by all of them, since the loop has turned

    def __init__(self) -> None:
        self.texts: list[bytes] = []

    def on_lobby(self, texts: Iterable[bytes]) -> None:
        for text in texts:
            self.texts.append(text)
            Seen.written += 1


class Hall:
    """A list with watchers."""

    def __init__(self, count: int) -> None:
        self.seen = [Seen() for _ in range(count)]
        self.watchers: set[Watcher] = set(self.seen)
        self.tasks = Tasks()
        self.fanout = Fanout(self.watchers, lambda: WHOLE, self.tasks)

    async def told(self) -> int:
        """Waits until all is told; the most that was written without a turn for others."""
        most = Seen.written
        while len(self.tasks):
            Seen.written = 0
            await asyncio.sleep(0)  # somebody else's turn
            most = max(most, Seen.written)
        return most


async def test_ten_thousand_watchers_leave_turns_to_others() -> None:
    """However many watch, a match in between waits for one slice: each is told everything, in order."""
    hall = Hall(10_000)
    Seen.written = 0
    changes = [[b"1", b"2", b"3"], [b"4"], [b"5", b"6"]]
    for texts in changes:
        hall.fanout.tell(texts)
    assert Seen.written == 0
    most = await hall.told()
    assert 0 < most <= SLICE + 6
    assert all(one.texts == [b"1", b"2", b"3", b"4", b"5", b"6"] for one in hall.seen)


async def test_few_are_told_at_once() -> None:
    hall = Hall(3)
    hall.fanout.tell([b"1"])
    assert [one.texts for one in hall.seen] == [[b"1"]] * 3
    assert len(hall.tasks) == 0


async def test_who_comes_meanwhile_is_told_what_comes_after_and_who_goes_nothing_more() -> None:
    hall = Hall(1_000)
    hall.fanout.tell([b"1", b"2"])
    await asyncio.sleep(0)
    late = Seen()  # has got the whole list, with 1 and 2
    hall.watchers.add(late)
    gone = next(one for one in hall.seen if not one.texts)
    hall.watchers.discard(gone)
    hall.fanout.tell([b"3"])
    await hall.told()
    assert late.texts == [b"3"]
    assert gone.texts == []
    assert all(one.texts == [b"1", b"2", b"3"] for one in hall.seen if one is not gone)


async def test_too_much_to_tell_becomes_the_whole_list() -> None:
    hall = Hall(500)
    for number in range(module.MOST_TEXTS + 1):
        hall.fanout.tell([b"%d" % number])
    await hall.told()
    assert all(one.texts == [WHOLE] for one in hall.seen)
