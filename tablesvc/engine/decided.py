"""What the rules leave open and this engine settles, each choice in one place.

A club that plays it otherwise changes a line here. Choices whose shape is code and not
a number name the function that makes them.
"""

from typing import Final

from tablesvc.engine.seats import BLUE

FIRST_MOVER: Final = BLUE
"""Blue moves first, and draws the opening hand first."""

MARK_MS: Final = 10_000
"""How long a miss leaves its red mark on the cell, in milliseconds."""

LAG_CREDIT_MS: Final = 500
"""The most that network lag is made good for, in milliseconds a move."""

NO_SHOW_MS: Final = 30_000
"""A player who has not come to the table this long after it was opened: the game ends `none`, `no_show`.

Until both have come the clock shows but charges nothing: nobody burns or loses on time, and a
turn finished meanwhile costs no bank. When the second player comes, the running turn starts afresh.
"""

PAIR_SIZE: Final = 2
"""Domains: moves in a turn."""

OPENING_MOVES: Final = 1
"""Domains: moves in the first turn of the game."""

PIE_VARIANTS: Final = frozenset({"bridge", "blitz"})
"""Variants with the pie rule; Domains has none."""

ADJOURN_CHARGES_TURN: Final = False
"""Banks are as they stood at the start of the turn in which the table was put away, and the move clock is full again
on resuming. (True takes the time used so far off the mover's bank.)"""

# Chosen in code:
#   position.apply       a digit that clashes with its row, column or block is a miss like any other;
#                        a burn or a pass ends the whole turn, and counts as no mistake
#   decide_move.claim    the second tile of a claim at price 2 is drawn evenly from the rest of the hand
#   legal.check_exchange an exchange is legal with an empty hand while the bag holds tiles
#   decide._ring         the move clock burns a turn while the bank holds time; an empty bank loses the game
#   decide_offer.offer   one open offer at a time, by the mover, once a turn (a whole pair in Domains)
#   ending.lapse         an open offer lapses at the next move, burn or pass, and at the end of the game
#   blocks.connected     a block hangs together by the six neighbours
#
# Not the engine's to make:
#   lobby.matching.settle.colors     a fair coin says who is blue
#   numbridge.rooms.givens_limits    a room's lower limit under 8 holds for irregular blocks alone
#   numbridge/rooms.toml             the rooms' clocks, those of Domains among them
