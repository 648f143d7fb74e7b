"""Order within a lane, none between lanes."""

from gateway.session.lanes import Lanes


def test_one_at_a_time_in_order() -> None:
    lanes: Lanes[int] = Lanes()
    assert lanes.enter("a", 1)
    assert not lanes.enter("a", 2)
    assert not lanes.enter("a", 3)
    assert lanes.enter("b", 4)
    assert lanes.load == 4
    assert lanes.leave("a") == 2
    assert lanes.leave("a") == 3
    assert lanes.leave("a") is None
    assert lanes.leave("b") is None
    assert lanes.load == 0
    assert lanes.enter("a", 5)
