"""What the watchers of a list hear."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry

from lobby import seek_list
from lobby.metrics import Metrics
from lobby.ports import Notice
from lobby.seek_list import SeekList
from tests.unit.lobby.builders import stored_seek


class Ears:
    """Remembers marks and deltas in the order they came."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, int, int]] = []
        self.away = False

    async def mark(self, room: str, run: str, seq: int) -> None:
        if self.away:
            raise ConnectionError
        self.heard.append(("mark", run, seq, 0))

    async def tell(self, notices: Sequence[Notice]) -> None:
        raise AssertionError("a list tells no single player")

    async def delta(self, room: str, run: str, seq: int, events: Sequence[bytes]) -> None:
        self.heard.append(("delta", run, seq, len(events)))

    async def ask_seats(self) -> None:
        raise AssertionError("a list asks nobody")


def made() -> tuple[SeekList, Ears, CollectorRegistry]:
    ears, registry = Ears(), CollectorRegistry()
    return SeekList("bridge", ears.mark, ears, Metrics(registry), 0.25), ears, registry


async def test_a_mark_is_written_before_its_delta_goes_out() -> None:
    listed, ears, _ = made()
    await listed.send()
    listed.added(stored_seek("s-1", "ada"))
    listed.removed("s-1")
    await listed.send()
    run = ears.heard[0][1]
    assert ears.heard == [("mark", run, 1, 0), ("delta", run, 1, 0), ("mark", run, 2, 0), ("delta", run, 2, 2)]


async def test_a_delta_goes_out_even_if_the_mark_cannot_be_written() -> None:
    listed, ears, _ = made()
    ears.away = True
    listed.removed("s-1")
    await listed.send()
    assert [(kind, seq, events) for kind, _, seq, events in ears.heard] == [("delta", 1, 1)]


async def test_too_much_at_once_begins_a_new_run() -> None:
    listed, ears, registry = made()
    await listed.send()
    for number in range(seek_list.MOST_EVENTS + 1):
        listed.removed(f"s-{number}")
    listed.removed("s-last")
    await listed.send()
    first, last = ears.heard[0], ears.heard[-1]
    assert first[1] != last[1]
    assert last[2:] == (1, 1)
    assert registry.get_sample_value("numbridge_lobby_overflow_total", {"queue": "seek_list"}) == 1
