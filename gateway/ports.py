"""What the gateway needs of the rest of the cluster. Adapters and the tests' fakes have these shapes.

Every call is bounded by its adapter and raises numbridge.errors.Rejected when
it is refused, `unavailable` when the other side is away. What may be repeated
safely says so.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from gateway.session.limits import Rate
from numbridge import names
from numbridge.frames import Frame
from numbridge.routing import Owner
from numbridge.tokens import Claims
from numbridge.v1 import lobby_pb2, ratings_pb2, table_pb2


class LinkLost(Exception):
    """The link to a worker ended, or no answer came in time. Whether the command took effect is unknown."""


class LimitsAway(Exception):
    """Nobody counts for all gateways just now: Redis did not answer in time."""


class SharedLimits(Protocol):
    """What all gateways count together. Every call is short, and raises LimitsAway when it is in vain."""

    async def take(self, name: str, key: str, rate: Rate, *, take: bool = True) -> int:
        """Takes one of `key`'s bucket of the limit `name`: 0, or milliseconds to wait, and nothing is taken.

        `take` False only looks. Not to be repeated: each call takes.
        """

    async def sit(self, game: str, seat: str, other: str, house: str) -> bool:
        """A player came to `seat` from `house`; True if `other` is held from there too and nobody said so before."""


class Owners(Protocol):
    """Who serves which shard (numbridge.routing.Routes). A wrong answer does no harm: that worker says `moved`."""

    count: int

    def owner(self, shard: int) -> Owner | None:
        """Who serves the shard, as far as is known here."""

    async def wait_owner(self, shard: int, timeout_s: float, unlike: Owner | None = None) -> Owner | None:
        """Waits for an owner other than `unlike`; None after `timeout_s`."""

    def on_change(self, callback: Callable[[int], None]) -> None:
        """`callback(shard)` runs whenever a shard's owner changed."""


class Links(Protocol):
    """One stream to each worker."""

    def send(self, owner: Owner, command: table_pb2.Command) -> "asyncio.Future[table_pb2.Answer]":
        """Sends a command (its `request` is filled in here); the future brings the answer, or LinkLost.

        Commands of one game arrive in the order of these calls. A future that is cancelled is forgotten.
        Raises Rejected (unavailable) when too many commands wait on the link.
        """

    def report(self, owner: Owner, game: str, presence: table_pb2.Presence) -> None:
        """Says how many viewers a game has here. Absolute, so repeating it changes nothing; the latest wins."""

    def on_open(self, callback: Callable[[str], None]) -> None:
        """`callback(addr)` runs whenever a link to a worker has been opened: it knows nothing of presence yet."""


class Lobby(Protocol):
    """The lobby service."""

    async def rooms(self) -> lobby_pb2.GetRoomsReply:
        """Rooms with what goes on in them."""

    async def seeks(self, room: str) -> lobby_pb2.ListSeeksReply:
        """Open seeks of a room ("" for all), with the place in the run of deltas. Rejected: not_found."""

    async def post(self, request: lobby_pb2.PostSeekRequest) -> lobby_pb2.Seek:
        """Posts a seek; safe to repeat under the same id. Rejected: bad_seek, not_found, forbidden, limit."""

    async def cancel(self, request: lobby_pb2.CancelSeekRequest) -> None:
        """Takes a seek back. Rejected: gone, forbidden."""

    async def accept(self, request: lobby_pb2.AcceptSeekRequest) -> str:
        """Accepts a seek; the game's id. Rejected: gone, forbidden, not_found, limit. Not repeated by itself."""

    async def greet(self, request: lobby_pb2.GreetRequest) -> lobby_pb2.GreetReply:
        """What a player who has just connected must know."""

    async def set_presence(self, request: lobby_pb2.SetPresenceRequest) -> None:
        """A player's first connection has come, or the last has gone. Safe to repeat."""

    async def keep(self, request: lobby_pb2.KeepGatewayRequest) -> lobby_pb2.KeepGatewayReply:
        """The gateway's heartbeat. Safe to repeat."""

    async def games(self, room: str, limit: int) -> lobby_pb2.ListGamesReply:
        """Games being played. Rejected: not_found."""

    async def rematch(self, request: lobby_pb2.AskRematchRequest) -> bool:
        """Asks for a rematch; whether both have asked now. Safe to repeat."""

    async def block(self, request: lobby_pb2.SetBlockRequest) -> None:
        """Blocks or unblocks. Safe to repeat."""

    async def end_game(self, game: str) -> bool:
        """Ends a game by an operator's word; whether it was over before. Safe to repeat. Rejected: not_found."""


