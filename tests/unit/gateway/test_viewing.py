"""Tables of one client: joining, gaps, slow readers, leaving."""

import pytest

from gateway.session import effects as fx
from gateway.session.machine import CLOSE_SLOW, Limits
from numbridge import wire
from tests.unit.gateway.talking import Talker, frame, run, state


def end(version: int) -> fx.Archived:
    return fx.Archived(version, wire.event("state", game="g", version=version))


def test_join_looks_tunes_and_only_then_catches_up() -> None:
    talk = Talker()
    talk.client(op="join", game="g", ref="j")
    assert talk.pending(fx.Look) == fx.Look("g")
    talk.answer(fx.Look, fx.Seated("blue"))
    assert talk.pending(fx.Tune) == fx.Tune("g", "blue")
    talk.frames("g", 1)  # the subscription is in force before the worker is asked
    talk.answer(fx.Tune, fx.Done())
    assert talk.pending(fx.Catch) == fx.Catch("g", "blue", None, arrive=True)
    talk.frames("g", 2)
    assert talk.said == []
    talk.answer(fx.Catch, state("g", 1))
    assert talk.said[0] == {"ev": "ok", "ref": "j"}
    assert talk.heard() == ["ok", "state 1", "move 2"]
    talk.frames("g", 3, 4)
    assert talk.heard() == ["move 3", "move 4"]


def test_join_with_since_gets_the_run_after_it() -> None:
    talk = Talker()
    talk.client(op="join", game="g", since=3)
    talk.answer(fx.Look, fx.Seated("watch"))
    talk.answer(fx.Tune, fx.Done())
    assert talk.pending(fx.Catch).since == 3
    talk.answer(fx.Catch, run("g", 4, 5))
    assert talk.heard() == ["ok", "move 4", "move 5"]


def test_joining_again_asks_the_worker_alone() -> None:
    talk = Talker()
    talk.join("g", "red", 4)
    talk.client(op="join", game="g", since=2)
    talk.frames("g", 5)
    assert talk.pending(fx.Catch) == fx.Catch("g", "red", 2, arrive=True)
    talk.answer(fx.Catch, run("g", 3, 4, 5))
    assert talk.heard() == ["ok", "move 3", "move 4", "move 5"]
    assert talk.untuned == []


@pytest.mark.parametrize("step", ["look", "tune", "catch"])
def test_a_join_that_is_refused_leaves_nothing_behind(step: str) -> None:
    talk = Talker()
    talk.client(op="join", game="g", ref="j")
    refusal = fx.Refusal("unavailable", "away")
    if step == "look":
        talk.answer(fx.Look, refusal)
    else:
        talk.answer(fx.Look, fx.Seated("watch"))
        talk.answer(fx.Tune, refusal if step == "tune" else fx.Done())
        if step == "catch":
            talk.answer(fx.Catch, refusal)
    assert talk.heard() == ["error unavailable"]
    assert talk.session.tables.views == {}
    assert talk.untuned == ([] if step == "look" else ["g"])
    talk.join("g")  # and it may be tried again


def test_who_is_at_a_table_stays_there_when_another_join_is_refused() -> None:
    talk = Talker()
    talk.join("g", version=1)
    talk.client(op="join", game="g", ref="j", since=1)
    talk.answer(fx.Catch, fx.Refusal("unavailable", "away"))
    assert talk.heard() == ["error unavailable"]
    assert talk.untuned == []
    talk.frames("g", 2)
    assert talk.heard() == ["move 2"]
    talk.take(talk.session.tick())
    talk.answer(fx.Catch, run("g", 2, 2))
    assert talk.heard() == []


def test_a_finished_table_comes_from_the_archive() -> None:
    talk = Talker()
    talk.client(op="join", game="g")
    talk.answer(fx.Look, end(9))
    assert talk.heard() == ["ok", "state 9"]
    assert talk.session.tables.views == {}
    talk.client(op="join", game="g", since=9)
    talk.answer(fx.Look, end(9))
    assert talk.heard() == ["ok"]


def test_a_table_that_is_archived_while_it_is_joined() -> None:
    talk = Talker()
    talk.client(op="join", game="g")
    talk.answer(fx.Look, fx.Seated("watch"))
    talk.answer(fx.Tune, fx.Done())
    talk.answer(fx.Catch, end(9))
    assert talk.heard() == ["ok", "state 9"]
    assert talk.untuned == ["g"]


def test_a_gap_is_filled_without_the_client_noticing() -> None:
    talk = Talker()
    talk.join("g", "blue", 1)
    talk.frames("g", 4)
    assert talk.heard() == []
    assert talk.pending(fx.Catch) == fx.Catch("g", "blue", 1, arrive=False)
    talk.frames("g", 5)
    talk.answer(fx.Catch, run("g", 2, 3, 4))
    assert talk.heard() == ["move 2", "move 3", "move 4", "move 5"]


def test_after_a_loss_every_table_is_asked_once() -> None:
    talk = Talker()
    talk.join("g", version=1)
    talk.join("h", version=5)
    talk.take(talk.session.resync())
    talk.take(talk.session.resync())  # while asking: one more question afterwards, not two at once
    assert [ask.request for ask in talk.asked] == [
        fx.Catch("g", "watch", 1, arrive=False),
        fx.Catch("h", "watch", 5, arrive=False),
    ]
    talk.answer(fx.Catch, run("g", 2))
    assert talk.asked[-1].request == fx.Catch("g", "watch", 2, arrive=False)


def test_one_tables_loss_asks_about_that_table() -> None:
    talk = Talker()
    talk.join("g")
    talk.join("h")
    talk.take(talk.session.resync("h"))
    assert [ask.request for ask in talk.asked] == [fx.Catch("h", "watch", 0, arrive=False)]
    talk.take(talk.session.resync("elsewhere"))
    assert len(talk.asked) == 1


