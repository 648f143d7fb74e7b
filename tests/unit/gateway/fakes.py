"""Backends of a gateway under test: they record what is asked and answer from a script."""

import asyncio
from collections import defaultdict
from collections.abc import Callable

import msgspec

from gateway.ports import LinkLost
from gateway.wiring import Behind
from numbridge import frames, wire
from numbridge.errors import Reason, Rejected, to_proto
from numbridge.routing import Owner
from numbridge.tokens import Claims
from numbridge.v1 import common_pb2, lobby_pb2, ratings_pb2
from numbridge.v1 import table_pb2 as pb

KEY = "k" * 32
GAME = "07-0123456789abcdef"
OTHER_GAME = "08-0123456789abcdef"
UNKNOWN_GAME = "09-0123456789abcdef"


class Subscription:
    """One that can be ended."""

    def __init__(self, end: Callable[[], None]) -> None:
        self._end = end
        self.ended = False

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self._end()


class Owners:
    """A shard map that a test changes by hand."""

    def __init__(self) -> None:
        self.count = 256
        self.now: Owner | None = Owner("w1", "w1:1", 1)
        self.callbacks: list[Callable[[int], None]] = []
        self._changed = asyncio.Event()

    def owner(self, shard: int) -> Owner | None:
        return self.now

    async def wait_owner(self, shard: int, timeout_s: float, unlike: Owner | None = None) -> Owner | None:
        try:
            async with asyncio.timeout(timeout_s):
                while self.now is None or self.now == unlike:
                    await self._changed.wait()
        except TimeoutError:
            return None
        return self.now

    def on_change(self, callback: Callable[[int], None]) -> None:
        self.callbacks.append(callback)

    def change(self, owner: Owner | None, shard: int = 7) -> None:
        """The shard changes hands."""
        self.now = owner
        self._changed.set()
        self._changed = asyncio.Event()
        for callback in self.callbacks:
            callback(shard)


class Table:
    """A running table: who sits where, and its frames."""

    def __init__(self, game: str, blue: str = "", red: str = "") -> None:
        self.game = game
        self.blue, self.red = blue, red
        self.version = 0
        self.status = "playing"
        self.log: dict[str, list[frames.Frame]] = {"blue": [], "red": [], "watch": []}
        self.forgotten = 0  # frames up to this version are no longer held
        self.plays: list[pb.Play] = []
        self.joins: list[pb.Join] = []
        self.refs: dict[tuple[str, str], int] = {}

    def seat(self, player: str) -> str:
        return "blue" if player and player == self.blue else "red" if player and player == self.red else "watch"

    def state(self, seat: str) -> bytes:
        view = {"status": self.status, **({"you": seat} if seat != "watch" else {})}
        return wire.event("state", game=self.game, version=self.version, view=view)


