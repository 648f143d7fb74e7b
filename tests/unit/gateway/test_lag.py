"""Lag from pings."""

from gateway.session.lag import MAX_LAG_MS, SAMPLES, Lag


def round_trip(lag: Lag, at: float, seconds: float) -> None:
    payload = lag.ping(at, b"salt")
    assert lag.pong(payload, at + seconds)


def test_it_is_half_of_the_shortest_recent_round_trip() -> None:
    lag = Lag()
    assert lag.lag_ms == 0
    for seconds in (0.300, 0.080, 0.200):
        round_trip(lag, 10.0, seconds)
    assert lag.lag_ms == 40


def test_old_round_trips_are_forgotten() -> None:
    lag = Lag()
    round_trip(lag, 0.0, 0.010)
    for _ in range(SAMPLES):
        round_trip(lag, 1.0, 0.200)
    assert lag.lag_ms == 100


def test_it_is_capped() -> None:
    lag = Lag()
    round_trip(lag, 0.0, 30.0)
    assert lag.lag_ms == MAX_LAG_MS


def test_only_the_ping_under_way_is_answered() -> None:
    lag = Lag()
    first = lag.ping(0.0, b"one")
    assert not lag.pong(b"", 0.1)
    assert not lag.pong(b"1.two", 0.1)
    assert lag.pong(first, 0.1)
    assert not lag.pong(first, 0.2)  # a pong counts once
    assert not lag.waiting
    assert lag.last_s == 0.1
