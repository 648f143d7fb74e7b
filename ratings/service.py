"""The gRPC edge: decode, ask, encode."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

import structlog
from grpc import aio

from numbridge import RELEASE, rpc
from numbridge.clock import now_ms
from numbridge.errors import Reason, Rejected, unavailable
from numbridge.v1 import common_pb2, ratings_pb2, ratings_pb2_grpc
from ratings.archive import Archive
from ratings.decode import MAX_ID, MAX_NAME
from ratings.domain import Deed, GameHead, Seated
from ratings.metrics import Metrics
from ratings.model.rules import Standing
from ratings.office import Desk
from ratings.ports import People, ResultSource, StoreAway, StoreRefused, StreamAway

log = structlog.get_logger("numbridge.ratings")

NAME = ratings_pb2.DESCRIPTOR.services_by_name["Ratings"].full_name

# (decided) Far beyond need; keeps a program from filling the table.
MAX_BLOCKS = 500

Q = TypeVar("Q")
A = TypeVar("A")
Context = aio.ServicerContext[Any, Any]


def _answers(
    method: Callable[["RatingsService", Q], Awaitable[A]],
) -> Callable[["RatingsService", Q, Context], Awaitable[A]]:
    """Turns what a method raises into the status of the call."""

    @wraps(method)
    async def call(self: "RatingsService", request: Q, context: Context) -> A:
        try:
            return await method(self, request)
        except Rejected as error:
            rejected = error
        except StoreAway as error:
            log.warning("sql_away", call=method.__name__, error=str(error))
            rejected = unavailable("the archive")
        except StreamAway as error:
            log.warning("results_away", call=method.__name__, error=str(error))
            rejected = unavailable("the results")
        except StoreRefused as error:
            log.warning("refused", call=method.__name__, error=str(error))
            rejected = Rejected(Reason.BAD_MESSAGE, "a value is one that cannot be kept")
        await rpc.abort(context, rejected)
        raise rejected  # abort has raised already

    return call


class RatingsService(ratings_pb2_grpc.RatingsServicer):
    """`numbridge.v1.Ratings`."""

    def __init__(self, archive: Archive, people: People, office: Desk, source: ResultSource, metrics: Metrics) -> None:
        self._archive = archive
        self._people = people
        self._office = office
        self._source = source
        self._metrics = metrics

    @_answers
    async def EnsurePlayer(self, request: ratings_pb2.EnsurePlayerRequest) -> ratings_pb2.EnsurePlayerReply:
        """Makes a player known."""
        _check_id(request.id, "id")
        if not 1 <= len(request.name) <= MAX_NAME or "\0" in request.name:
            raise Rejected(Reason.BAD_MESSAGE, f"name must have 1 to {MAX_NAME} characters")
        await self._people.ensure(request.id, request.name, request.guest, now_ms())
        return ratings_pb2.EnsurePlayerReply()

    @_answers
    async def GetPlayer(self, request: ratings_pb2.GetPlayerRequest) -> ratings_pb2.GetPlayerReply:
        """A profile."""
        _check_id(request.id, "id")
        profile = await self._archive.profile(request.id)
        return ratings_pb2.GetPlayerReply(
            id=profile.id,
            name=profile.name,
            ratings=[_rating(variant, standing) for variant, standing in profile.standings.items()],
            won=profile.won,
            lost=profile.lost,
            drawn=profile.drawn,
        )

    @_answers
    async def GetRatings(self, request: ratings_pb2.GetRatingsRequest) -> ratings_pb2.GetRatingsReply:
        """Ratings of several players."""
        for player in request.players:
            _check_id(player, "players")
        standings = await self._archive.ratings(request.variant, list(request.players))
        return ratings_pb2.GetRatingsReply(
            ratings={player: _rating(request.variant, standing) for player, standing in standings.items()}
        )

    @_answers
    async def ListPlayerGames(self, request: ratings_pb2.ListPlayerGamesRequest) -> ratings_pb2.ListPlayerGamesReply:
        """A page of a player's games."""
        _check_id(request.id, "id")
        page = await self._archive.games_of(request.id, request.before, request.limit)
        return ratings_pb2.ListPlayerGamesReply(
            games=[
                ratings_pb2.PlayedGame(
                    game=game.game,
                    room=game.room,
                    variant=game.variant,
                    opponent=_player(game.opponent),
                    color=game.color,
                    result=game.result,
                    reason=game.reason,
                    ended_at=game.ended_at,
                )
                for game in page.games
            ],
            next=page.next,
        )

    @_answers
    async def GetLeaderboard(self, request: ratings_pb2.GetLeaderboardRequest) -> ratings_pb2.GetLeaderboardReply:
        """The best of a variant."""
        rows = await self._archive.leaderboard(request.variant, request.limit)
        return ratings_pb2.GetLeaderboardReply(
            players=[
                ratings_pb2.LeaderboardRow(
                    rank=rank,
                    id=row.id,
                    name=row.name,
                    rating=row.standing.strength.rating,
                    deviation=row.standing.strength.deviation,
                    games=row.standing.games,
                )
                for rank, row in enumerate(rows, 1)
            ]
        )

    @_answers
    async def GetArchived(self, request: ratings_pb2.GetArchivedRequest) -> ratings_pb2.GetArchivedReply:
        """A finished game."""
        _check_id(request.game, "game")
        game = await self._archive.game(request.game)
        return ratings_pb2.GetArchivedReply(
            record=game.record,
            final_view=game.final_view,
            version=game.head.version,
            summary=_summary(game.head),
            result=game.head.result,
            reason=game.head.reason,
        )

    @_answers
    async def ListBlocks(self, request: ratings_pb2.ListBlocksRequest) -> ratings_pb2.ListBlocksReply:
        """Blocks in both directions."""
        _check_id(request.player, "player")
        blocks = await self._people.blocks(request.player)
        return ratings_pb2.ListBlocksReply(blocks=blocks.blocks, blocked_by=blocks.blocked_by)

    @_answers
    async def PutBlock(self, request: ratings_pb2.PutBlockRequest) -> ratings_pb2.PutBlockReply:
        """Blocks or unblocks."""
        _check_id(request.player, "player")
        _check_id(request.other, "other")
        if request.player == request.other:
            raise Rejected(Reason.BAD_MESSAGE, "nobody can block himself")
        if not await self._people.put_block(request.player, request.other, request.blocked, now_ms(), most=MAX_BLOCKS):
            raise Rejected(Reason.FORBIDDEN, f"{MAX_BLOCKS} players are blocked already; unblock one first")
        return ratings_pb2.PutBlockReply()

    @_answers
    async def PutDeed(self, request: ratings_pb2.PutDeedRequest) -> ratings_pb2.PutDeedReply:
        """Writes down what an operator does."""
        deed = Deed(now_ms(), request.actor, request.action, request.subject, request.detail)
        return ratings_pb2.PutDeedReply(id=await self._office.put(deed, request.until))

    @_answers
    async def ListDeeds(self, request: ratings_pb2.ListDeedsRequest) -> ratings_pb2.ListDeedsReply:
        """What operators did."""
        return ratings_pb2.ListDeedsReply(
            deeds=[
                ratings_pb2.Deed(
                    id=number,
                    at=deed.at,
                    actor=deed.actor,
                    action=deed.action,
                    subject=deed.subject,
                    detail=deed.detail,
                )
                for number, deed in await self._office.deeds(request.before, request.limit)
            ]
        )

    @_answers
    async def ListRestrictions(self, request: ratings_pb2.ListRestrictionsRequest) -> ratings_pb2.ListRestrictionsReply:
        """What stands now."""
        return ratings_pb2.ListRestrictionsReply(
            restrictions=[
                ratings_pb2.Restriction(kind=one.kind, subject=one.subject, until=one.until or 0)
                for one in await self._office.standing(now_ms())
            ]
        )

    @_answers
    async def GetBacklog(self, request: ratings_pb2.GetBacklogRequest) -> ratings_pb2.GetBacklogReply:
        """What waits in the stream."""
        waiting = await self._source.waiting()
        return ratings_pb2.GetBacklogReply(waiting=waiting, done=self._metrics.done, release=RELEASE)


def _check_id(text: str, field: str) -> None:
    if not 1 <= len(text) <= MAX_ID or "\0" in text:
        raise Rejected(Reason.BAD_MESSAGE, f"{field} must have 1 to {MAX_ID} characters")


def _rating(variant: str, standing: Standing) -> ratings_pb2.Rating:
    return ratings_pb2.Rating(
        variant=variant,
        rating=standing.strength.rating,
        deviation=standing.strength.deviation,
        volatility=standing.strength.volatility,
        games=standing.games,
    )


def _player(seated: Seated) -> common_pb2.Player:
    return common_pb2.Player(id=seated.id, name=seated.name, rating=seated.rating)


def _summary(head: GameHead) -> common_pb2.GameSummary:
    return common_pb2.GameSummary(
        game=head.game,
        room=head.room,
        settings=common_pb2.GameSettings(**head.settings),  # type: ignore[arg-type]
        blue=_player(head.blue),
        red=_player(head.red),
        status="over",
        started_at=head.started_at,
        version=head.version,
    )
