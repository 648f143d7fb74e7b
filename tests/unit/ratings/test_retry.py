"""Pauses between tries of a result."""

from ratings.consumer import RETRY_CAP_S, retry_delay


def test_pauses_grow_and_stop_growing() -> None:
    pauses = [retry_delay(deliveries) for deliveries in range(1, 12)]
    assert pauses[0] == 0.5
    assert pauses == sorted(pauses)
    assert pauses[-1] == RETRY_CAP_S
    assert retry_delay(10**9) == RETRY_CAP_S
