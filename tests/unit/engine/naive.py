"""A second opinion: the rules again, slowly, on plain lists, written without looking at the engine's data structures.

It plays a record (as JSON objects) and tells the position after every move.
"""

from collections import Counter
from typing import Any

Json = dict[str, Any]


class Naive:
    """The position of a record, move by move."""

    def __init__(self, record: Json) -> None:
        self.n: int = record["settings"]["side"]
        self.variant: str = record["settings"]["variant"]
        self.price: int = record["settings"]["claim_price"]
        deal = record["deal"]
        self.blocks = deal["blocks"]
        self.solution = [int(digit) for digit in deal["solution"]]
        self.given = [digit != "." for digit in deal["givens"]]
        self.shown = list(self.given)
        self.owner: list[str | None] = [None] * self.n**2
        self.hands = {color: list(record["hands"][color]) for color in ("blue", "red")}
        self.mistakes = {"blue": 0, "red": 0}
        self.mover = "blue"
        self.left = 1
        self.pie: int | None = None

    def bag(self) -> Counter[int]:
        """What the field lacks and nobody holds."""
        lacking = Counter(digit for digit, shown in zip(self.solution, self.shown, strict=True) if not shown)
        lacking.subtract(Counter(self.hands["blue"] + self.hands["red"]))
        return +lacking

    def cell(self, name: str) -> int:
        return (int(name[1:]) - 1) * self.n + "abcdefghi".index(name[0])

    def must_pass(self) -> bool:
        free = any(given and owner is None for given, owner in zip(self.given, self.owner, strict=True))
        return not (self.hands[self.mover] or self.bag() or free) and self.winner() is None

    def play(self, move: Json) -> None:
        """Asserts that the move is legal, and makes it."""
        by, kind, hand = move["by"], move["kind"], self.hands[move["by"]]
        assert self.winner() is None
        assert by == self.mover
        assert (kind == "pass") == self.must_pass()
        virgin = not any(self.owner)
        size_before = sum(self.bag().values())
        if kind == "place":
            cell = self.cell(move["cell"])
            assert not self.shown[cell]
            hand.remove(move["tile"])
            assert move["hit"] == (self.solution[cell] == move["tile"])
            if move["hit"]:
                self.shown[cell] = True
                self.owner[cell] = by
            else:
                self.mistakes[by] += 1
        elif kind == "claim":
            cell = self.cell(move["cell"])
            assert self.given[cell]
            assert self.owner[cell] is None
            assert len(move["paid"]) == (self.price if hand else 0)
            for tile in move["paid"]:
                hand.remove(tile)
            self.owner[cell] = by
        elif kind == "exchange":
            assert size_before > 0
            hand.clear()
        elif kind == "pie":
            assert self.pie == self.cell(move["cell"])
            self.owner[self.pie] = by
        drawn = 0
        if not (kind == "claim" and len(move["paid"]) == 2):
            while len(hand) + drawn < 3 and drawn < sum(self.bag().values()):
                drawn += 1
        assert len(move["drew"]) == drawn
        drew: Counter[int] = Counter(move["drew"])
        assert not drew - self.bag()
        hand.extend(move["drew"])
        self.pie = None
        if self.variant != "domains" and virgin and any(self.owner):
            self.pie = self.cell(move["cell"])
        self.left -= 1
        if self.left == 0 or kind in ("burn", "pass"):
            self.mover = "red" if by == "blue" else "blue"
            self.left = 2 if self.variant == "domains" else 1

    def winner(self) -> str | None:
        if self.variant == "domains":
            blocks = {letter: [c for c, b in enumerate(self.blocks) if b == letter] for letter in set(self.blocks)}
            for color in ("blue", "red"):
                held = [sum(self.owner[cell] == color for cell in cells) >= 5 for cells in blocks.values()]
                if sum(held) >= 5:
                    return color
            return None
        for color in ("blue", "red"):
            if self.connected(color):
                return color
        return None

    def connected(self, color: str) -> bool:
        n = self.n
        mine = {(cell // n, cell % n) for cell, owner in enumerate(self.owner) if owner == color}
        axis = 0 if color == "blue" else 1
        seen: set[tuple[int, int]] = set()
        todo = [spot for spot in mine if spot[axis] == 0]
        while todo:
            row, column = spot = todo.pop()
            if spot in seen or spot not in mine:
                continue
            seen.add(spot)
            if spot[axis] == n - 1:
                return True
            todo += [(row, column - 1), (row, column + 1), (row - 1, column), (row - 1, column + 1)]
            todo += [(row + 1, column - 1), (row + 1, column)]
        return False

    def summary(self) -> Json:
        """As `replay --json` says it, without `ply` and the end."""
        won = self.winner() is not None
        hand, bag = self.hands[self.mover], self.bag()
        free = any(given and owner is None for given, owner in zip(self.given, self.owner, strict=True))
        return {
            "to_move": None if won else self.mover,
            "moves_left": 0 if won else self.left,
            "owners": "".join((owner or ".")[0] for owner in self.owner),
            "field": "".join(str(d) if s else "." for d, s in zip(self.solution, self.shown, strict=True)),
            "hands": {color: sorted(tiles) for color, tiles in self.hands.items()},
            "bag": sorted(bag.elements()),
            "mistakes": self.mistakes,
            "pie": self.pie is not None and not won,
            "legal": {
                "exchange": bool(bag) and not won,
                "claim": free and (not hand or len(hand) >= self.price) and not won,
                "place": bool(hand) and not won,
                "pie": self.pie is not None and not won,
            },
        }
