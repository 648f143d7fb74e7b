"""Workers and message bus of a gateway under test, and the whole cluster behind it."""

import asyncio
from collections import defaultdict
from collections.abc import Callable

from gateway.ports import LinkLost, SharedLimits
from gateway.wiring import Behind
from numbridge import frames, wire
from numbridge.errors import Reason, Rejected, to_proto
from numbridge.routing import Owner
from numbridge.v1 import lobby_pb2
from numbridge.v1 import table_pb2 as pb
from tests.unit.gateway.fake_services import Lobby, Ratings
from tests.unit.gateway.games import GAME

KEY = "k" * 32


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
        self.everybody: list[Callable[[bytes], None]] = []
        self.away = False
        self.losses: list[Callable[[], None]] = []

    async def player(self, player: str, on_notice: Callable[[lobby_pb2.PlayerNotice], None]) -> Subscription:
        calls = self.players[player]
        calls.append(on_notice)
        return Subscription(lambda: calls.remove(on_notice))

    async def seeks(self, room: str, on_delta: Callable[[lobby_pb2.SeekDelta], None]) -> Subscription:
        calls = self.rooms[room]
        calls.append(on_delta)
        return Subscription(lambda: calls.remove(on_delta))

    async def announcements(self, on_text: Callable[[bytes], None]) -> Subscription:
        self.everybody.append(on_text)
        return Subscription(lambda: self.everybody.remove(on_text))

    async def announce(self, text: bytes) -> None:
        if self.away:
            raise Rejected(Reason.UNAVAILABLE, "the message bus is away")
        for call in tuple(self.everybody):
            call(text)

    def on_loss(self, callback: Callable[[], None]) -> None:
        self.losses.append(callback)

    def tell(self, player: str, text: bytes, game: str = "", seeks: tuple[str, ...] = ()) -> None:
        notice = lobby_pb2.PlayerNotice(player=player, text=text, game=game, seeks=seeks)
        for call in tuple(self.players[player]):
            call(notice)

    def change(self, room: str, seq: int, *events: bytes, run: str = "r1") -> None:
        for call in tuple(self.rooms[room]):
            call(lobby_pb2.SeekDelta(room=room, run=run, seq=seq, events=events))


class Cluster:
    """All of it."""

    def __init__(self) -> None:
        self.owners = Owners()
        self.views = Views()
        self.workers = Workers(self.views)
        self.lobby = Lobby()
        self.ratings = Ratings()
        self.notices = Notices()
        self.limits: SharedLimits | None = None

    def behind(self) -> Behind:
        """As the gateway's wiring takes it."""
        return Behind(self.owners, self.workers, self.lobby, self.ratings, self.views, self.notices, self.limits)

    def table(self, game: str = GAME, blue: str = "", red: str = "") -> Table:
        """A new table."""
        table = self.workers.tables[game] = Table(game, blue, red)
        return table
