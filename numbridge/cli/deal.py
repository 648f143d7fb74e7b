"""`numbridge deal`: deals fields for a room, for eyes and for tests.

The same arguments and seed give the same deals on every machine, within one release. Every deal is shown with
the seed that makes it alone, so any of a series can be had again.
"""

import argparse
import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from numbridge.cli.errors import DONE, CheckFailed, UsageError
from numbridge.cli.main import COMMANDS, Subparsers

if TYPE_CHECKING:
    # The dealer and the rooms are heavy for a program that may only want to print its help.
    from numbridge.rooms import Room
    from tablesvc.dealing.dealer import Deal

MAX_COUNT = 1_000_000
SEED_BITS = 48  # of seeds made here: any reader of JSON keeps such a number exact
CELL = 4  # characters of a cell in the picture; each row stands half a cell further right


def add_parser(subparsers: Subparsers) -> None:
    """See the protocol, section 3."""
    parser = subparsers.add_parser("deal", help=COMMANDS["deal"].help, description=COMMANDS["deal"].help)
    parser.add_argument("--room", required=True, metavar="R", help="a room of the rooms file; its limits hold")
    parser.add_argument(
        "--blocks", choices=["regular", "irregular"], default="regular", help="shape of the blocks (regular)"
    )
    parser.add_argument("--givens", type=int, metavar="N", help="open cells (the room's default)")
    parser.add_argument("--seed", type=int, metavar="S", help="a whole number; the same one deals the same again")
    parser.add_argument("--count", type=int, default=1, metavar="K", help="how many deals (1)")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each deal")
    parser.add_argument("--rooms", metavar="FILE", help="the rooms file ($NUMBRIDGE_ROOMS_FILE, or the club's)")


def run(args: argparse.Namespace) -> int:
    """Prints the deals. Raises UsageError for what is outside the room's limits or cannot exist, CheckFailed
    for what was not found."""
    from tablesvc.dealing.dealer import deal
    from tablesvc.dealing.errors import CannotDeal, NoSuchDeal

    room = _room(args.rooms or os.environ.get("NUMBRIDGE_ROOMS_FILE") or None, args.room)
    givens = _givens(room, args.blocks, args.givens)
    if not 1 <= args.count <= MAX_COUNT:
        raise UsageError(f"--count must be 1 to {MAX_COUNT}, not {args.count}")
    for number, seed in enumerate(_seeds(args.seed, args.count)):
        try:
            made = deal(room.side, args.blocks, givens, seed)
        except NoSuchDeal as error:
            raise UsageError(str(error)) from None
        except CannotDeal as error:
            raise CheckFailed(f"{error} (seed {seed})") from None
        if args.json:
            print(json.dumps(_as_json(room, made, seed), separators=(",", ":")), flush=True)
        else:
            print("\n" * (number > 0) + _as_text(room, made, givens, args.blocks, seed), flush=True)
    return DONE


def _room(path: str | None, name: str) -> "Room":
    from numbridge.rooms import RoomsError, load

    try:
        rooms = {room.id: room for room in load(path)}
    except RoomsError as error:
        raise UsageError(f"{path}: {error}") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    if name not in rooms:
        raise UsageError(f"there is no room {name!r}; the rooms are {', '.join(rooms)}")
    return rooms[name]


def _givens(room: "Room", blocks: str, asked: int | None) -> int:
    """How many givens to deal: as asked, or the number nearest to the room's default."""
    from numbridge.rooms import givens_limits, why_not_regular

    low, high = givens_limits(room, blocks)
    if asked is None:
        if low > high:
            raise UsageError(f"room {room.id} has no deal with {blocks} blocks: {why_not_regular(room)}")
        return min(max(room.givens.default, low), high)
    if low <= asked <= high:
        return asked
    if room.givens.min <= asked < low:
        raise UsageError(why_not_regular(room))
    raise UsageError(
        f"room {room.id} with {blocks} blocks has {low} to {high} givens, not {asked}"
        if low <= high
        else f"room {room.id} has no deal with {blocks} blocks: {why_not_regular(room)}"
    )


def _seeds(first: int | None, count: int) -> Iterator[int]:
    """A seed for each deal: the first as given, the others far from it and from each other."""
    import secrets
    from hashlib import sha256

    if first is None:
        first = secrets.randbits(SEED_BITS)
    yield first
    for number in range(1, count):
        yield int.from_bytes(sha256(f"{first}:{number}".encode()).digest()[: SEED_BITS // 8])


def _as_json(room: "Room", made: "Deal", seed: int) -> dict[str, object]:
    return {
        "room": room.id,
        "side": room.side,
        "blocks": made.blocks,
        "solution": made.solution,
        "givens": made.givens,
        "seed": seed,
    }


def _as_text(room: "Room", made: "Deal", givens: int, blocks: str, seed: int) -> str:
    head = f"{room.name}: {blocks} blocks, {givens} givens, seed {seed}"
    pictures = [picture(room.side, made.blocks, grid) for grid in (made.givens, made.solution)]
    return "\n\n".join([head, *pictures])


def picture(side: int, blocks: str, grid: str) -> str:
    """The field as a rhombus, lines around the blocks.

    A line between two rows is made of half cells, for a cell touches two of the row below, half a cell each.
    """

    def block(row: int, half: int) -> str:
        """The block of the cell over or under a half cell counted from the left end of its row."""
        inside = 0 <= row < side and 0 <= half < 2 * side
        return blocks[row * side + half // 2] if inside else ""

    half_cell = CELL // 2
    lines = []
    for row in range(side + 1):
        above = row - 1  # the line over row `row` starts where the row above it starts
        border = "".join(
            ("-" if block(above, half) != block(row, half - 1) else " ") * half_cell for half in range(2 * side + 1)
        )
        lines.append(" " * half_cell * row + border)
        if row < side:
            digits = "".join(
                ("|" if block(row, half - 1) != block(row, half) else " ")
                + f" {grid[row * side + half // 2] if half < 2 * side else ''} "
                for half in range(0, 2 * side + 1, 2)
            )
            lines.append(" " * half_cell * (row + 1) + digits)
    return "\n".join(line.rstrip() for line in lines)
