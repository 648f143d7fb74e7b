"""The two sides of a table, as numbers (they index pairs) and as colours (they go out)."""

from typing import Final

Seat = int
"""RED or BLUE. Pairs such as hands and banks are indexed by it: `(red's, blue's)`."""

RED: Final = 0
BLUE: Final = 1
SEATS: Final = (RED, BLUE)

COLOR: Final = ("red", "blue")
"""Colour of a seat: `COLOR[seat]`."""

SEAT: Final = {"red": RED, "blue": BLUE}
"""Seat of a colour: `SEAT[color]`."""


def other(seat: Seat) -> Seat:
    """The opponent's seat."""
    return 1 - seat
