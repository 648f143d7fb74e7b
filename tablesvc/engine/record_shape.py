"""A record's shape: every field there and of its type, names and digits within range. No rules of play."""

from typing import Final, TypeVar, cast

from tablesvc.engine.errors import Malformed
from tablesvc.engine.events import Moved
from tablesvc.engine.geometry import Geometry, geometry
from tablesvc.engine.record import FORMAT, Record
from tablesvc.engine.record_json import load
from tablesvc.engine.seats import SEAT
from tablesvc.engine.settings import SIDE_OF_VARIANT, Deal, GameSettings, Player

KINDS: Final = frozenset({"place", "claim", "exchange", "pie", "burn", "pass"})
RESULTS: Final = frozenset({"blue", "red", "draw", "none"})
REASONS: Final = frozenset({"connection", "blocks", "resign", "time", "agreement", "no_show", "operator"})
LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz")

Object = dict[str, object]
T = TypeVar("T")

_NAMES: Final[dict[type, str]] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a whole number",
    bool: "true or false",
}


def parse(raw: bytes) -> Record:
    """The record in `raw`, JSON text. Raises Malformed with the first thing that is wrong with its shape."""
    record = load(raw)
    if type(record) is not dict:
        raise Malformed("a record is an object")
    form = _field(record, "format", str, "")
    if form != FORMAT:
        raise Malformed(f"format: not {FORMAT}")
    settings = _settings(_field(record, "settings", dict, ""))
    field = geometry(settings.side)
    deal = _field(record, "deal", dict, "")
    digits = frozenset("123456789"[: settings.side])
    hands = _field(record, "hands", dict, "")
    players = _optional(record, "players", dict, "")
    moves = _field(record, "moves", list, "")
    end = _optional(record, "end", dict, "")
    return Record(
        game=_optional(record, "game", str, ""),
        room=_optional(record, "room", str, ""),
        settings=settings,
        blue=None if players is None else _player(players, "blue"),
        red=None if players is None else _player(players, "red"),
        deal=Deal(
            blocks=_deal_text(deal, "blocks", LETTERS, field.cells),
            solution=_deal_text(deal, "solution", digits, field.cells),
            givens=_deal_text(deal, "givens", digits | {"."}, field.cells),
        ),
        blue_hand=_digits(hands, "blue", settings.side, "hands."),
        red_hand=_digits(hands, "red", settings.side, "hands."),
        moves=tuple([_move(move, field, f"moves[{place}]") for place, move in enumerate(moves)]),
        result=None if end is None else _word(end, "result", RESULTS, "end."),
        reason=None if end is None else _word(end, "reason", REASONS, "end."),
        started_at=_optional(record, "started_at", int, ""),
        ended_at=_optional(record, "ended_at", int, ""),
    )


def _settings(found: Object) -> GameSettings:
    where = "settings."
    variant = _word(found, "variant", frozenset(SIDE_OF_VARIANT), where)
    side = _field(found, "side", int, where)
    if side != SIDE_OF_VARIANT[variant]:
        raise Malformed(f"settings.side: {variant} is played on side {SIDE_OF_VARIANT[variant]}")
    price = _field(found, "claim_price", int, where)
    if price not in (1, 2):
        raise Malformed("settings.claim_price: neither 1 nor 2")
    return GameSettings(
        variant=variant,
        side=side,
        blocks=_field(found, "blocks", str, where),
        givens=_field(found, "givens", int, where),
        claim_price=price,
        highlight=_field(found, "highlight", bool, where),
        rated=_field(found, "rated", bool, where),
        move_ms=_field(found, "move_ms", int, where),
        game_ms=_field(found, "game_ms", int, where),
    )


def _player(players: Object, color: str) -> Player:
    where = f"players.{color}."
    found = _field(players, color, dict, "players.")
    rating = found.get("rating")
    if "rating" in found and type(rating) is not int and type(rating) is not float:
        raise Malformed(f"{where}rating: not a number")
    if isinstance(rating, float):
        # 1e999 is JSON, and no rating
        if rating in (float("inf"), float("-inf")):
            raise Malformed(f"{where}rating: not a number")
        rating = round(rating)
    return Player(_field(found, "id", str, where), _field(found, "name", str, where), cast("int | None", rating))


def _move(found: object, field: Geometry, where: str) -> Moved:
    if type(found) is not dict:
        raise Malformed(f"{where}: not an object")
    where += "."
    kind = _word(found, "kind", KINDS, where)
    by = SEAT[_word(found, "by", SEAT, where)]
    cell: int | None = None
    tile: int | None = None
    hit: bool | None = None
    paid: tuple[int, ...] = ()
    if kind in ("place", "claim", "pie"):
        name = _field(found, "cell", str, where)
        cell = field.index.get(name)
        if cell is None:
            raise Malformed(f"{where}cell: not on the field")
    if kind == "place":
        tile = _field(found, "tile", int, where)
        if not 1 <= tile <= field.side:
            raise Malformed(f"{where}tile: not a digit from 1 to {field.side}")
        hit = _field(found, "hit", bool, where)
    elif kind == "claim":
        paid = _digits(found, "paid", field.side, where)
    drew = _digits(found, "drew", field.side, where)
    used_ms = _optional(found, "used_ms", int, where) or 0
    return Moved(kind, by, cell, tile, hit, paid, drew, used_ms, _optional(found, "at", int, where) or 0)


def _field(found: Object, name: str, kind: type[T], where: str) -> T:
    """The field's value; its type is exactly `kind`, for true is no number and 1 no truth value."""
    value = found.get(name)
    if type(value) is not kind:
        if name not in found:
            raise Malformed(f"{where}{name}: missing")
        raise Malformed(f"{where}{name}: not {_NAMES[kind]}")
    return value


def _optional(found: Object, name: str, kind: type[T], where: str) -> T | None:
    return _field(found, name, kind, where) if name in found else None


def _word(found: Object, name: str, words: frozenset[str] | dict[str, int], where: str) -> str:
    word = _field(found, name, str, where)
    if word not in words:
        raise Malformed(f"{where}{name}: not one of {', '.join(sorted(words))}")
    return word


def _digits(found: Object, name: str, side: int, where: str) -> tuple[int, ...]:
    values = _field(found, name, list, where)
    for value in values:
        if type(value) is not int or not 1 <= value <= side:
            raise Malformed(f"{where}{name}: not digits from 1 to {side}")
    return tuple(values)


def _deal_text(deal: Object, name: str, allowed: frozenset[str], length: int) -> str:
    text = _field(deal, name, str, "deal.")
    if len(text) != length:
        raise Malformed(f"deal.{name}: not {length} characters")
    if not allowed.issuperset(text):
        raise Malformed(f"deal.{name}: a character that does not belong there")
    return text
