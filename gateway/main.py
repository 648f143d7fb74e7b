"""`numbridge gateway`."""

from gateway.settings import Settings
from gateway.wiring import build
from numbridge.app import run


def main() -> None:
    """Runs the gateway until a signal."""
    run("gateway", Settings, build)


if __name__ == "__main__":
    main()