class Workers:
    """Links to workers, and the workers."""

    def __init__(self, views: "Views") -> None:
        self.views = views
        self.tables: dict[str, Table] = {}
        self.sent: list[tuple[str, pb.Command]] = []
        self.presence: dict[str, tuple[int, int, int]] = {}
        self.reports: list[tuple[str, str]] = []
        self.opens: list[Callable[[str], None]] = []
        self.script: list[pb.Answer | LinkLost | Rejected | None] = []  # answers before the tables'; None: none at all
        self.publish = True

    def on_open(self, callback: Callable[[str], None]) -> None:
        self.opens.append(callback)

    def report(self, owner: Owner, game: str, presence: pb.Presence) -> None:
        self.presence[game] = (presence.blue, presence.red, presence.watchers)
        self.reports.append((owner.addr, game))

    def send(self, owner: Owner, command: pb.Command) -> "asyncio.Future[pb.Answer]":
        future: asyncio.Future[pb.Answer] = asyncio.get_running_loop().create_future()
        self.sent.append((owner.addr, command))
        if self.script:
            scripted = self.script.pop(0)
            if isinstance(scripted, Rejected):
                raise scripted
            if isinstance(scripted, LinkLost):
                future.set_exception(scripted)
            elif scripted is not None:
                future.set_result(scripted)
            return future
        asyncio.get_running_loop().call_soon(self._reply, future, command)
        return future

    def _reply(self, future: "asyncio.Future[pb.Answer]", command: pb.Command) -> None:
        if not future.done():
            future.set_result(self.answer(command))

    def answer(self, command: pb.Command) -> pb.Answer:
        """What a worker would say."""
        table = self.tables.get(command.game)
        if table is None:
            return refused(Reason.NOT_FOUND)
        match command.WhichOneof("kind"):
            case "look":
                return pb.Answer(seat=pb.Seat(seat=table.seat(command.look.player), status=table.status))
            case "join":
                return pb.Answer(joined=self._join(table, command.join))
            case "play":
                return self._play(table, command.play)
            case "record":
                return pb.Answer(record=b'{"format":"numbridge.record/1"}')
        raise AssertionError(command)

    def _join(self, table: Table, join: pb.Join) -> pb.Joined:
        table.joins.append(join)
        seat = table.seat(join.player)
        presence = wire.event("presence", game=table.game, blue=True, red=True, watchers=0)
        joined = pb.Joined(seat=seat, version=table.version, presence=presence)
        if not join.HasField("since") or not table.forgotten <= join.since <= table.version:
            joined.state = table.state(seat)
        else:
            for version, text in table.log[seat]:
                if version > join.since:
                    joined.frames.append(pb.Frame(version=version, text=text))
        return joined

    def _play(self, table: Table, play: pb.Play) -> pb.Answer:
        known = table.refs.get((play.player, play.ref))
        if known is not None:
            return pb.Answer(accepted=pb.Accepted(version=known))
        seat = table.seat(play.player)
        if seat == "watch":
            return refused(Reason.FORBIDDEN)
        if play.version != table.version:
            return refused(Reason.STALE, version=table.version)
        table.plays.append(play)
        self.move(table)
        table.refs[(play.player, play.ref)] = table.version
        return pb.Answer(accepted=pb.Accepted(version=table.version))

    def move(self, table: Table, count: int = 1) -> None:
        """Something happens at the table."""
        for _ in range(count):
            table.version += 1
            for seat, log in table.log.items():
                text = wire.event("move", game=table.game, version=table.version, seen_by=seat)
                log.append((table.version, text))
                if self.publish:
                    self.views.say(table.game, seat, [(table.version, text)])


def refused(reason: Reason, **fields: int) -> pb.Answer:
    """A worker's refusal."""
    return pb.Answer(reject=to_proto(Rejected(reason, f"{reason} says the worker", **fields)))


class Views:
    """Frames by subject."""

    def __init__(self) -> None:
        self.watching: dict[tuple[str, str], list[Callable[[list[frames.Frame]], None]]] = defaultdict(list)
        self.losses: list[Callable[[], None]] = []
        self.opened = 0
        self.gate: asyncio.Event | None = None
        self.away = False

    async def watch(self, game: str, seat: str, on_frames: Callable[[list[frames.Frame]], None]) -> Subscription:
        if self.away:
            raise Rejected(Reason.UNAVAILABLE, "the message bus is away")
        self.opened += 1
        calls = self.watching[(game, seat)]
        calls.append(on_frames)
        subscription = Subscription(lambda: calls.remove(on_frames))
        if self.gate is not None:
            await self.gate.wait()
        return subscription

    def say(self, game: str, seat: str, said: list[frames.Frame]) -> None:
        for call in tuple(self.watching[(game, seat)]):
            call(said)

    def on_loss(self, callback: Callable[[], None]) -> None:
        self.losses.append(callback)

    def lose(self) -> None:
        for callback in self.losses:
            callback()

    def count(self) -> int:
        """Subscriptions that stand."""
        return sum(map(len, self.watching.values()))


