"""`numbridge ratings`."""

from typing import NoReturn

from numbridge.app import run
from ratings.settings import RatingsSettings
from ratings.wiring import build


def main() -> NoReturn:
    """Runs the service until a signal."""
    run("ratings", RatingsSettings, build)


if __name__ == "__main__":
    main()
