"""Where the cluster is that a command is about.

`--data DIR` names a data folder of `numbridge up`; without it, NUMBRIDGE_* settings
that name servers win, and else the default folder's cluster is meant.
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from numbridge.cli import secured
from numbridge.cli.datadir import DataDir, default_root
from numbridge.cli.errors import UsageError
from numbridge.settings import CommonSettings, SettingsError

_NAMED = ("NUMBRIDGE_NATS_URL", "NUMBRIDGE_LOBBY_ADDR", "NUMBRIDGE_RATINGS_ADDR")


@dataclass(frozen=True, kw_only=True)
class ClientSettings(CommonSettings):
    """What a command needs to talk to a cluster."""

    lobby_addr: str = "127.0.0.1:7100"  # host:port, several separated by commas
    ratings_addr: str = "127.0.0.1:7200"  # host:port, several separated by commas


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """The option --data."""
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help=f"data folder of the `numbridge up` that is meant ({default_root()}, unless NUMBRIDGE_* name servers)",
    )


def named() -> bool:
    """Whether variables name the cluster's servers."""
    return any(os.environ.get(name) for name in _NAMED)


def environment(data: Path | None) -> dict[str, str]:
    """Variables that lead to the cluster. Raises UsageError if none runs in the folder that is meant."""
    env = dict(os.environ)
    if data is not None or not named():
        folder = DataDir(data or default_root())
        info = folder.running()
        if info is None:
            raise UsageError(
                f"no cluster is up in {folder.root}; start one with `numbridge up`, name its folder with --data, "
                "or set NUMBRIDGE_NATS_URL and the like"
            )
        env |= {
            "NUMBRIDGE_NATS_URL": info.nats_url,
            "NUMBRIDGE_REDIS_URL": info.redis_url,
            "NUMBRIDGE_LOBBY_ADDR": info.lobby_addr,
            "NUMBRIDGE_RATINGS_ADDR": info.ratings_addr,
            "NUMBRIDGE_DATABASE_URL": info.database_url,
        }
        if info.trust:
            env |= secured.of_role("operator", Path(info.trust))
        if not env.get("NUMBRIDGE_TOKEN_KEY"):
            env["NUMBRIDGE_TOKEN_KEY_FILE"] = info.token_key_file
    return env


def locate(data: Path | None) -> ClientSettings:
    """Settings to reach the cluster. Raises UsageError if none runs in the folder, or settings are wrong."""
    try:
        return ClientSettings.load(environment(data))
    except SettingsError as error:
        raise UsageError("; ".join(error.problems)) from None
