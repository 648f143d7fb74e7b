"""Every name that services meet by: NATS subjects, streams, KV buckets, Redis keys.

TABLES    stream   table.<shard>.<game>        the log of running games; secret
RESULTS   stream   result.<shard>.<game>       finished games on the way to SQL
core NATS          view.<game>.<seat>          frames for one kind of viewer
                   player.<key>                notices for one player
                   lobby.seeks.<room>          changes of a room's seek list
                   seats.<shard>, seats.ask    who sits where, and the question
                   archived.<shard>.<game>     the record is in SQL
                   office.restrictions         what operators have restricted has changed
                   office.announcements        what an operator says to everybody
KV                 shards, workers, pools      ownership by lease
Redis              nb:{lobby}:…                what the lobby's scripts change together
                   nb:board:<variant>          leaderboards
                   nb:limit:<what>:<digest>    rates that all gateways share
                   nb:house:<game>             whether one address holds both seats
"""

from base64 import urlsafe_b64encode
from typing import Literal

Seat = Literal["blue", "red", "watch"]
SEATS: tuple[Seat, Seat, Seat] = ("blue", "red", "watch")

TABLES = "TABLES"
RESULTS = "RESULTS"
TABLES_SUBJECTS = "table.>"
RESULTS_SUBJECTS = "result.>"
RESULTS_CONSUMER = "ratings"

KV_SHARDS = "shards"
KV_WORKERS = "workers"
KV_POOLS = "pools"

SEATS_ASK = "seats.ask"
SEATS_ALL = "seats.*"
ARCHIVED_ALL = "archived.>"
RESTRICTIONS = "office.restrictions"
ANNOUNCEMENTS = "office.announcements"


def token(text: str) -> str:
    """Any text as one token of a subject or key: foreign ids may hold dots, stars or spaces."""
    return urlsafe_b64encode(text.encode()).decode().rstrip("=") or "_"


def table_subject(shard: int, game: str) -> str:
    """Where a game's log records go."""
    return f"table.{shard}.{game}"


def shard_subjects(shard: int) -> str:
    """All logs of a shard, for one ordered pass."""
    return f"table.{shard}.>"


def result_subject(shard: int, game: str) -> str:
    """Where a finished game's result goes."""
    return f"result.{shard}.{game}"


def archived_subject(shard: int, game: str) -> str:
    """Where it is said that a game's record is in SQL."""
    return f"archived.{shard}.{game}"


def view_subject(game: str, seat: Seat) -> str:
    """Frames that a viewer in `seat` may see."""
    return f"view.{game}.{seat}"


def player_subject(player: str) -> str:
    """Notices for all connections of one player."""
    return f"player.{token(player)}"


def seeks_subject(room: str) -> str:
    """Changes of a room's seek list."""
    return f"lobby.seeks.{token(room)}"


def seats_subject(shard: int) -> str:
    """Who sits where in one shard's games."""
    return f"seats.{shard}"


def lobby_key(*parts: str) -> str:
    """A key of the lobby's: all share one hash tag, so that one script may change several."""
    return ":".join(("nb:{lobby}", *parts))


def board_key(variant: str) -> str:
    """A variant's leaderboard."""
    return f"nb:board:{variant}"


def limit_key(what: str, digest: str) -> str:
    """A bucket of a limit; the digest stands for an address or a player."""
    return f"nb:limit:{what}:{digest}"


def house_key(game: str) -> str:
    """Digests of the addresses from which a game's seats are held."""
    return f"nb:house:{game}"
