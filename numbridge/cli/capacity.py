"""`numbridge capacity`: finds how many games a deployment holds within its latency goals."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numbridge.cli.datadir import DataDir, default_root
from numbridge.cli.errors import DONE, CheckFailed, UsageError
from numbridge.cli.main import COMMANDS, Subparsers

if TYPE_CHECKING:
    from numbridge.load.run import Outcome, Plan
    from numbridge.load.tally import Goals
    from numbridge.load.usage import Meter


def _positive(most: float, *, whole: bool = False) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a {'whole ' if whole else ''}number") from None
        if not 0 < value <= most:
            raise argparse.ArgumentTypeError(f"{value:g} is not above 0 and up to {most:g}")
        return value

    return read


def add_parser(subparsers: Subparsers) -> None:
    """See the protocol, section 3."""
    parser = subparsers.add_parser("capacity", help=COMMANDS["capacity"].help, description=COMMANDS["capacity"].help)
    parser.add_argument("--url", action="append", metavar="U", help="a gateway's address; may be given several times "
                        "(the gateways of the running `numbridge up` of --data)")  # fmt: skip
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"its data folder ({default_root()})")
    parser.add_argument("--prometheus", metavar="U", help="where to read the CPU and memory of a remote deployment")
    parser.add_argument("--room", default="study", metavar="R", help="play in this room (study)")
    parser.add_argument("--think", type=_positive(600), default=5.0, metavar="S", help="mean seconds for a move (5)")
    parser.add_argument("--from", dest="first", type=_positive(100_000, whole=True), default=50, metavar="N",
                        help="games of the first level (50)")  # fmt: skip
    parser.add_argument("--to", dest="most", type=_positive(100_000, whole=True), default=5_000, metavar="N",
                        help="games of the last level at most (5000)")  # fmt: skip
    parser.add_argument("--precision", type=_positive(1), default=0.1, metavar="P",
                        help="stop when the answer is known to this share (0.1)")  # fmt: skip
    parser.add_argument("--settle", type=_positive(600), default=5.0, metavar="S", help="seconds before measuring (5)")
    parser.add_argument("--seconds", type=_positive(3_600), default=20.0, metavar="S", help="seconds of a level (20)")
    parser.add_argument("--p99-ms", type=_positive(60_000), default=100.0, metavar="MS",
                        help="goal: 99 %% of moves are shown to both players within this (100)")  # fmt: skip
    parser.add_argument("--seat-ms", type=_positive(60_000), default=5_000.0, metavar="MS",
                        help="goal: 95 %% of seeks are seated within this (5000)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the players' dice (1)")
    parser.add_argument("--report", type=Path, default=Path("capacity.html"), metavar="FILE",
                        help="the page with plots; its JSON goes beside it (capacity.html)")  # fmt: skip
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"),
                        help="compare two reports' JSON files and do nothing else")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """0 with an answer; 1 if no level held or the generator was the limit; 2 on wrong usage."""
    if args.compare:
        before, after = (_read(path) for path in args.compare)
        with _extra():
            from numbridge.load.report import compare
        print(compare(before, after))
        return DONE
    if args.first > args.most:
        raise UsageError("--from must not be above --to")
    page: Path = args.report
    if not page.absolute().parent.is_dir():
        raise UsageError(f"--report: there is no folder {page.absolute().parent}")
    urls, meter, deployment = _deployment(args)
    with _extra():
        from numbridge.load.run import Plan
        from numbridge.load.tally import Goals
    plan = Plan(
        urls, args.room, args.think, args.settle, args.seconds, args.seed, args.first, args.most, args.precision
    )
    goals = Goals(move_p99_ms=args.p99_ms, seat_p95_ms=args.seat_ms)
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    outcome = _find(plan, goals, meter)
    from numbridge.load import report as pages  # its plots take seconds to load

    report = pages.as_json(plan, goals, outcome, started_at=started_at, deployment=deployment)
    page.write_text(pages.as_page(report), encoding="utf-8")
    page.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(pages.claim(report))
    print(f"report: {page} and {page.with_suffix('.json')}")
    if not outcome.games:
        raise CheckFailed("no level met the goals; start lower with --from")
    if outcome.limited == "the generator":
        raise CheckFailed("the generator was the limit: run it on a machine of its own, or spread it (loadtest/)")
    return DONE


def _find(plan: "Plan", goals: "Goals", meter: "Meter") -> "Outcome":
    import uvloop

    from numbridge.load.crowd import NoDeployment
    from numbridge.load.run import find

    try:
        return uvloop.run(find(plan, goals, meter, lambda line: print(line, file=sys.stderr, flush=True)))
    except NoDeployment as error:
        raise CheckFailed(str(error)) from None


def _deployment(args: argparse.Namespace) -> "tuple[list[str], Meter, dict[str, Any]]":
    """Addresses, where usage is read, and what is known of the deployment. Raises UsageError."""
    from numbridge.load.usage import LocalMeter, NoMeter, PrometheusMeter

    if args.url:
        for url in args.url:
            if not url.startswith(("http://", "https://")):
                raise UsageError(f"{url!r} is no address like http://127.0.0.1:8080")
        meter = PrometheusMeter(args.prometheus) if args.prometheus else NoMeter()
        return [url.rstrip("/") for url in args.url], meter, {"urls": args.url}
    folder = DataDir(args.data or default_root())
    info = folder.running()
    if info is None:
        raise UsageError(f"no cluster is up in {folder.root}; start one with `numbridge up --no-limits`, or name --url")
    urls = [process.url for process in info.processes if process.url] or [info.url]
    kinds: dict[str, int] = {}
    for process in info.processes:
        kinds[process.kind] = kinds.get(process.kind, 0) + 1
    return urls, LocalMeter({process.name: process.pid for process in info.processes if process.pid is not None}), kinds


def _read(path: Path) -> dict[str, Any]:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from None
    if not isinstance(report, dict) or report.get("format") != 1 or "levels" not in report:
        raise UsageError(f"{path} is not a capacity report")
    return report


@contextmanager
def _extra() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise CheckFailed(f"{error.name} is not installed: pip install 'numbridge[load]'") from None