def test_a_question_that_is_refused_is_asked_again_later() -> None:
    talk = Talker()
    talk.join("g", version=1)
    talk.frames("g", 3)
    talk.answer(fx.Catch, fx.Refusal("unavailable", "away"))
    assert talk.heard() == []  # the client did not ask, so it hears nothing of it
    assert talk.asked == []
    talk.take(talk.session.tick())
    talk.answer(fx.Catch, run("g", 2, 3))
    assert talk.heard() == ["move 2", "move 3"]
    talk.take(talk.session.tick())
    assert talk.asked == []


def test_a_table_that_ends_in_the_archive_during_a_loss() -> None:
    talk = Talker()
    talk.join("g", version=7)
    talk.take(talk.session.resync())
    talk.answer(fx.Catch, end(9))
    assert talk.heard() == ["state 9"]
    assert talk.untuned == ["g"]


def test_a_clients_join_overtakes_a_question_of_our_own() -> None:
    """1. a gap asks unasked; 2. the client joins anew from 0; 3. the old answer comes: it must not be shown."""
    talk = Talker()
    talk.join("g", version=1)
    talk.frames("g", 3)
    talk.client(op="join", game="g", since=0)
    assert len(talk.asked) == 2
    talk.answer(fx.Catch, run("g", 2, 3))
    assert talk.heard() == []
    talk.answer(fx.Catch, run("g", 1, 2, 3))
    assert talk.heard() == ["ok", "move 1", "move 2", "move 3"]


def test_leaving_ends_the_frames() -> None:
    talk = Talker()
    talk.join("g")
    talk.client(op="leave", game="g")
    assert talk.untuned == ["g"]
    talk.frames("g", 1)
    assert talk.heard() == ["ok"]
    talk.client(op="leave", game="g")
    assert talk.heard() == ["ok"]  # leaving twice is fine


def test_leaving_while_a_question_is_under_way() -> None:
    talk = Talker()
    talk.join("g", version=1)
    talk.frames("g", 3)
    talk.client(op="leave", game="g")
    talk.answer(fx.Catch, run("g", 2, 3))
    assert talk.heard() == ["ok"]


def test_leave_right_after_join_waits_for_it() -> None:
    talk = Talker()
    talk.client(op="join", game="g")
    talk.client(op="leave", game="g")
    talk.answer(fx.Look, fx.Seated("watch"))
    talk.answer(fx.Tune, fx.Done())
    talk.answer(fx.Catch, state("g", 0))
    assert talk.heard() == ["ok", "state 0", "ok"]
    assert talk.untuned == ["g"]


def test_a_slow_watcher_gets_a_fresh_state_once_he_has_caught_up() -> None:
    talk = Talker()
    talk.join("g", version=1)
    talk.take(talk.session.lagging())
    talk.frames("g", 2, 3)
    talk.take(talk.session.resync())
    assert talk.heard() == []
    assert talk.asked == []
    talk.take(talk.session.drained())
    assert talk.pending(fx.Catch) == fx.Catch("g", "watch", None, arrive=False)
    talk.frames("g", 4)
    talk.answer(fx.Catch, state("g", 3))
    assert talk.heard() == ["state 3", "move 4"]


def test_a_watcher_who_slows_down_while_the_worker_is_asked() -> None:
    talk = Talker()
    talk.join("g", version=1)
    talk.frames("g", 3)
    talk.take(talk.session.lagging())
    talk.take(talk.session.drained())
    talk.answer(fx.Catch, run("g", 2, 3))
    assert talk.heard() == []
    assert talk.pending(fx.Catch).since is None
    talk.answer(fx.Catch, state("g", 3))
    assert talk.heard() == ["state 3"]


def test_a_slow_watcher_who_joins_another_table_gets_its_state_later() -> None:
    talk = Talker()
    talk.join("g")
    talk.take(talk.session.lagging())
    talk.client(op="join", game="h", ref="h")
    talk.answer(fx.Look, fx.Seated("watch"))
    talk.answer(fx.Tune, fx.Done())
    talk.answer(fx.Catch, state("h", 2))
    assert talk.heard() == ["ok"]
    talk.take(talk.session.drained())
    talk.answer(fx.Catch, state("g", 0))
    talk.answer(fx.Catch, state("h", 2))
    assert talk.heard() == ["state 0", "state 2"]


def test_a_slow_player_is_closed_with_a_reason() -> None:
    talk = Talker()
    talk.join("g", "red")
    talk.take(talk.session.lagging())
    assert [close.code for close in talk.closes] == [CLOSE_SLOW]
    assert "since" in talk.closes[0].reason


def test_the_number_of_tables_is_limited() -> None:
    talk = Talker(Limits(games=2))
    talk.join("g")
    talk.join("h")
    talk.client(op="join", game="i")
    assert talk.said[0]["retry_ms"] > 0
    assert talk.heard() == ["error limit"]
    talk.client(op="join", game="g")  # where it is already, it may join again
    talk.answer(fx.Catch, state("g", 0))
    assert talk.heard() == ["ok", "state 0"]
    talk.client(op="leave", game="h")
    talk.heard()
    talk.join("i")


def test_a_socket_that_goes_takes_all_its_tables_along() -> None:
    talk = Talker()
    talk.join("g")
    talk.join("h")
    talk.take(talk.session.closed())
    assert sorted(talk.untuned) == ["g", "h"]
    talk.frames("g", 1)
    assert talk.said == []


def test_frames_of_a_table_that_is_not_viewed_are_dropped() -> None:
    talk = Talker()
    talk.take(talk.session.frames("g", [frame("g", 1)]))
    assert talk.said == []
