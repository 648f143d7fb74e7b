"""Clocks: banks, burns, losses on time, no-shows, lag, takeovers, adjournments."""

import pytest

from tablesvc.engine.clock import deadline, turn_ends_at
from tablesvc.engine.commands import Accept, Arrive, EndByOperator, Exchange, Offer, Resign, Resume, TakeOver, Tick
from tablesvc.engine.decided import LAG_CREDIT_MS, NO_SHOW_MS
from tablesvc.engine.errors import GameOver
from tablesvc.engine.events import Arrived, Ended, Moved, TakenOver
from tablesvc.engine.seats import BLUE, RED
from tablesvc.engine.views import view
from tests.unit.engine.playing import START, Game


def moved(events: object) -> Moved:
    assert isinstance(events, tuple)
    (event,) = events
    assert isinstance(event, Moved)
    return event


def ended(events: object) -> Ended:
    assert isinstance(events, tuple)
    (event,) = events
    assert isinstance(event, Ended)
    return event


def test_time_used_comes_off_the_movers_bank() -> None:
    game = Game("bridge", "nine-a")
    game.now += 1234
    assert moved(game.do(game.miss())).used_ms == 1234
    assert game.state.banks == (900_000, 900_000 - 1234)
    game.now += 10
    assert moved(game.do(game.miss())).used_ms == 10
    assert game.state.banks == (900_000 - 10, 900_000 - 1234)


def test_the_deadline_is_the_earlier_of_move_limit_and_bank() -> None:
    game = Game("bridge", "nine-a", move_ms=1000, game_ms=1700)
    assert deadline(game.state) == START + 1000
    game.now += 900
    game.do(game.miss())
    game.do(game.miss())
    assert deadline(game.state) == game.now + 800


def test_the_turn_burns_at_the_move_limit_and_not_before() -> None:
    game = Game("bridge", "nine-a")
    game.now += 59_999
    assert game.do(Tick()) == ()
    game.now += 1
    burn = moved(game.do(Tick()))
    assert (burn.kind, burn.by, burn.used_ms, burn.at) == ("burn", BLUE, 60_000, game.now)
    assert game.state.banks[BLUE] == 840_000
    assert game.state.position.mistakes == (0, 0)
    assert game.mover == RED


def test_a_late_tick_burns_once_and_the_next_turn_starts_with_it() -> None:
    game = Game("bridge", "nine-a")
    game.now += 200_000
    assert moved(game.do(Tick())).used_ms == 60_000
    assert game.do(Tick()) == ()
    assert deadline(game.state) == game.now + 60_000


def test_an_empty_bank_loses_on_time() -> None:
    game = Game("bridge", "nine-a", move_ms=1000, game_ms=1500)
    game.now += 1000
    assert moved(game.do(Tick())).kind == "burn"
    game.do(game.miss())
    assert deadline(game.state) == game.now + 500
    game.now += 499
    assert game.do(Tick()) == ()
    game.now += 1
    assert (ended(game.do(Tick())).result, game.state.reason) == ("red", "time")
    assert game.state.banks == (1500, 0)
    assert deadline(game.state) is None
    assert game.do(Tick()) == ()


def test_a_move_limit_that_takes_the_last_of_the_bank_loses() -> None:
    game = Game("bridge", "nine-a", move_ms=1000, game_ms=1000)
    game.now += 1000
    assert ended(game.do(Tick())).reason == "time"


def test_lag_is_made_good_up_to_its_limit() -> None:
    game = Game("bridge", "nine-a")
    game.now += 60_000 + LAG_CREDIT_MS - 1
    assert game.do(Tick(), lag_ms=5_000) == ()
    move = moved(game.do(game.miss(), lag_ms=5_000))
    assert (move.used_ms, move.at) == (59_999, game.now)
    assert deadline(game.state) == game.now + 60_000
    game.now += 60_000 + LAG_CREDIT_MS
    assert moved(game.do(Tick(), lag_ms=5_000)).kind == "burn"


def test_lag_never_makes_a_move_cost_less_than_nothing() -> None:
    game = Game("bridge", "nine-a")
    game.now += 100
    assert moved(game.do(game.miss(), lag_ms=400)).used_ms == 0


