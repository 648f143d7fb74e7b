"""`python -m tests.monitoring`: see the package."""

import argparse
import sys

from tests.monitoring.check import HEALTHY_S, main

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.monitoring", description="rules and dashboards on a cluster")
    parser.add_argument("--healthy", type=float, default=HEALTHY_S, metavar="SECONDS",
                        help=f"how long nothing may fire before the faults ({HEALTHY_S:g})")  # fmt: skip
    sys.exit(main(parser.parse_args().healthy))
