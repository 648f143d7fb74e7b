"""Entry point of `numbridge`: finds the command, imports its module alone, and turns every end into an exit code.

0 done; 1 the check failed; 2 wrong usage or unreadable input. Errors are one
line on stderr.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple, NoReturn, Protocol, cast

from numbridge.cli.errors import FAILED, USAGE, CliError

INTERRUPTED = 130  # 128 + SIGINT, as shells count
PIPE_CLOSED = 141  # 128 + SIGPIPE


class Command(NamedTuple):
    """A command's module in this package, and its line in the help."""

    module: str
    help: str


COMMANDS = {
    "up": Command("up", "run a whole cluster on this machine, until Ctrl-C"),
    "lobby": Command("service", "run a lobby, configured by NUMBRIDGE_* variables"),
    "table": Command("service", "run a table worker, configured by NUMBRIDGE_* variables"),
    "ratings": Command("service", "run the ratings service; `ratings rebuild` computes ratings anew"),
    "gateway": Command("service", "run a gateway, configured by NUMBRIDGE_* variables"),
    "status": Command("status", "show workers, shards, games, moves, seeks, lag and versions"),
    "doctor": Command("doctor", "check a deployment, and say how to mend what is wrong"),
    "drain": Command("drain", "move a worker's tables elsewhere and let it end"),
    "archive": Command("archive", "export the records of finished games"),
    "deal": Command("deal", "deal fields with exactly one solution"),
    "replay": Command("replay", "check game records move by move"),
    "bot": Command("bot", "run players that play by deduction"),
    "capacity": Command("capacity", "find how many games a deployment holds within its latency goals"),
    "token": Command("token", "sign a player's token with the configured key"),
    "trust": Command("trust", "make certificates and passwords for a cluster's insides"),
}


class Subparsers(Protocol):
    """What a command module adds its parser to."""

    def add_parser(self, name: str, **kwargs: object) -> argparse.ArgumentParser:
        """A new parser for the command `name`."""


class CommandModule(Protocol):
    """What every command module has."""

    def add_parser(self, subparsers: Subparsers) -> None:
        """Adds the command's parser, or those of all its commands."""

    def run(self, args: argparse.Namespace) -> int:
        """Does it; the exit code."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _module(name: str) -> CommandModule:
    return cast(CommandModule, import_module(f"numbridge.cli.{COMMANDS[name].module}"))


def build_parser(chosen: str | None) -> argparse.ArgumentParser:
    """The parser: in full for the `chosen` command, one line of help for each of the others."""
    parser = _Parser(prog="numbridge", description="Matchmaking and table cluster for Numbridge.")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the release and exit")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    module = _module(chosen) if chosen else None
    for name, command in COMMANDS.items():
        if chosen and command.module == COMMANDS[chosen].module:
            if name == chosen and module is not None:
                module.add_parser(cast(Subparsers, subparsers))
        else:
            subparsers.add_parser(name, help=command.help)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from numbridge import RELEASE

        print(f"numbridge {RELEASE}")
        parser.exit()


def _chosen(argv: Sequence[str]) -> str | None:
    """The command among the arguments, if it is one that exists."""
    first = next((arg for arg in argv if not arg.startswith("-")), None)
    return first if first in COMMANDS else None


def _dispatch(argv: Sequence[str]) -> int:
    chosen = _chosen(argv)
    args = build_parser(chosen).parse_args(argv)
    return _module(args.command).run(args)


def _quiet_stdout() -> None:
    """What is still buffered for a closed pipe would raise again at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Runs one command and exits."""
    try:
        code = _dispatch(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except CliError as error:
        print(f"numbridge: {error}", file=sys.stderr)
        code = error.code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        _quiet_stdout()
        code = PIPE_CLOSED
    except OSError as error:
        print(f"numbridge: {error.strerror or error}: {error.filename or ''}".rstrip(": "), file=sys.stderr)
        code = FAILED
    sys.exit(code)


if __name__ == "__main__":
    main()