def test_time_never_runs_backwards() -> None:
    game = Game("bridge", "nine-a")
    game.now -= 5_000
    move = moved(game.do(game.miss()))
    assert (move.used_ms, move.at) == (0, START)


def test_nobody_burns_until_both_have_come() -> None:
    game = Game("bridge", "nine-a", arrived=False, move_ms=1000, game_ms=3000)
    assert deadline(game.state) == START + NO_SHOW_MS
    assert turn_ends_at(game.state) == START + 1000
    game.do(Arrive(BLUE))
    game.now += 20_000
    assert game.do(Tick()) == ()
    assert moved(game.do(game.miss())).used_ms == 0
    assert game.state.banks == (3000, 3000)
    game.now += 5_000
    game.do(Arrive(RED))
    assert deadline(game.state) == game.now + 1000
    game.now += 600
    assert moved(game.do(game.miss())).used_ms == 600


def test_who_does_not_come_ends_the_game_unrated() -> None:
    game = Game("bridge", "nine-a", arrived=False)
    game.do(Arrive(RED))
    game.now += NO_SHOW_MS - 1
    assert game.do(Tick()) == ()
    game.now += 1
    end = ended(game.do(Tick()))
    assert (end.result, end.reason) == ("none", "no_show")


def test_an_arrival_counts_once() -> None:
    game = Game("bridge", "nine-a", arrived=False)
    assert [type(event) for event in game.do(Arrive(BLUE))] == [Arrived]
    game.now += 5
    assert game.do(Arrive(BLUE)) == ()
    game.do(Arrive(RED))
    assert game.state.turn_started_at == game.now
    game.now += 5
    assert game.do(Arrive(RED)) == ()
    game.do(Resign(RED))
    assert game.do(Arrive(RED)) == ()


def test_a_takeover_gives_the_lost_time_back() -> None:
    game = Game("bridge", "nine-a")
    game.now += 10_000
    game.do(Offer(BLUE, "draw"))
    game.now += 45_000  # of which the table saw nothing
    assert [type(event) for event in game.do(TakeOver())] == [TakenOver]
    assert deadline(game.state) == game.now + 50_000
    game.now += 1_000
    assert next(event for event in game.do(game.miss()) if isinstance(event, Moved)).used_ms == 11_000


def test_a_takeover_gives_the_wait_for_players_back() -> None:
    game = Game("bridge", "nine-a", arrived=False)
    game.now += 100_000
    game.do(TakeOver())
    assert deadline(game.state) == game.now + NO_SHOW_MS


def test_a_takeover_of_a_finished_game_changes_nothing_that_shows() -> None:
    game = Game("bridge", "nine-a")
    game.do(Resign(BLUE))
    before = view(game.state, None, game.now)
    assert len(game.do(TakeOver())) == 1
    assert view(game.state, None, game.now) == before
    with pytest.raises(GameOver):
        game.do(EndByOperator())


def test_adjourning_leaves_the_banks_as_they_were_and_resuming_gives_a_full_move_clock() -> None:
    game = Game("bridge", "nine-a")
    game.now += 20_000
    game.do(Offer(BLUE, "adjourn"))
    game.now += 10_000
    game.do(Accept(RED, "adjourn"))
    assert game.state.banks == (900_000, 900_000)
    assert deadline(game.state) is None
    game.now += 3 * 86_400_000
    assert game.do(Tick()) == ()
    game.do(TakeOver())
    game.do(Resume(RED))
    game.do(Resume(BLUE))
    assert game.mover == BLUE
    assert game.state.banks == (900_000, 900_000)
    assert deadline(game.state) == game.now + 60_000


def test_the_view_shows_the_clock_as_it_stood_at_the_start_of_the_turn() -> None:
    game = Game("bridge", "nine-a")

    def shown() -> tuple[object, ...]:
        clock = view(game.state, None, game.now)["clock"]
        assert isinstance(clock, dict)
        assert list(clock) == ["blue_ms", "red_ms", "deadline_at", "running"]
        return tuple(clock.values())

    game.now += 5_000
    assert shown() == (900_000, 900_000, START + 60_000, True)
    game.do(Exchange(BLUE))
    assert shown() == (895_000, 900_000, game.now + 60_000, True)
    game.do(Offer(RED, "adjourn"))
    game.do(Accept(BLUE, "adjourn"))
    assert shown() == (895_000, 900_000, None, False)
