"""`numbridge status`: workers, shards, games, moves, seeks, lag and versions on one screen, once or live."""

import argparse
import asyncio
import json
import sys
from typing import TYPE_CHECKING

from numbridge.cli.cluster import ClientSettings, add_data_option, locate
from numbridge.cli.errors import DONE, FAILED
from numbridge.cli.main import COMMANDS, Subparsers

if TYPE_CHECKING:
    from numbridge.cli.inspection import Shown

_RATE_S = 0.5  # moves are counted for so long before the one screen is shown
_WATCH_S = 2.0
_CLEAR = "\x1b[H\x1b[J"


def add_parser(subparsers: Subparsers) -> None:
    """See the protocol, section 3."""
    parser = subparsers.add_parser("status", help=COMMANDS["status"].help, description=COMMANDS["status"].help)
    parser.add_argument("--json", action="store_true", help="one JSON object; with --watch one a line")
    parser.add_argument("--watch", action="store_true", help=f"again every {_WATCH_S:g} s, until Ctrl-C")
    add_data_option(parser)


def run(args: argparse.Namespace) -> int:
    """Prints it; 1 if a part of the cluster does not answer. Watching ends with 0, by Ctrl-C."""
    settings = locate(args.data)
    if args.watch:
        try:
            asyncio.run(_watch(settings, args.json))
        except KeyboardInterrupt:
            if sys.stdout.isatty():
                print()
        return DONE
    found = asyncio.run(_once(settings))
    _print(json.dumps(found, indent=1) if args.json else _screen(found))
    return DONE if found["complete"] else FAILED


async def _once(settings: ClientSettings) -> "Shown":
    from numbridge.cli.inside import visit
    from numbridge.cli.inspection import Inspection

    async with visit(settings) as inside:
        inspection = Inspection(inside)
        await inspection.look()
        await asyncio.sleep(_RATE_S)
        return await inspection.look()


async def _watch(settings: ClientSettings, as_json: bool) -> None:
    """Until it is cancelled. A part that is away is shown as that; NATS itself is waited for."""
    from numbridge.cli.inside import visit
    from numbridge.cli.inspection import Inspection

    async with visit(settings) as inside:
        inspection = Inspection(inside)
        await inspection.look()
        while True:
            await asyncio.sleep(_WATCH_S)
            found = await inspection.look()
            _print(json.dumps(found, separators=(",", ":")) if as_json else _live(_screen(found)))


def _screen(found: "Shown") -> str:
    from numbridge.cli.screen import screen

    return screen(found)


def _live(text: str) -> str:
    """Over the last one on a terminal, after it elsewhere."""
    return _CLEAR + text if sys.stdout.isatty() else text + "\n"


def _print(text: str) -> None:
    print(text, flush=True)
