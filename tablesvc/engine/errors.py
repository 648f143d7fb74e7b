"""Why the engine says no.

    EngineError
    ├── Refused                 a command; nothing has changed
    │   ├── GameOver            `over`
    │   ├── NotYourTurn         `not_your_turn`
    │   └── Illegal             `illegal`, with the rule
    └── RecordError
        ├── Malformed           a record that cannot be read
        └── IllegalRecord       a record that breaks a rule, with the ply

Refusals are judged in that order. `stale` is judged by the table, between GameOver and NotYourTurn: see
`decide.ignores_version`. No message ever holds a secret of the game.
"""


class EngineError(Exception):
    """Base of what this package raises on purpose."""


class Refused(EngineError):
    """A command that is not carried out. `str()` is a sentence for a person."""

    code = "illegal"
    """The protocol's error code."""


class GameOver(Refused):
    """The game has ended."""

    code = "over"

    def __init__(self) -> None:
        super().__init__("the game is over")


class NotYourTurn(Refused):
    """The other player is to move."""

    code = "not_your_turn"

    def __init__(self) -> None:
        super().__init__("it is the other player's turn")


class Illegal(Refused):
    """Against the rules; the message names the rule."""

    @property
    def rule(self) -> str:
        """The rule that was broken."""
        return str(self)


class RecordError(EngineError):
    """Base of what is wrong with records."""


class Malformed(RecordError):
    """Not a record at all: its shape is wrong. `str()` says where and what."""


class IllegalRecord(RecordError):
    """Well-formed, but against the rules.

    `ply` is the number of the move (from 1), 0 for the deal and the opening hands; `rule` the rule broken.
    """

    def __init__(self, ply: int, rule: str) -> None:
        super().__init__(f"ply {ply}: {rule}")
        self.ply = ply
        self.rule = rule
