"""What matching costs: `python -m bench.matching [--only core|path] [--json]`.

First the core alone. For 1,000, 10,000 and 100,000 open seeks: what it costs to file one that fits nobody (its
partner looked for and not found) beside so many of its kind, and how fast pairs come out when everybody fits
somebody. CPU time, one core.

Then the whole path, from a seek over a WebSocket to `seated` for both: bench/seating.py.
"""

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from bench import seating
from bench.conditions import Conditions
from lobby.matching.pool import Pool
from lobby.matching.seek import Limits, Seek, Span, Wish, normalise, profile
from lobby.matching.tolerance import Tolerance

SIZES = (1_000, 10_000, 100_000)
PROBES = 2_000
LIMITS = Limits(Span(22, 34), Span(22, 34), 30, highlight=True, rated=True)
BLOCKS = (None, "regular", "irregular")
SWITCH = (None, True, False)
_HEADS = f"{'open':>8} {'file µs':>9} {'look p50 µs':>12} {'p99 µs':>8} {'seeks/s':>9} {'pairs':>7} {'pairs/s':>9}"


def _seek(number: int, rating: int, want: Span | None) -> Seek:
    low = 22 + number % 13
    wish = Wish(
        BLOCKS[number % 3],  # type: ignore[arg-type]
        Span(low, min(34, low + number % 5)),
        SWITCH[number // 3 % 3],
        SWITCH[number // 9 % 3],
        want,
    )
    normal = normalise(wish, LIMITS)
    return Seek(f"s{number}", f"p{number}", "bridge", profile(normal, LIMITS), rating, normal.rating, number)


def stranger(number: int) -> Seek:
    """Fits nobody of its kind: everybody asks for stronger players than there are."""
    return _seek(number, 1_000 + number * 7 % 500, Span(1_600 + number % 100, 2_400))


def friendly(number: int) -> Seek:
    """Fits many of its kind."""
    return _seek(number, 1_000 + number * 7 % 1_000, None)


def _filled(make: Callable[[int], Seek], size: int) -> Pool:
    pool = Pool(Tolerance())
    for number in range(size):
        pool.add(make(number))
    return pool


def measure(size: int) -> dict[str, float]:
    """Microseconds and rates beside `size` open seeks."""
    start = time.process_time()
    pool = _filled(stranger, size)
    filled = time.process_time() - start
    found = pool.pairs(size)
    if found:
        raise RuntimeError("strangers must not fit")
    took = []
    for number in range(size, size + PROBES):
        seek = stranger(number)
        start = time.process_time()
        pool.add(seek)
        pool.pairs(size)
        took.append(time.process_time() - start)
        pool.remove(seek.id)
    del pool
    crowd = _filled(friendly, size)
    start = time.process_time()
    pairs = crowd.pairs(size + 60_000)
    paired = time.process_time() - start
    took.sort()
    return {
        "open": size,
        "file_us": filled / size * 1e6,
        "add_and_look_p50_us": took[len(took) // 2] * 1e6,
        "add_and_look_p99_us": took[len(took) * 99 // 100] * 1e6,
        "seeks_per_s": PROBES / sum(took),
        "pairs": len(pairs),
        "pairs_per_s": len(pairs) / paired,
    }


def core(sizes: Sequence[int]) -> Iterator[dict[str, float]]:
    """A row of figures a size."""
    for size in sizes:
        yield measure(size)
        gc.collect()


def main(argv: list[str] | None = None) -> int:
    """Prints a line a size, then a line a rate; 1 if a pair was not seated."""
    parser = argparse.ArgumentParser(prog="python -m bench.matching", description="What matching costs.")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--only", choices=("core", "path"), help="one of the two")
    parser.add_argument("--sizes", type=_sizes, default=SIZES, metavar="N,N", help="open seeks beside the core")
    seating.add_arguments(parser)
    args = parser.parse_args(argv)
    conditions = Conditions()
    if args.only != "path":
        if not args.json:
            print(_HEADS)
        for row in core(args.sizes):
            print(json.dumps(row) if args.json else _line(row), flush=True)
    if args.only == "core":
        print("" if args.json else f"\n{conditions.line()}")
        return 0
    runs = seating.run(args)
    if args.json:
        for run in runs:
            print(json.dumps(run.row()))
    else:
        print(f"\n{seating.report(runs)}\n\nsync_interval {args.sync}; {conditions.line()}")
    return 0 if all(len(run.took) == run.pairs and not run.refused for run in runs) else 1


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(int(part) for part in text.split(",") if part.isdigit())
    if not sizes or not all(2 <= size <= 1_000_000 for size in sizes):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers from 2 to 1000000")
    return sizes


def _line(row: dict[str, float]) -> str:
    return (
        f"{row['open']:>8} {row['file_us']:>9.1f} {row['add_and_look_p50_us']:>12.1f} "
        f"{row['add_and_look_p99_us']:>8.1f} {row['seeks_per_s']:>9.0f} {row['pairs']:>7} {row['pairs_per_s']:>9.0f}"
    )


if __name__ == "__main__":
    sys.exit(main())
