import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbridge import frames, wire

events = st.builds(lambda n, text: (n, wire.event("move", text=text)), st.integers(0, 2**53), st.text())


@given(st.lists(events))
def test_frames_come_back_as_they_went(given_frames: list[frames.Frame]) -> None:
    assert frames.unpack(frames.pack(given_frames)) == given_frames


@pytest.mark.parametrize("payload", [b"x {}\n", b"{}\n", b"12\n", b"-1 {}\n"])
def test_what_is_no_frame_is_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match="not a frame"):
        frames.unpack(payload)
