"""The matching core alone: `python -m bench.matching [--json]`.

For 1,000, 10,000 and 100,000 open seeks: what it costs to file one that fits nobody (its partner looked for and
not found) beside so many of its kind, and how fast pairs come out when everybody fits somebody. CPU time, one core.
"""

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable

from lobby.matching.pool import Pool
from lobby.matching.seek import Limits, Seek, Span, Wish, normalise, profile
from lobby.matching.tolerance import Tolerance

SIZES = (1_000, 10_000, 100_000)
PROBES = 2_000
LIMITS = Limits(Span(22, 34), Span(22, 34), 30, highlight=True, rated=True)
BLOCKS = (None, "regular", "irregular")
SWITCH = (None, True, False)


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


def main(argv: list[str] | None = None) -> int:
    """Prints a line a size."""
    parser = argparse.ArgumentParser(prog="python -m bench.matching", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args(argv)
    if not args.json:
        print(
            f"{'open':>8} {'file µs':>9} {'look p50 µs':>12} {'p99 µs':>8} {'seeks/s':>9} {'pairs':>7} {'pairs/s':>9}"
        )
    for size in SIZES:
        row = measure(size)
        gc.collect()
        if args.json:
            print(json.dumps(row))
        else:
            print(
                f"{row['open']:>8} {row['file_us']:>9.1f} {row['add_and_look_p50_us']:>12.1f} "
                f"{row['add_and_look_p99_us']:>8.1f} {row['seeks_per_s']:>9.0f} {row['pairs']:>7} "
                f"{row['pairs_per_s']:>9.0f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
