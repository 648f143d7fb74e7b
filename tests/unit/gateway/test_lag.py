"""Lag from pings."""

from gateway.session.lag import MAX_LAG_MS, SAMPLES, SILENT_S, TCP_SLACK_S, Lag


def round_trip(lag: Lag, at: float, seconds: float) -> None:
    payload = lag.ping(at, b"salt")
    assert lag.pong(payload, at + seconds)


def test_it_is_half_of_the_shortest_recent_round_trip() -> None:
    lag = Lag()
    assert lag.lag_ms(0.0) == 0
    for seconds in (0.300, 0.080, 0.200):
        round_trip(lag, 10.0, seconds)
    assert lag.lag_ms(11.0) == 40


def test_old_round_trips_are_forgotten() -> None:
    lag = Lag()
    round_trip(lag, 0.0, 0.010)
    for _ in range(SAMPLES):
        round_trip(lag, 1.0, 0.200)
    assert lag.lag_ms(2.0) == 100


def test_it_is_capped() -> None:
    lag = Lag()
    round_trip(lag, 0.0, 30.0)
    assert lag.lag_ms(40.0) == MAX_LAG_MS


def test_only_the_ping_under_way_is_answered() -> None:
    lag = Lag()
    first = lag.ping(0.0, b"one")
    assert not lag.pong(b"", 0.1)
    assert not lag.pong(b"1.two", 0.1)
    assert lag.pong(first, 0.1)
    assert not lag.pong(first, 0.2)  # a pong counts once
    assert not lag.waiting
    assert lag.last_s == 0.1


def test_pongs_that_are_held_back_gain_little_where_tcp_has_measured_the_way() -> None:
    lag = Lag()
    for number in range(SAMPLES):
        round_trip(lag, number * 5.0, 1.0)
    lag.bound(0.020)
    assert lag.lag_ms(30.0) == round((0.020 + TCP_SLACK_S) * 500)
    lag.bound(0.400)
    assert lag.lag_ms(30.0) == 225
    lag.bound(None)
    assert lag.lag_ms(30.0) == MAX_LAG_MS


def test_tcp_takes_nothing_from_who_answers_at_once() -> None:
    lag = Lag()
    round_trip(lag, 0.0, 0.200)
    lag.bound(0.210)
    assert lag.lag_ms(1.0) == 100


def test_a_ping_without_an_answer_ends_the_credit_until_one_is_answered() -> None:
    lag = Lag()
    round_trip(lag, 0.0, 0.300)
    payload = lag.ping(5.0, b"salt")
    assert lag.lag_ms(5.0 + SILENT_S) == 150
    assert lag.lag_ms(5.1 + SILENT_S) == 0
    assert lag.pong(payload, 20.0)
    assert lag.lag_ms(20.0) == 150
