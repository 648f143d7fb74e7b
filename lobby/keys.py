"""The lobby's Redis keys. All share one hash tag, for one script changes several of them at once.

seeks     hash    seek -> stored seek             open      zset   the seek list in order
mine      hash    player -> gateway and seeks     leaving   zset   player -> when his seeks end
gateways  zset    gateway -> end of its lease     changes   stream what happens to seeks
marks     hash    room -> place in its deltas     marker    string whether Redis is the one we know
matches   hash    game -> match not yet seated    holders   hash   game -> replica that seats it
seating   stream  matches to be seated            told      string what two players were told, a minute long
seats     hash    player -> games                 games     hash   game -> summary
live      zset    games being played, in order    heard     zset   game -> when a worker spoke of it
tables    zset    games by id                     over      zset   game -> when it ended, minutes long
last      hash    player -> latest opponent       rematch   hash   game -> who asks
undone    string  a match was undone, ten minutes long
"""

from numbridge.names import lobby_key

SEEKS = lobby_key("seeks")
OPEN = lobby_key("open")
MINE = lobby_key("mine")
LEAVING = lobby_key("leaving")
GATEWAYS = lobby_key("gateways")
CHANGES = lobby_key("changes")
MARKS = lobby_key("marks")
MARKER = lobby_key("marker")
MATCHES = lobby_key("matches")
HOLDERS = lobby_key("holders")
SEATING = lobby_key("seating")
SEATS = lobby_key("seats")
GAMES = lobby_key("games")
LIVE = lobby_key("live")
HEARD = lobby_key("heard")
TABLES = lobby_key("tables")
OVER = lobby_key("over")
LAST = lobby_key("last")
REMATCH = lobby_key("rematch")

GROUP = "seating"  # consumer group of the seating stream


def told(game: str) -> str:
    """What the two players of a game were told."""
    return lobby_key("told", game)


def undone(game: str) -> str:
    """That the game's match was undone."""
    return lobby_key("undone", game)


def in_order(room: str, at: int, name: str) -> str:
    """Member of `open` and `live`: a room's members form one range, oldest first. The scripts build the same."""
    return f"{room}|{at:013d}|{name}"


def room_range(room: str) -> tuple[str, str]:
    """Bounds of a room's range, for ZRANGE … BYLEX."""
    return f"[{room}|", f"({room}}}"


def room_in(member: bytes) -> str:
    """The room of a member."""
    return member.split(b"|", 1)[0].decode()


def name_in(member: bytes) -> str:
    """The seek or game of a member."""
    return member.rsplit(b"|", 1)[1].decode()
