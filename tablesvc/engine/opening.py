"""A deal becomes a game."""

from tablesvc.engine.decided import FIRST_MOVER
from tablesvc.engine.dice import Dice
from tablesvc.engine.draw import draw
from tablesvc.engine.events import Opened
from tablesvc.engine.field import make_field
from tablesvc.engine.position import HAND_SIZE, full_bag, starting
from tablesvc.engine.seats import BLUE
from tablesvc.engine.settings import Deal, GameSettings, Player
from tablesvc.engine.state import State, Table


def open_game(
    room: str, settings: GameSettings, blue: Player, red: Player, deal: Deal, now_ms: int, dice: Dice
) -> Opened:
    """The first event of a game: draws both opening hands, the first mover's first. Trusts the deal."""
    bag = full_bag(make_field(settings, deal))
    first = draw(bag, min(HAND_SIZE, sum(bag)), dice)
    second = draw(bag, min(HAND_SIZE, sum(bag)), dice)
    blue_hand, red_hand = (first, second) if FIRST_MOVER == BLUE else (second, first)
    return Opened(room, settings, blue, red, deal, blue_hand, red_hand, now_ms)


def begin(opened: Opened) -> State:
    """The state that Opened describes: version 0, the clock running, nobody at the table yet."""
    settings = opened.settings
    field = make_field(settings, opened.deal)
    table = Table(opened.room, settings, opened.blue, opened.red, opened.deal, field, opened.at)
    return State(
        table=table,
        position=starting(field, opened.blue_hand, opened.red_hand),
        version=0,
        status="playing",
        banks=(settings.game_ms, settings.game_ms),
        turn_started_at=opened.at,
        waiting_since=opened.at,
        last_at=opened.at,
        arrived=(False, False),
        offer=None,
        offer_used=False,
        marks=(),
        last=None,
        result=None,
        reason=None,
        chain=(),
    )
