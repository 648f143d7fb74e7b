"""The rooms file: which rooms the club has, read and checked as a whole.

TOML, one `[[room]]` table a room (the protocol, section 5). Every problem is
said with its line, the room, the field and the limit; a file with a problem
gives no rooms at all.

    RoomsError   at least one problem; `problems` has a sentence for each
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

SIDE_OF_VARIANT = {"bridge": 9, "blitz": 6, "domains": 9}
REGULAR_LEAST = {9: 17, 6: 8}
"""Fewest givens with which a field of regular blocks has exactly one solution (6: searched exhaustively)."""
IRREGULAR_LEAST = {9: 14, 6: 5}
"""Below these no deal was ever found; a room's lower limit must not be under them."""

MAX_ROOMS = 200
TOLERANCE_START, TOLERANCE_PER_S, TOLERANCE_MAX = 150, 15, 1000
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_MOVE_MS = (200, 7 * 24 * 3_600_000)
_GAME_MS = (500, 30 * 24 * 3_600_000)
_HEADER = re.compile(r"\s*\[\[\s*room\s*\]\]")


class RoomsError(ValueError):
    """A rooms file that cannot be used; one sentence a problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Givens:
    """How many cells may be open at the start, and how many are where nobody chooses."""

    min: int
    max: int
    default: int


@dataclass(frozen=True, slots=True)
class Room:
    """A room. Times in milliseconds."""

    id: str
    name: str
    variant: str
    givens: Givens
    claim_price: int
    move_ms: int
    game_ms: int
    highlight: bool = True
    rated: bool = True
    tolerance_start: int = (
        TOLERANCE_START  # a seek without a range of its own takes opponents this near in rating at first
    )
    tolerance_per_s: int = TOLERANCE_PER_S  # and so much further away with every second
    tolerance_max: int = TOLERANCE_MAX
    guests: bool = True  # whether players without an account may seek here

    @property
    def side(self) -> int:
        """Cells a side; follows from the variant."""
        return SIDE_OF_VARIANT[self.variant]

    def to_json(self) -> dict[str, Any]:
        """The room's entry of `GET /api/rooms`, without `waiting` and `playing`."""
        return {
            "id": self.id,
            "name": self.name,
            "variant": self.variant,
            "side": self.side,
            "givens": {"min": self.givens.min, "max": self.givens.max, "default": self.givens.default},
            "claim_price": self.claim_price,
            "move_ms": self.move_ms,
            "game_ms": self.game_ms,
            "highlight": self.highlight,
            "rated": self.rated,
        }


def givens_limits(room: Room, blocks: str) -> tuple[int, int]:
    """Fewest and most givens that a deal in `room` with `blocks` ("regular", "irregular") may have (decided).

    A room's lower limit under what regular blocks can have holds for irregular ones alone.
    The range is empty (low over high) where the room has no such deal at all.
    """
    low = max(room.givens.min, REGULAR_LEAST[room.side]) if blocks == "regular" else room.givens.min
    return low, room.givens.max


def why_not_regular(room: Room) -> str:
    """The sentence for somebody who insists on fewer givens than regular blocks can have."""
    side, least = room.side, REGULAR_LEAST[room.side]
    return f"no {side}×{side} field with regular blocks and fewer than {least} givens has exactly one solution"


def load(path: Path | str | None = None) -> tuple[Room, ...]:
    """The rooms of a file, by default the club's own four. Raises RoomsError, or OSError if it cannot be read."""
    if path is None:
        return parse(resources.files("numbridge").joinpath("rooms.toml").read_bytes())
    return parse(Path(path).read_bytes())


def parse(raw: bytes) -> tuple[Room, ...]:
    """The rooms in a rooms file's bytes, in their order. Raises RoomsError."""
    try:
        text = raw.decode("utf-8")
        table = tomllib.loads(text)
    except UnicodeDecodeError:
        raise RoomsError(["the file is not UTF-8"]) from None
    except tomllib.TOMLDecodeError as error:
        raise RoomsError([f"not TOML: {error}"]) from None
    entries = table.get("room")
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise RoomsError(["there is no [[room]] in the file"])
    if len(entries) > MAX_ROOMS:
        raise RoomsError([f"there are {len(entries)} rooms; the limit is {MAX_ROOMS}"])
    lines = _Lines(text)
    problems = [f"line 1: unknown key {key!r}; the file holds [[room]] tables" for key in table if key != "room"]
    rooms: list[Room] = []
    seen: dict[str, int] = {}
    for number, entry in enumerate(entries):
        reader = _Reader(entry, lines, number)
        room = reader.room()
        problems.extend(reader.problems)
        if room is not None:
            if room.id in seen:
                problems.append(f"line {lines.of(number, 'id')}: room {room.id!r} is there twice")
            seen[room.id] = number
            rooms.append(room)
    if problems:
        raise RoomsError(problems)
    return tuple(rooms)