class Ratings(Protocol):
    """The ratings service. All calls but `deed` are safe to repeat."""

    async def ensure_player(self, claims: Claims) -> None:
        """Makes the player known, or updates the name."""

    async def player(self, player: str) -> ratings_pb2.GetPlayerReply:
        """Rejected: not_found."""

    async def player_games(self, player: str, before: str, limit: int) -> ratings_pb2.ListPlayerGamesReply:
        """Rejected: not_found, bad_message (cursor)."""

    async def leaderboard(self, variant: str, limit: int) -> ratings_pb2.GetLeaderboardReply:
        """Rejected: bad_message (no such variant)."""

    async def deed(self, request: ratings_pb2.PutDeedRequest) -> int:
        """Writes down what an operator does; its number. Rejected: bad_message, forbidden. Not repeated by itself."""

    async def deeds(self, before: int, limit: int) -> ratings_pb2.ListDeedsReply:
        """What operators did, newest first; those with lower numbers than `before`, unless it is 0."""

    async def restrictions(self) -> ratings_pb2.ListRestrictionsReply:
        """What operators have restricted."""

    async def archived(self, game: str) -> ratings_pb2.GetArchivedReply | None:
        """A finished game; None if it is not in the archive."""


class Subscription(Protocol):
    """Something that can be ended; ending it twice is fine."""

    def end(self) -> None:
        """No call comes after this."""


class Views(Protocol):
    """Frames of tables."""

    async def watch(self, game: str, seat: names.Seat, on_frames: Callable[[list[Frame]], None]) -> Subscription:
        """Subscribes; when it returns, nothing said from now on is missed. Rejected: unavailable."""

    def on_loss(self, callback: Callable[[], None]) -> None:
        """`callback()` runs when messages of any subscription may have been lost."""


class Notices(Protocol):
    """What is said to players, and about seek lists. As Views: in force when the call returns."""

    async def player(self, player: str, on_notice: Callable[[lobby_pb2.PlayerNotice], None]) -> Subscription:
        """Notices for one player."""

    async def seeks(self, room: str, on_delta: Callable[[lobby_pb2.SeekDelta], None]) -> Subscription:
        """Changes of one room's seek list."""

    async def announcements(self, on_text: Callable[[bytes], None]) -> Subscription:
        """Events that every connection gets, as JSON text."""

    async def announce(self, text: bytes) -> None:
        """Says such an event to all gateways, this one included. At most once. Rejected: unavailable."""

    def on_loss(self, callback: Callable[[], None]) -> None:
        """As Views.on_loss."""


class Tokens(Protocol):
    """Verifies and makes tokens."""

    async def verify(self, token: str) -> Claims:
        """Who the token stands for. Rejected: unauthorized; unavailable while the keys cannot be had."""

    def guest(self, player: str, name: str) -> str:
        """A signed token for a guest. Rejected: forbidden where guests are switched off."""


class Viewer(Protocol):
    """A connection, as the hub sees it."""

    def on_frames(self, game: str, frames: list[Frame]) -> None:
        """Live frames of a table it has tuned to."""

    def on_resync(self, game: str | None) -> None:
        """Frames (of `game`, or of any table) may have been missed."""


class Watcher(Protocol):
    """A connection, as the seek board sees it."""

    def on_lobby(self, texts: Iterable[bytes]) -> None:
        """Changes of a list it watches."""


class Listener(Protocol):
    """A connection, as the register of players sees it."""

    def on_notice(self, text: bytes) -> None:
        """An event for the player."""
