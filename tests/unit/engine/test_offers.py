"""Resigning, draws, adjournments; who may say what, and in which order refusals are judged."""

import pytest

from tablesvc.engine.commands import (
    Accept,
    Arrive,
    Claim,
    Command,
    Decline,
    EndByOperator,
    Exchange,
    Offer,
    Pie,
    Place,
    Resign,
    Resume,
    TakeOver,
    Tick,
)
from tablesvc.engine.decide import ignores_version
from tablesvc.engine.errors import GameOver, Illegal, NotYourTurn
from tablesvc.engine.events import Adjourned, Ended, Event, Moved, Offered, Resumed
from tablesvc.engine.seats import BLUE, RED
from tests.unit.engine.playing import Game, empty_cells, late


def told(events: tuple[Event, ...]) -> list[str]:
    """The events in short."""
    short = []
    for event in events:
        match event:
            case Offered():
                short.append(f"{event.kind} {event.state}")
            case Moved():
                short.append(event.kind)
            case Ended():
                short.append(f"{event.result} by {event.reason}")
            case _:
                short.append(type(event).__name__.lower())
    return short


@pytest.fixture
def game() -> Game:
    return Game("bridge", "nine-a")


def test_resigning_is_possible_on_any_turn(game: Game) -> None:
    assert told(game.do(Resign(RED))) == ["blue by resign"]
    assert game.state.to_move is None


def test_a_draw_is_agreed(game: Game) -> None:
    (offer,) = game.do(Offer(BLUE, "draw"))
    assert isinstance(offer, Offered)
    assert (offer.by, offer.state) == (BLUE, "open")
    events = game.do(Accept(RED, "draw"))
    assert told(events) == ["draw accepted", "draw by agreement"]
    assert isinstance(events[0], Offered)
    assert events[0].by == BLUE


def test_a_declined_offer_is_gone_and_was_the_turns_only_one(game: Game) -> None:
    game.do(Offer(BLUE, "draw"))
    assert told(game.do(Decline(RED, "draw"))) == ["draw declined"]
    for kind in ("draw", "adjourn"):
        with pytest.raises(Illegal, match="in a turn"):
            game.do(Offer(BLUE, kind))
    game.do(Exchange(BLUE))
    game.do(Exchange(RED))
    assert told(game.do(Offer(BLUE, "adjourn"))) == ["adjourn open"]


def test_only_the_mover_offers(game: Game) -> None:
    with pytest.raises(NotYourTurn):
        game.do(Offer(RED, "draw"))


def test_one_open_offer_at_a_time_of_either_kind(game: Game) -> None:
    game.do(Offer(BLUE, "draw"))
    for kind in ("draw", "adjourn"):
        with pytest.raises(Illegal, match="open offer already"):
            game.do(Offer(BLUE, kind))


def test_unknown_kinds_are_refused(game: Game) -> None:
    for refused in (Offer(BLUE, "tea"), Accept(RED, "resume"), Decline(RED, "tea")):
        with pytest.raises(Illegal, match="can be"):
            game.do(refused)


@pytest.mark.parametrize("answer", [Accept, Decline])
def test_answers_need_an_open_offer_of_the_other_player(game: Game, answer: type[Accept | Decline]) -> None:
    with pytest.raises(Illegal, match="no open offer"):
        game.do(answer(RED, "draw"))
    game.do(Offer(BLUE, "draw"))
    with pytest.raises(Illegal, match="own offer"):
        game.do(answer(BLUE, "draw"))
    with pytest.raises(Illegal, match="no open offer"):
        game.do(answer(RED, "adjourn"))


def test_a_move_makes_the_offer_fall_first(game: Game) -> None:
    game.do(Offer(BLUE, "draw"))
    assert told(game.do(Exchange(BLUE))) == ["draw lapsed", "exchange"]
    with pytest.raises(Illegal, match="no open offer"):
        game.do(Accept(RED, "draw"))


def test_a_burn_makes_the_offer_fall_first(game: Game) -> None:
    game.do(Offer(BLUE, "adjourn"))
    game.now += 60_000
    assert told(game.do(Tick())) == ["adjourn lapsed", "burn"]


def test_the_offer_falls_before_the_game_ends() -> None:
    game = Game("bridge", "nine-a", move_ms=1000, game_ms=1000)
    game.do(Offer(BLUE, "draw"))
    game.now += 1000
    assert told(game.do(Tick())) == ["draw lapsed", "red by time"]
    game = Game("bridge", "nine-a")
    game.do(Offer(BLUE, "draw"))
    assert told(game.do(Resign(RED))) == ["draw lapsed", "blue by resign"]
    game = Game("bridge", "nine-a")
    game.do(Offer(BLUE, "draw"))
    assert told(game.do(EndByOperator())) == ["draw lapsed", "none by operator"]


def test_a_winning_move_is_followed_by_its_end_and_preceded_by_the_lapse() -> None:
    game = Game("blitz", "blitz-a")
    field = game.state.table.field
    place = game.hit()
    line = field.geometry.columns[place.cell % 6] & ~(1 << place.cell)
    names = [field.geometry.names[cell] for cell in empty_cells(game.state) if not line >> cell & 1]
    tiles = [field.solution[game.cell(name)] for name in names if game.cell(name) != place.cell]
    late(game, names, blue=(place.tile, *tiles[:2]), red=tuple(tiles[2:5]), owned=(0, line))
    game.do(Offer(BLUE, "draw"))
    assert told(game.do(place)) == ["draw lapsed", "place", "blue by connection"]


