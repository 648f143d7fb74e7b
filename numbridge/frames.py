"""Frames: what one kind of viewer is sent, as the JSON text that the socket carries.

A command may cause several events; they travel as one NATS message a seat, a
line an event: `<version> <JSON text>\\n`. Version 0 marks an event without one.
A gateway reads the numbers, never the text.
"""

from collections.abc import Iterable

Frame = tuple[int, bytes]


def pack(frames: Iterable[Frame]) -> bytes:
    """Payload of a `view.` message. JSON text holds no raw newline, so a newline ends a frame."""
    return b"".join(b"%d %s\n" % frame for frame in frames)


def unpack(payload: bytes) -> list[Frame]:
    """Frames of a payload, in order. Raises ValueError if it is not one."""
    frames: list[Frame] = []
    for line in payload.splitlines():
        number, space, text = line.partition(b" ")
        if not space or not number.isdigit():
            raise ValueError("not a frame")
        frames.append((int(number), text))
    return frames
