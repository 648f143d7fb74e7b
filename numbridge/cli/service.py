"""`numbridge lobby | table | ratings | gateway`: one service, until a signal. What the containers run.

`numbridge ratings rebuild` computes every rating anew instead, `numbridge ratings migrate` brings the schema up.
"""

import argparse
import os
from importlib import import_module
from pathlib import Path

from numbridge.cli.cluster import add_data_option
from numbridge.cli.datadir import DataDir, default_root
from numbridge.cli.errors import DONE, UsageError
from numbridge.cli.main import COMMANDS, Subparsers

PACKAGES = {"lobby": "lobby", "table": "tablesvc", "ratings": "ratings", "gateway": "gateway"}
_VERBS = {
    "rebuild": "compute all ratings anew from the archive, oldest game first",
    "migrate": "bring the database's schema up to this release",
}


def add_parser(subparsers: Subparsers) -> None:
    """All four services, and what `ratings` does besides."""
    for name in PACKAGES:
        parser = subparsers.add_parser(name, help=COMMANDS[name].help, description=COMMANDS[name].help)
        if name == "ratings":
            verbs = parser.add_subparsers(dest="verb", metavar="VERB")
            for verb, text in _VERBS.items():
                add_data_option(verbs.add_parser(verb, help=text, description=text))


def run(args: argparse.Namespace) -> int:
    """Runs the service; it exits the process itself."""
    package = PACKAGES[args.command]
    if (verb := getattr(args, "verb", None)) is not None:
        point_at_database(args.data)
        code: int = import_module(f"{package}.{verb}").main()
        return code
    import_module(f"{package}.main").main()
    return DONE


def point_at_database(data: Path | None) -> None:
    """Names the database of a cluster on this machine, up or not, unless NUMBRIDGE_DATABASE_URL names another."""
    if data is None and os.environ.get("NUMBRIDGE_DATABASE_URL"):
        return
    folder = DataDir(data or default_root())
    if (info := folder.running()) is not None:
        os.environ |= {"NUMBRIDGE_DATABASE_URL": info.database_url, "NUMBRIDGE_REDIS_URL": info.redis_url}
    elif folder.database.exists():
        os.environ["NUMBRIDGE_DATABASE_URL"] = f"sqlite:///{folder.database}"
    else:
        raise UsageError(f"there is no database in {folder.root}; name a folder with --data, or NUMBRIDGE_DATABASE_URL")
