"""`python -m tests.unit.secrecy --games 5000 [--seed 1]`: exit code 1 and the difference at the first leak."""

import argparse
import asyncio
import sys
import time

from tests.unit.secrecy.compare import Leak, Tally, one_game


async def main() -> int:
    """Plays and compares."""
    parser = argparse.ArgumentParser(prog="python -m tests.unit.secrecy", description=__doc__)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="of the first game")
    args = parser.parse_args()
    tally, began = Tally(), time.monotonic()
    for seed in range(args.seed, args.seed + args.games):
        try:
            await one_game(seed, tally)
        except Leak as leak:
            print(leak, file=sys.stderr)
            return 1
    print(f"{tally.games} games in {time.monotonic() - began:.1f} s, {tally.refused} refused actions among them")
    print(f"{tally.tile_flips} with other tiles in one hand, {tally.field_flips} with another solution")
    ways = ", ".join(f"{where} {count}" for where, count in sorted(tally.compared.items()))
    print(f"{tally.total_bytes} bytes agree: {ways}")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