class _Lines:
    """Where things stand in the file: tomllib does not say."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._heads = [number for number, line in enumerate(self._lines) if _HEADER.match(line)]

    def of(self, room: int, key: str | None = None) -> int:
        """Line (from 1) of a room's key, or of its heading."""
        if room >= len(self._heads):
            return 1
        start = self._heads[room]
        end = self._heads[room + 1] if room + 1 < len(self._heads) else len(self._lines)
        if key is not None:
            for number in range(start, end):
                if re.match(rf"\s*{re.escape(key)}\s*[=.]", self._lines[number]):
                    return number + 1
        return start + 1


class _Reader:
    """One [[room]] table; collects everything that is wrong with it."""

    def __init__(self, entry: Mapping[str, Any], lines: _Lines, number: int) -> None:
        self._entry = entry
        self._lines = lines
        self._number = number
        self._name = repr(entry["id"]) if isinstance(entry.get("id"), str) else f"number {number + 1}"
        self.problems: list[str] = []

    def room(self) -> Room | None:
        """The room, or None if anything is wrong."""
        known = {*Room.__dataclass_fields__, "side"}
        for key in self._entry:
            if key not in known:
                self._wrong(key, "is no setting of a room")
        variant = self._text("variant")
        if variant is not None and variant not in SIDE_OF_VARIANT:
            self._wrong("variant", f"is {variant!r}; it must be bridge, blitz or domains")
            variant = None
        side = SIDE_OF_VARIANT.get(variant or "")
        if side is not None and self._entry.get("side", side) != side:
            self._wrong("side", f"is {self._entry['side']!r}; it follows from the variant and is {side}")
        identity, name = self._text("id"), self._text("name")
        if identity is not None and not _ID.fullmatch(identity):
            self._wrong("id", "must be 1 to 32 of a-z, 0-9, - and _")
        if name is not None and not (1 <= len(name) <= 64 and name.isprintable()):
            self._wrong("name", "must be 1 to 64 visible characters")
        givens = self._givens(side)
        price = self._number_in("claim_price", 1, 2)
        move_ms, game_ms = self._number_in("move_ms", *_MOVE_MS), self._number_in("game_ms", *_GAME_MS)
        switches = {key: self._switch(key) for key in ("highlight", "rated", "guests")}
        knobs = {
            "tolerance_start": self._number_in("tolerance_start", 0, 10_000, TOLERANCE_START),
            "tolerance_per_s": self._number_in("tolerance_per_s", 0, 10_000, TOLERANCE_PER_S),
            "tolerance_max": self._number_in("tolerance_max", 0, 10_000, TOLERANCE_MAX),
        }
        if self.problems or identity is None or name is None or variant is None or givens is None:
            return None
        if price is None or move_ms is None or game_ms is None:
            return None
        room = Room(identity, name, variant, givens, price, move_ms, game_ms, **switches, **knobs)  # type: ignore[arg-type]
        if room.tolerance_max < room.tolerance_start:
            self._wrong("tolerance_max", f"is {room.tolerance_max}, under tolerance_start ({room.tolerance_start})")
        return None if self.problems else room

    def _wrong(self, key: str, what: str) -> None:
        self.problems.append(f"line {self._lines.of(self._number, key)}: room {self._name}: {key} {what}")

    def _text(self, key: str) -> str | None:
        value = self._entry.get(key)
        if value is None:
            self._wrong(key, "is missing")
        elif not isinstance(value, str):
            self._wrong(key, f"is {value!r}; it must be a text")
        else:
            return value
        return None

    def _switch(self, key: str) -> bool:
        value = self._entry.get(key, True)
        if not isinstance(value, bool):
            self._wrong(key, f"is {value!r}; it must be true or false")
            return True
        return value

    def _number_in(self, key: str, low: int, high: int, default: int | None = None) -> int | None:
        value = self._entry.get(key, default)
        if value is None:
            self._wrong(key, "is missing")
        elif not isinstance(value, int) or isinstance(value, bool):
            self._wrong(key, f"is {value!r}; it must be a whole number")
        elif not low <= value <= high:
            self._wrong(key, f"is {value}; it must be {low} to {high}")
        else:
            return value
        return None

    def _givens(self, side: int | None) -> Givens | None:
        value = self._entry.get("givens")
        if not isinstance(value, dict):
            self._wrong("givens", "must be a table like { min = 22, max = 34, default = 30 }")
            return None
        numbers = [value.get(key) for key in ("min", "max", "default")]
        if any(not isinstance(number, int) or isinstance(number, bool) for number in numbers):
            self._wrong("givens", "needs whole numbers min, max and default")
            return None
        if unknown := sorted(set(value) - {"min", "max", "default"}):
            self._wrong("givens", f"has an unknown key {unknown[0]!r}")
        low, high, default = (int(number) for number in numbers if number is not None)
        if not low <= default <= high:
            self._wrong("givens", f"has default {default} outside {low} to {high}")
        if side is not None and not IRREGULAR_LEAST[side] <= low <= high <= side * side:
            self._wrong(
                "givens",
                f"are {low} to {high}; on this field they must be {IRREGULAR_LEAST[side]} to {side * side}",
            )
        return Givens(low, high, default)
