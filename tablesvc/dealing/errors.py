"""What dealing can refuse.

DealingError
├── BadLayout     the block string is no division of the field
├── NoSuchDeal    proven: no such deal exists, or the numbers make no sense
├── CannotDeal    looked for within the step limits and not found
└── Undecided     a bounded search used up its steps before it knew
"""


class DealingError(Exception):
    """Base of everything this package raises on purpose."""


class BadLayout(DealingError):
    """The block string does not name n different letters n times each."""


class NoSuchDeal(DealingError):
    """No deal of this kind exists; asking again with another seed is of no use."""


class CannotDeal(DealingError):
    """No deal was found within the limits; another seed may find one, or the setting is too hard."""


class Undecided(DealingError):
    """A search with a step limit ran out of steps; nothing is known about the answer."""
