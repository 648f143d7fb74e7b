"""`numbridge table`: one table worker."""

from typing import NoReturn

from numbridge.app import run
from tablesvc.settings import TableSettings
from tablesvc.wiring import build


def main() -> NoReturn:
    """Runs until a signal."""
    run("table", TableSettings, build)


if __name__ == "__main__":
    main()