class Notices:
    """Notices by player, deltas by room."""

    def __init__(self) -> None:
        self.players: dict[str, list[Callable[[lobby_pb2.PlayerNotice], None]]] = defaultdict(list)
        self.rooms: dict[str, list[Callable[[lobby_pb2.SeekDelta], None]]] = defaultdict(list)
        self.losses: list[Callable[[], None]] = []

    async def player(self, player: str, on_notice: Callable[[lobby_pb2.PlayerNotice], None]) -> Subscription:
        calls = self.players[player]
        calls.append(on_notice)
        return Subscription(lambda: calls.remove(on_notice))

    async def seeks(self, room: str, on_delta: Callable[[lobby_pb2.SeekDelta], None]) -> Subscription:
        calls = self.rooms[room]
        calls.append(on_delta)
        return Subscription(lambda: calls.remove(on_delta))

    def on_loss(self, callback: Callable[[], None]) -> None:
        self.losses.append(callback)

    def tell(self, player: str, text: bytes, game: str = "", seeks: tuple[str, ...] = ()) -> None:
        notice = lobby_pb2.PlayerNotice(player=player, text=text, game=game, seeks=seeks)
        for call in tuple(self.players[player]):
            call(notice)

    def change(self, room: str, seq: int, *events: bytes, run: str = "r1") -> None:
        for call in tuple(self.rooms[room]):
            call(lobby_pb2.SeekDelta(room=room, run=run, seq=seq, events=events))


def a_seek(seek: str, room: str = "blitz", player: str = "p1") -> lobby_pb2.Seek:
    """An open seek."""
    return lobby_pb2.Seek(
        seek=seek,
        player=common_pb2.Player(id=player, name="Ada", rating=1500),
        wish=lobby_pb2.SeekWish(room=room, blocks="any", givens_min=7, givens_max=12),
        since=5,
    )


