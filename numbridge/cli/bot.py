"""`numbridge bot`: players that play by deduction from what a player may see."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from numbridge.cli.datadir import DataDir, default_root
from numbridge.cli.errors import DONE, CheckFailed, UsageError
from numbridge.cli.main import COMMANDS, Subparsers

if TYPE_CHECKING:
    from numbridge.tokens import KeyRing

_DEFAULT_URL = "http://127.0.0.1:8080"
_MOST = 1000


def add_parser(subparsers: Subparsers) -> None:
    """See the protocol, section 3."""
    parser = subparsers.add_parser("bot", help=COMMANDS["bot"].help, description=COMMANDS["bot"].help)
    parser.add_argument(
        "--url", metavar="U", help=f"the club (the running `numbridge up` of the default folder, else {_DEFAULT_URL})"
    )
    parser.add_argument("--count", type=_count, default=1, metavar="N", help="how many (1)")
    parser.add_argument("--room", metavar="R", help="play in this room alone (any)")
    parser.add_argument(
        "--house",
        action="store_true",
        help="post no seeks but accept those of people who wait; with three or more, two play an exhibition game. "
        "With the cluster's key (NUMBRIDGE_TOKEN_KEY_FILE) they are players of the club's, else guests; "
        "one such process a club",
    )
    parser.add_argument(
        "--think", type=_think, metavar="MS", help="time for a move (400 to 2500 in the house, else 100 to 500)"
    )
    parser.add_argument("--tokens", type=Path, metavar="FILE", help="players' tokens, one a line, instead of guests")
    parser.add_argument("--quiet", action="store_true", help="no line on stderr for each game")


def run(args: argparse.Namespace) -> int:
    """Plays until a signal. Raises UsageError, or CheckFailed if there is no club to play at."""
    import asyncio

    from numbridge import obs
    from numbridge.bots.club import NoClub
    from numbridge.bots.crew import Options, run_crew
    from numbridge.bots.table import Pace

    url = args.url or _local_url()
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"{url!r} is no address like {_DEFAULT_URL}")
    tokens = _tokens(args.tokens)
    if len(tokens) > args.count:
        args.count = len(tokens)
    obs.setup_logs("bot", "bot", "warning", "text")
    options = Options(
        url=url,
        count=args.count,
        room=args.room,
        house=args.house,
        pace=None if args.think is None else Pace(args.think, args.think),
        tokens=tokens,
        ring=_ring() if args.house else None,
        audience=os.environ.get("NUMBRIDGE_TOKEN_AUDIENCE", ""),
    )
    try:
        asyncio.run(run_crew(options, args.quiet))
    except NoClub as error:
        raise CheckFailed(str(error)) from None
    return DONE


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _MOST):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {_MOST}")
    return int(text)


def _think(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 3_600_000):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of milliseconds up to an hour")
    return int(text)


def _local_url() -> str:
    """Where the default folder's cluster is, or would be."""
    info = DataDir(default_root()).running()
    return _DEFAULT_URL if info is None else info.url


def _tokens(path: Path | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        found = tuple(line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read: {error}") from None
    if not 1 <= len(found) <= _MOST:
        raise UsageError(f"{path} must hold 1 to {_MOST} tokens, one a line")
    return found


def _ring() -> "KeyRing | None":
    """The cluster's signing key, where the settings name one."""
    from numbridge.tokens import KeyRing, TokenError

    text, path = (os.environ.get(f"NUMBRIDGE_{name}", "") for name in ("TOKEN_KEY", "TOKEN_KEY_FILE"))
    if not text and not path:
        return None
    try:
        return KeyRing.load(text, path)
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"the signing key {path} can't be read") from None
    except TokenError as error:
        raise UsageError(f"the signing key can't be used: {error}") from None
