"""`numbridge replay FILE…`: checks game records under the rules and prints their positions.

Exit codes: 0 all are good; 1 a record breaks a rule; 2 a file is unreadable or malformed, or has no such ply. With
several files all are read, and the worst code counts. Errors go to stderr, a line each: `FILE: ply K: the rule`.
"""

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # The engine is heavy for a program that may only want to print its help.
    from tablesvc.engine.record import Record
    from tablesvc.engine.record_check import Checked

MAX_BYTES = 16 * 1024 * 1024  # a game of ten thousand moves is 1 MB
DONE, BROKEN, UNREADABLE = 0, 1, 2


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to `numbridge`."""
    parser = subparsers.add_parser("replay", help="check game records under the rules and print their positions")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a game record, numbridge.record/1")
    parser.add_argument("--ply", type=_count, metavar="N", help="print only the position after N moves (0: the deal)")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each file")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Replays every file of `args.files` and returns the exit code."""
    return max(_replay(name, args.ply, args.json) for name in args.files)


def _replay(name: str, ply: int | None, as_json: bool) -> int:
    from tablesvc.dealing.solver import has_unique_solution
    from tablesvc.engine.errors import Malformed
    from tablesvc.engine.record_check import walk
    from tablesvc.engine.record_shape import parse
    from tablesvc.engine.summary import NOTHING, summary

    try:
        record = parse(_read(name))
    except Malformed as error:
        return _fail(name, f"unreadable: {error}", {}, UNREADABLE, as_json)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = getattr(error, "strerror", None) or str(error)
        return _fail(name, f"unreadable: {reason}", {}, UNREADABLE, as_json)
    if ply is not None and ply > len(record.moves):
        return _fail(name, f"ply {ply}: the record ends at ply {len(record.moves)}", {}, UNREADABLE, as_json)
    checked = walk(record, has_unique_solution)
    last = len(checked.positions) - 1
    shown = last if ply is None else min(ply, last)
    if not as_json:
        _print_positions(name, record, checked, range(0 if ply is None else max(shown, 0), shown + 1))
    if checked.fault is not None:
        position = NOTHING if last < 0 else summary(record, checked, shown)
        return _fail(name, str(checked.fault), position, BROKEN, as_json)
    if as_json:
        _print_line(name, None, summary(record, checked, shown))
    return DONE


def _read(name: str) -> bytes:
    from tablesvc.engine.errors import Malformed

    with open(name, "rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise Malformed(f"over {MAX_BYTES} bytes")
    return raw


def _fail(name: str, error: str, position: dict[str, object], code: int, as_json: bool) -> int:
    if as_json:
        _print_line(name, error, position)
    print(_printable(f"{name}: {error}"), file=sys.stderr)
    return code


def _print_line(name: str, error: str | None, position: dict[str, object]) -> None:
    print(json.dumps({"file": name, "error": error} | position, separators=(",", ":")))


def _print_positions(name: str, record: "Record", checked: "Checked", plies: range) -> None:
    from tablesvc.engine.picture import picture

    settings = record.settings
    print(_printable(f"{name}: {settings.variant}, {settings.blocks} blocks, claim price {settings.claim_price}"))
    for ply in plies:
        print("\n" + picture(record, checked, ply))


def _count(text: str) -> int:
    if not text.isdecimal() or not text.isascii():
        raise argparse.ArgumentTypeError(f"not a number of moves: {text!r}")
    return int(text)


def _printable(text: str) -> str:
    """One line that any terminal can take: file names may hold anything."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode() for char in text
    )