class Lobby:
    """The lobby service."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []
        self.refusal: Rejected | None = None
        self.fault: Exception | None = None
        self.open: dict[str, list[lobby_pb2.Seek]] = {"blitz": [], "bridge": []}
        self.marks: dict[str, tuple[str, int]] = {"blitz": ("r1", 0), "bridge": ("r1", 0)}
        self.greeting = lobby_pb2.GreetReply()
        self.kept = lobby_pb2.KeepGatewayReply(lease_ms=10_000)
        self.playing: list[common_pb2.GameSummary] = []

    def _said(self, call: str, request: object = None) -> None:
        self.calls.append((call, request))
        if self.fault is not None:
            raise self.fault
        if self.refusal is not None:
            raise self.refusal

    def asked(self, call: str) -> list[object]:
        """Requests of one kind, in order."""
        return [request for name, request in self.calls if name == call]

    async def rooms(self) -> lobby_pb2.GetRoomsReply:
        self._said("rooms")
        return lobby_pb2.GetRoomsReply(
            rooms=[
                lobby_pb2.RoomNow(id=room, room=wire.encode({"id": room, "name": room}), waiting=len(seeks), playing=2)
                for room, seeks in self.open.items()
            ]
        )

    async def seeks(self, room: str) -> lobby_pb2.ListSeeksReply:
        self._said("seeks", room)
        if room and room not in self.open:
            raise Rejected(Reason.NOT_FOUND, "there is no such room")
        rooms = [room] if room else list(self.open)
        reply = lobby_pb2.ListSeeksReply(seeks=[seek for name in rooms for seek in self.open[name]])
        for name in rooms:
            run, seq = self.marks[name]
            reply.marks[name].run, reply.marks[name].seq = run, seq
        return reply

    async def post(self, request: lobby_pb2.PostSeekRequest) -> lobby_pb2.Seek:
        self._said("post", request)
        return lobby_pb2.Seek(seek=request.seek, player=request.player, wish=request.wish, since=9)

    async def cancel(self, request: lobby_pb2.CancelSeekRequest) -> None:
        self._said("cancel", request)

    async def accept(self, request: lobby_pb2.AcceptSeekRequest) -> str:
        self._said("accept", request)
        return GAME

    async def greet(self, request: lobby_pb2.GreetRequest) -> lobby_pb2.GreetReply:
        self._said("greet", request)
        return self.greeting

    async def set_presence(self, request: lobby_pb2.SetPresenceRequest) -> None:
        self._said("set_presence", request)

    async def keep(self, request: lobby_pb2.KeepGatewayRequest) -> lobby_pb2.KeepGatewayReply:
        self._said("keep", request)
        return self.kept

    async def games(self, room: str, limit: int) -> lobby_pb2.ListGamesReply:
        self._said("games", (room, limit))
        return lobby_pb2.ListGamesReply(games=self.playing)

    async def rematch(self, request: lobby_pb2.AskRematchRequest) -> bool:
        self._said("rematch", request)
        return False

    async def block(self, request: lobby_pb2.SetBlockRequest) -> None:
        self._said("block", request)


class Ratings:
    """The ratings service."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.archive: dict[str, ratings_pb2.GetArchivedReply] = {}
        self.refusal: Rejected | None = None

    def _said(self) -> None:
        if self.refusal is not None:
            raise self.refusal

    async def ensure_player(self, claims: Claims) -> None:
        self._said()
        self.known[claims.player] = claims.name

    async def player(self, player: str) -> ratings_pb2.GetPlayerReply:
        self._said()
        if player not in self.known:
            raise Rejected(Reason.NOT_FOUND, "there is no such player")
        rating = ratings_pb2.Rating(variant="blitz", rating=1510.5, deviation=80.25, volatility=0.06, games=3)
        return ratings_pb2.GetPlayerReply(id=player, name=self.known[player], ratings=[rating], won=2, lost=1)

    async def player_games(self, player: str, before: str, limit: int) -> ratings_pb2.ListPlayerGamesReply:
        self._said()
        opponent = common_pb2.Player(id="p2", name="Bob")
        game = ratings_pb2.PlayedGame(
            game=GAME, room="blitz", variant="blitz", opponent=opponent, color="red", result="blue", reason="time"
        )
        return ratings_pb2.ListPlayerGamesReply(games=[game] * min(limit, 2), next="" if before else "cursor")

    async def leaderboard(self, variant: str, limit: int) -> ratings_pb2.GetLeaderboardReply:
        self._said()
        if variant != "blitz":
            raise Rejected(Reason.BAD_MESSAGE, "no such variant")
        row = ratings_pb2.LeaderboardRow(rank=1, id="p1", name="Ada", rating=1600, deviation=60, games=9)
        return ratings_pb2.GetLeaderboardReply(players=[row][:limit])

    async def archived(self, game: str) -> ratings_pb2.GetArchivedReply | None:
        self._said()
        return self.archive.get(game)


def an_end(game: str, blue: str, red: str, version: int = 9) -> ratings_pb2.GetArchivedReply:
    """A finished game in the archive."""
    summary = common_pb2.GameSummary(
        game=game, room="blitz", status="over", blue=common_pb2.Player(id=blue), red=common_pb2.Player(id=red)
    )
    return ratings_pb2.GetArchivedReply(
        record=b'{"format":"numbridge.record/1","archived":true}',
        final_view=msgspec.json.encode({"status": "over", "result": "blue"}),
        version=version,
        summary=summary,
        result="blue",
        reason="resign",
    )


class Cluster:
    """All of it."""

    def __init__(self) -> None:
        self.owners = Owners()
        self.views = Views()
        self.workers = Workers(self.views)
        self.lobby = Lobby()
        self.ratings = Ratings()
        self.notices = Notices()

    def behind(self) -> Behind:
        """As the gateway's wiring takes it."""
        return Behind(self.owners, self.workers, self.lobby, self.ratings, self.views, self.notices)

    def table(self, game: str = GAME, blue: str = "", red: str = "") -> Table:
        """A new table."""
        table = self.workers.tables[game] = Table(game, blue, red)
        return table
