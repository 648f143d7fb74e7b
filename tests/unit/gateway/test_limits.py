"""Token buckets."""

from gateway.session.limits import Bucket, Buckets, Rate


def test_a_burst_is_allowed_and_then_the_rate() -> None:
    bucket = Bucket(Rate(burst=3, per_minute=60), 100.0)
    assert [bucket.take(100.0) for _ in range(4)] == [0, 0, 0, 1000]
    assert bucket.take(100.5) == 500
    assert bucket.take(101.0) == 0
    assert bucket.take(101.0) == 1000


def test_a_refused_take_costs_nothing() -> None:
    bucket = Bucket(Rate(1, 60), 0.0)
    assert bucket.take(0.0) == 0
    for _ in range(50):
        assert bucket.take(0.9) > 0
    assert bucket.take(1.0) == 0


def test_it_never_holds_more_than_the_burst() -> None:
    bucket = Bucket(Rate(2, 60), 0.0)
    assert [bucket.take(10_000.0) for _ in range(3)] == [0, 0, 1000]


def test_a_clock_that_goes_back_gives_and_takes_nothing() -> None:
    bucket = Bucket(Rate(1, 60), 100.0)
    assert bucket.take(100.0) == 0
    assert bucket.take(40.0) == 1000


def test_waiting_tells_without_taking() -> None:
    bucket = Bucket(Rate(1, 60), 0.0)
    assert [bucket.wait(0.0), bucket.take(0.0), bucket.wait(0.0), bucket.wait(1.0)] == [0, 0, 1000, 0]


def test_keys_do_not_share() -> None:
    buckets = Buckets(Rate(1, 60))
    assert buckets.take("a", 0.0) == 0
    assert buckets.take("b", 0.0) == 0
    assert buckets.take("a", 0.0) == 1000
    assert buckets.peek("a", 0.0) == 1000
    assert buckets.peek("nobody", 0.0) == 0


def test_the_number_of_buckets_is_bounded() -> None:
    buckets = Buckets(Rate(1, 60), most=3)
    for key in "abcd":
        buckets.take(key, 0.0)
    assert len(buckets) == 3
    assert buckets.take("d", 0.0) > 0  # still known
    assert buckets.take("a", 0.0) == 0  # the longest unused was forgotten
