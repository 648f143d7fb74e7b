"""`numbridge trust`: makes the certificates and passwords by which a cluster's insides know each other."""

import argparse
from pathlib import Path

from numbridge.cli.errors import DONE, UsageError
from numbridge.cli.main import COMMANDS, Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """The command's arguments."""
    parser = subparsers.add_parser("trust", help=COMMANDS["trust"].help, description=COMMANDS["trust"].help)
    parser.add_argument("folder", type=Path, metavar="DIR", help="where they lie; what is there already is kept")
    parser.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name or address at which servers are reached besides those of the manifests; may be given again",
    )


def run(args: argparse.Namespace) -> int:
    """Makes what is missing and says what there is. Raises UsageError if the folder can't be used."""
    from numbridge.trust import ROLES, SERVERS
    from numbridge.trust.issue import issue

    try:
        trust = issue(args.folder, args.host)
    except OSError as error:
        raise UsageError(f"{args.folder} can't be used: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{args.folder}: {' '.join(str(error).split())}") from None
    print(f"certificates  {', '.join((*ROLES, *SERVERS))}, signed by {trust.ca}")
    print(f"passwords     {trust.folder / 'passwords.env'}, {trust.folder / 'redis-users.acl'}")
    return DONE
