"""`numbridge archive export`: the records of finished games, one a line, from the database."""

import argparse
from importlib import import_module
from pathlib import Path

from numbridge.cli.cluster import add_data_option
from numbridge.cli.errors import UsageError
from numbridge.cli.main import COMMANDS, Subparsers
from numbridge.cli.service import point_at_database

_EXPORT = "write every game's record, oldest first, one JSON object a line"


def add_parser(subparsers: Subparsers) -> None:
    """See the protocol, section 3."""
    parser = subparsers.add_parser("archive", help=COMMANDS["archive"].help, description=COMMANDS["archive"].help)
    export = parser.add_subparsers(dest="verb", metavar="VERB", required=True).add_parser(
        "export", help=_EXPORT, description=_EXPORT
    )
    export.add_argument("--out", type=Path, metavar="FILE", help="append to it what it lacks (stdout, everything)")
    export.add_argument("--after", metavar="GAME", help="begin with the game archived after this one; not with --out")
    add_data_option(export)


def run(args: argparse.Namespace) -> int:
    """Exports; 1 if the database does not answer, 2 if there is no place to go on from."""
    if args.out is not None and args.after is not None:
        raise UsageError("--out goes on where the file ends; --after is for stdout")
    point_at_database(args.data)
    code: int = import_module("ratings.export").main(args.out, args.after)
    return code
