"""`numbridge token`: signs a player's token with the configured key and prints it."""

import argparse
import os
from pathlib import Path

from numbridge.cli.cluster import add_data_option
from numbridge.cli.datadir import DataDir, default_root
from numbridge.cli.errors import DONE, UsageError
from numbridge.cli.main import COMMANDS, Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """See the protocol, section 3."""
    parser = subparsers.add_parser("token", help=COMMANDS["token"].help, description=COMMANDS["token"].help)
    parser.add_argument("--player", required=True, metavar="ID", help="the player's id")
    parser.add_argument("--name", metavar="N", help="display name (the id)")
    parser.add_argument("--admin", action="store_true", help="a token for an operator")
    add_data_option(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the token. Raises UsageError without a key, or on an id or a name that can't be."""
    from numbridge.tokens import MAX_NAME_CHARS, KeyRing, TokenError, sign

    text, path = _key(args.data)
    try:
        ring = KeyRing.load(text, path)
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"there is no signing key at {path}; `numbridge up` makes one, or set NUMBRIDGE_TOKEN_KEY_FILE"
        ) from None
    except TokenError as error:
        raise UsageError(f"the signing key can't be used: {error}") from None
    name = args.name if args.name is not None else args.player[:MAX_NAME_CHARS]
    audience = os.environ.get("NUMBRIDGE_TOKEN_AUDIENCE", "")
    try:
        print(sign(ring, args.player, name, admin=args.admin, audience=audience))
    except TokenError as error:
        raise UsageError(str(error)) from None
    return DONE


def _key(data: Path | None) -> tuple[str, str]:
    """The key's text or else its file: of the folder named, of the settings, of the default folder."""
    if data is None:
        text, path = (os.environ.get(f"NUMBRIDGE_{name}", "") for name in ("TOKEN_KEY", "TOKEN_KEY_FILE"))
        if text or path:
            return text, path
    return "", str(DataDir(data or default_root()).key)
