"""`numbridge lobby`."""

from lobby.settings import LobbySettings
from lobby.wiring import build
from numbridge.app import run


def main() -> None:
    """Runs one lobby replica until a signal."""
    run("lobby", LobbySettings, build)


if __name__ == "__main__":
    main()
