"""`python -m tests.chaos`: see the package."""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

from tests.chaos.faults import KINDS
from tests.chaos.run import ROOMS, Wishes, run
from tests.helpers.cluster import arguments, running


def _kinds(text: str) -> frozenset[str]:
    """Kinds of fault that hold one of the words."""
    found = frozenset(kind for kind in KINDS for words in text.split(",") if words.strip() and words.strip() in kind)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} names none of: {', '.join(KINDS)}")
    return found


def main() -> int:
    """0 if everything was kept, 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="faults under load, and an audit")
    parser.add_argument("--seconds", type=float, default=300.0, help="how long faults come (300)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of faults and of the players' dice (1)")
    parser.add_argument("--players", type=int, default=48, help="two to a game (48)")
    parser.add_argument("--watchers", type=int, default=4, help="spectators (4)")
    parser.add_argument("--workers", type=int, default=3, help="table workers (3)")
    parser.add_argument("--gateways", type=int, default=2, help="gateways (2)")
    parser.add_argument("--lobbies", type=int, default=1, help="lobby replicas (1)")
    parser.add_argument("--only", type=_kinds, default=frozenset(KINDS), metavar="WORDS",
                        help="these faults alone: `drain`, `nats, worker kill`, … (all)")  # fmt: skip
    parser.add_argument("--data", type=Path, help="the cluster's folder, kept afterwards (a temporary one)")
    parser.add_argument("--json", type=Path, help="the numbers, to this file")
    parser.add_argument("--bounds", action="store_true", help="a stall longer than promised is a failure too")
    args = parser.parse_args()
    wishes = Wishes(seconds=args.seconds, seed=args.seed, players=args.players, watchers=args.watchers, only=args.only)

    def say(line: str) -> None:
        print(line, flush=True)

    with tempfile.TemporaryDirectory(prefix="numbridge-chaos-") as folder:
        data = args.data or Path(folder) / "data"
        parts = arguments(ROOMS, workers=args.workers, gateways=args.gateways, lobbies=args.lobbies)
        with running(data, *parts) as cluster:
            say(f"the cluster is up in {data}")
            report = asyncio.run(run(cluster, wishes, say))
    say("\n" + report.text())
    if args.json:
        args.json.write_text(json.dumps(report.facts(), indent=1) + "\n")
    if not report.kept:
        return 1
    return 1 if args.bounds and not report.within_bounds() else 0


if __name__ == "__main__":
    sys.exit(main())
