"""Games that the tests speak of."""

GAME = "07-0123456789abcdef"
OTHER_GAME = "08-0123456789abcdef"
UNKNOWN_GAME = "09-0123456789abcdef"
