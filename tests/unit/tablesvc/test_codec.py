"""Engine events to protobuf and back: nothing is lost, whatever is in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablesvc import codec
from tablesvc.engine import events as ev
from tablesvc.engine.settings import Deal, GameSettings, Player

times = st.integers(0, 2**53)
seats = st.sampled_from([0, 1])
tiles = st.lists(st.integers(1, 9), max_size=3).map(tuple)
texts = st.text(max_size=20)
players = st.builds(Player, texts, texts, st.none() | st.integers(0, 4000))
settings = st.builds(
    GameSettings,
    variant=st.sampled_from(["bridge", "blitz", "domains"]),
    side=st.sampled_from([6, 9]),
    blocks=st.sampled_from(["regular", "irregular"]),
    givens=st.integers(1, 81),
    claim_price=st.sampled_from([1, 2]),
    highlight=st.booleans(),
    rated=st.booleans(),
    move_ms=st.integers(1, 10**9),
    game_ms=st.integers(1, 10**9),
)
opened = st.builds(
    ev.Opened, texts, settings, players, players, st.builds(Deal, texts, texts, texts), tiles, tiles, times
)
moved = st.builds(
    ev.Moved,
    kind=st.sampled_from(["place", "claim", "exchange", "pie", "burn", "pass"]),
    by=seats,
    cell=st.none() | st.integers(0, 80),
    tile=st.none() | st.integers(1, 9),
    hit=st.none() | st.booleans(),
    paid=tiles,
    drew=tiles,
    used_ms=times,
    at=times,
)
anything = st.one_of(
    opened,
    moved,
    st.builds(ev.Offered, st.sampled_from(["draw", "adjourn", "resume"]), seats, texts, times),
    st.builds(ev.Adjourned, times),
    st.builds(ev.Resumed, times),
    st.builds(ev.Ended, texts, texts, st.lists(st.integers(0, 80), max_size=12).map(tuple), times),
    st.builds(ev.Arrived, seats, times),
    st.builds(ev.TakenOver, times),
)


@given(st.lists(anything, max_size=4), texts, texts, st.integers(0, 2**40), st.integers(1, 2**40))
def test_records_come_back_as_they_were(
    events: list[ev.Event], ref: str, player: str, version: int, epoch: int
) -> None:
    data = codec.write_record("g", version, epoch, "run.1", 5, events, ref, player)
    record = codec.read_record(data)
    assert list(codec.events_of(record)) == events
    assert (record.game, record.version, record.epoch, record.append, record.at) == ("g", version, epoch, "run.1", 5)
    assert (record.ref, record.player) == (ref, player)


def test_what_is_no_record_is_damaged() -> None:
    with pytest.raises(codec.Damaged):
        codec.read_record(b"\xff\xff\xff")


def test_an_event_of_another_release_is_damaged() -> None:
    data = codec.write_record("g", 0, 1, "run.1", 5, [ev.TakenOver(1)])
    unknown = codec.read_record(data)
    unknown.events[0].Clear()
    with pytest.raises(codec.Damaged):
        codec.events_of(unknown)