def test_a_turn_in_domains_is_the_whole_pair() -> None:
    game = Game("domains", "nine-a")
    game.do(game.miss())
    game.do(Offer(RED, "draw"))
    assert told(game.do(Exchange(RED))) == ["draw lapsed", "exchange"]
    with pytest.raises(Illegal, match="in a turn"):
        game.do(Offer(RED, "draw"))
    game.do(Exchange(RED))
    game.do(Exchange(BLUE))
    game.do(Exchange(BLUE))
    assert told(game.do(Offer(RED, "draw"))) == ["draw open"]


def adjourned() -> Game:
    game = Game("bridge", "nine-a")
    game.do(game.miss())
    game.do(Offer(RED, "adjourn"))
    assert told(game.do(Accept(BLUE, "adjourn"))) == ["adjourn accepted", "adjourned"]
    return game


def test_an_adjourned_game_takes_no_move_and_no_offer() -> None:
    game = adjourned()
    for refused in (Exchange(RED), game.miss(), game.claim(), Pie(RED), Offer(RED, "draw")):
        with pytest.raises(Illegal, match="adjourned"):
            game.do(refused)
    for refused in (Exchange(BLUE), Offer(BLUE, "draw")):
        with pytest.raises(NotYourTurn):
            game.do(refused)
    for answer in (Accept(BLUE, "draw"), Decline(BLUE, "adjourn")):
        with pytest.raises(Illegal, match="no open offer"):
            game.do(answer)


@pytest.mark.parametrize("first", [BLUE, RED])
def test_an_adjourned_game_goes_on_when_both_have_asked(first: int) -> None:
    game = adjourned()
    (asked,) = game.do(Resume(first))
    assert isinstance(asked, Offered)
    assert (asked.kind, asked.by, asked.state) == ("resume", first, "open")
    with pytest.raises(Illegal, match="other player"):
        game.do(Resume(first))
    events = game.do(Resume(1 - first))
    assert told(events) == ["resume accepted", "resumed"]
    assert isinstance(events[0], Offered)
    assert events[0].by == first
    assert game.mover == RED
    game.do(game.miss())


def test_the_turn_that_was_adjourned_has_had_its_offer() -> None:
    game = adjourned()
    game.do(Resume(BLUE))
    game.do(Resume(RED))
    with pytest.raises(Illegal, match="in a turn"):
        game.do(Offer(RED, "draw"))


def test_an_adjourned_game_can_be_resigned_and_the_request_to_resume_falls() -> None:
    game = adjourned()
    game.do(Resume(BLUE))
    assert told(game.do(Resign(BLUE))) == ["resume lapsed", "red by resign"]


def test_only_an_adjourned_game_is_resumed(game: Game) -> None:
    with pytest.raises(Illegal, match="not adjourned"):
        game.do(Resume(BLUE))


def test_events_of_an_adjournment() -> None:
    game = adjourned()
    game.do(Resume(BLUE))
    game.do(Resume(RED))
    kinds = [type(event) for event in game.events if isinstance(event, Adjourned | Resumed)]
    assert kinds == [Adjourned, Resumed]


def all_commands(by: int) -> list[Command]:
    return [
        Place(by, 99, 1),
        Claim(by, 99, 1),
        Exchange(by),
        Pie(by),
        Resign(by),
        Offer(by, "draw"),
        Accept(by, "draw"),
        Decline(by, "adjourn"),
        Resume(by),
    ]


def test_over_is_judged_before_everything(game: Game) -> None:
    game.do(Resign(BLUE))
    for seat in (BLUE, RED):
        for refused in all_commands(seat):
            with pytest.raises(GameOver):
                game.do(refused)


def test_whose_turn_it_is_is_judged_before_what_is_legal(game: Game) -> None:
    for refused in all_commands(RED)[:4]:
        with pytest.raises(NotYourTurn):
            game.do(refused)
    for refused in all_commands(BLUE)[:2]:
        with pytest.raises(Illegal, match="not on the field"):
            game.do(refused)


def test_refusals_bear_the_protocols_codes() -> None:
    assert [kind.code for kind in (GameOver, NotYourTurn, Illegal)] == ["over", "not_your_turn", "illegal"]
    assert Illegal("the rule").rule == "the rule"


def test_only_resigning_and_answers_to_what_is_open_ignore_the_version(game: Game) -> None:
    def ignoring(by: int) -> list[str]:
        return [type(each).__name__ for each in all_commands(by) if ignores_version(game.state, each)]

    assert ignoring(RED) == ["Resign"]
    game.do(Offer(BLUE, "draw"))
    assert ignoring(RED) == ["Resign", "Accept"]
    assert ignoring(BLUE) == ["Resign"]
    assert ignores_version(game.state, Decline(RED, "draw"))
    game.do(Exchange(BLUE))
    assert ignoring(RED) == ["Resign"]
    game.do(Offer(RED, "adjourn"))
    game.do(Accept(BLUE, "adjourn"))
    assert ignoring(RED) == ["Resign"]
    game.do(Resume(BLUE))
    assert ignoring(RED) == ["Resign", "Resume"]
    assert ignoring(BLUE) == ["Resign"]
    assert all(ignores_version(game.state, each) for each in (Arrive(BLUE), Tick(), TakeOver(), EndByOperator()))
