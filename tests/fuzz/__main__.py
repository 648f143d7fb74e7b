"""`python -m tests.fuzz --seconds 600 [--target log]`: exit code 1 if anything was found; it is kept in the corpus.

With `--keep`, inputs that reached new lines are kept there too (the smallest ones, a few for each target).
"""

import argparse
import hashlib
import sys
from random import Random

from tests.fuzz.engine import Fuzzer, Outcome
from tests.fuzz.seeds import CORPUS, seeds
from tests.fuzz.targets import TARGETS, WORDS

KEPT_MOST = 24  # files for each target
KEPT_BYTES = 3_000


def main() -> int:
    """Fuzzes each target for its share of the time."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS))
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    names, found = args.target or sorted(TARGETS), 0
    for name in names:
        known = seeds(name)
        fuzzer = Fuzzer(TARGETS[name], known, WORDS[name], Random(args.seed))
        outcome = fuzzer.run(seconds=args.seconds / len(names))
        print(
            f"{name}: {outcome.runs} inputs, {outcome.spots} lines, {len(outcome.kept) - len(known)} new inputs, "
            f"slowest {outcome.slowest_s * 1000:.0f} ms, grown {outcome.grown_kb} kB, {len(outcome.findings)} findings",
            flush=True,
        )
        found += len(outcome.findings)
        for finding in outcome.findings:
            where = _keep(name, finding.data) if finding.data else "no single input"
            print(f"  {where}\n{finding.what}", file=sys.stderr)
        if args.keep:
            _grow(name, outcome, len(known))
    return 1 if found else 0


def _keep(name: str, data: bytes) -> str:
    folder = CORPUS / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(data).hexdigest()[:12]
    path.write_bytes(data)
    return str(path)


def _grow(name: str, outcome: Outcome, known: int) -> None:
    fresh = sorted((data for data in outcome.kept[known:] if len(data) <= KEPT_BYTES), key=len)
    for data in fresh[: max(0, KEPT_MOST - len(list((CORPUS / name).glob("*"))))]:
        _keep(name, data)


if __name__ == "__main__":
    sys.exit(main())
