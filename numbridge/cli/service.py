"""`numbridge lobby | table | ratings | gateway`: one service, until a signal. What the containers run."""

import argparse
from importlib import import_module

from numbridge.cli.errors import DONE
from numbridge.cli.main import COMMANDS, Subparsers

PACKAGES = {"lobby": "lobby", "table": "tablesvc", "ratings": "ratings", "gateway": "gateway"}


def add_parser(subparsers: Subparsers) -> None:
    """All four services, and `ratings rebuild`."""
    for name in PACKAGES:
        parser = subparsers.add_parser(name, help=COMMANDS[name].help, description=COMMANDS[name].help)
        if name == "ratings":
            what = parser.add_subparsers(dest="verb", metavar="VERB")
            what.add_parser("rebuild", help="compute all ratings anew from the archive, oldest game first")


def run(args: argparse.Namespace) -> int:
    """Runs the service; it exits the process itself."""
    package = PACKAGES[args.command]
    if getattr(args, "verb", None) == "rebuild":
        code: int = import_module(f"{package}.rebuild").main()
        return code
    import_module(f"{package}.main").main()
    return DONE
