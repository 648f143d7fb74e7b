"""What is fed. A target raises nothing but for a fault of ours: every refusal that is meant to come it takes itself."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from functools import cache

import msgspec
from google.protobuf.message import DecodeError
from prometheus_client import CollectorRegistry

from gateway.auth import Authenticator
from gateway.session import effects as fx
from gateway.session.limits import Buckets, Rate
from gateway.session.machine import Limits, Session
from lobby.stored import Summary
from numbridge import frames, rooms, wire
from numbridge.errors import Rejected, from_proto
from numbridge.routing import decode_shard, decode_worker
from numbridge.tokens import KeyRing
from numbridge.v1 import lobby_pb2, log_pb2
from numbridge.v1 import table_pb2 as pb
from ratings.decode import Poison, decode_result
from tablesvc import codec, judge
from tablesvc.dealing.solver import has_unique_solution
from tablesvc.engine import clock
from tablesvc.engine.errors import Malformed
from tablesvc.engine.picture import picture
from tablesvc.engine.record import as_dict, from_events
from tablesvc.engine.record_check import walk
from tablesvc.engine.record_shape import parse
from tablesvc.engine.seats import BLUE, RED
from tablesvc.engine.summary import summary
from tablesvc.engine.views import view
from tablesvc.link import Link
from tablesvc.metrics import Metrics
from tablesvc.ports import Logged
from tablesvc.presence import Presence
from tablesvc.recovery import NewerOwner, Replay
from tablesvc.registry import Registry
from tablesvc.story import Story
from tablesvc.works import Play
from tests.helpers.memory_tables import Cluster
from tests.helpers.tables import FirstDice, HandClock, make_world

GAME = "07-ABCDEFGHIJKLMNOP"
RING = KeyRing((b"k" * 32,))
NOW = 1_700_000_000_000


def expect(so: bool) -> None:
    """What a refusal must be."""
    assert so


def client(data: bytes) -> None:
    """A client's frames, a line each, to a session that has said hello; the services answer one way or another."""
    rate = Rate(200, 60)
    buckets = Buckets(rate)
    session = Session(Limits(message=rate, bad=rate, player=buckets, seek=buckets, join=buckets, games=5), 0.0)
    todo = session.bearer()
    for number, text in enumerate(data.split(b"\n")[:40]):
        try:
            message = wire.decode_client(text)
        except wire.BadMessage as problem:
            expect(0 < len(str(problem)) < 400)
            todo += session.bad(problem, number / 10)
        else:
            todo += session.message(message, number / 10, NOW, len(text))
        while todo:
            effect = todo.pop(0)
            if isinstance(effect, fx.Send):
                assert isinstance(json.loads(effect.text), dict)
            elif isinstance(effect, fx.Ask):
                todo += session.answered(effect.number, _result(effect.request, number))
    session.closed()


def _result(request: fx.Request, number: int) -> fx.Result:
    if number % 7 == 6:
        return fx.Refusal("unavailable", "away")
    match request:
        case fx.LogIn():
            return fx.Greeting("p1", "Ada", (), (), NOW)
        case fx.Look():
            return fx.Seated("blue" if number % 2 else "watch")
        case fx.Catch():
            return fx.Joined(3, wire.event("state", game=request.game, version=3), (), b"")
        case fx.Act():
            return fx.Played(4)
        case fx.PostSeek():
            return fx.Posted("s1")
        case fx.WatchLobby():
            return fx.Listed(wire.event("seeks", seeks=[]))
        case _:
            return fx.Done()


def token(data: bytes) -> None:
    """A token as it comes; or, after a `!`, head and claims (a line each) that are signed with the right key."""
    text = data.decode("latin-1")
    if data.startswith(b"!"):
        head, _, body = data[1:].partition(b"\n")
        signing = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in (head, body))
        mac = hmac.new(RING.keys[0], signing, hashlib.sha256).digest()
        text = (signing + b"." + base64.urlsafe_b64encode(mac).rstrip(b"=")).decode()
    verifying = Authenticator(RING, leeway_ms=1000).verify(text)
    try:
        verifying.send(None)
    except StopIteration as done:
        claims = done.value
        assert 1 <= len(claims.player) <= 64
        assert 1 <= len(claims.name) <= 32
        wire.encode({"id": claims.player, "name": claims.name})
    except Rejected as refused:
        expect(len(refused.message) < 200)
    finally:
        verifying.close()


def record(data: bytes) -> None:
    """A game record, replayed to its end and printed."""
    try:
        found = parse(data)
    except Malformed:
        return
    checked = walk(found, has_unique_solution)
    for ply in range(max(0, len(checked.positions) - 2), len(checked.positions)):
        picture(found, checked, ply)
        wire.encode(summary(found, checked, ply))
    wire.encode(as_dict(found))


def rooms_file(data: bytes) -> None:
    """A rooms file."""
    try:
        found = rooms.parse(data)
    except rooms.RoomsError as error:
        expect(bool(error.problems))
    else:
        assert found


def log(data: bytes) -> None:
    """A shard's log: what is read back is served like any other table, to the end of the game if it is over."""
    replay = Replay(epoch=5)
    try:
        for number, message in enumerate(pieces(data)):
            replay.take(Logged(GAME, number + 1, message))
    except NewerOwner:
        return
    for found in replay.games.values():
        story = Story(GAME, found.records)
        state = judge.take_over(found.state, NOW, FirstDice()).state
        for seat, name in ((BLUE, "blue"), (RED, "red"), (None, "watch")):
            wire.encode(view(state, seat, NOW))
            story.since(0, found.state.version, name)  # type: ignore[arg-type]
        codec.summary(GAME, state).SerializeToString()
        clock.deadline(state)
        wire.encode(as_dict(from_events(GAME, story.events())))
        for action in ("exchange", "resign"):
            play = Play(state.table.blue.id, "r", state.version, action, None, None, 0)
            judged = judge.play(state, BLUE, play, NOW, 0, [0, 0], FirstDice())
            for event, _ in judged.steps:
                codec.event_to_proto(event).SerializeToString()


def pieces(data: bytes) -> Iterator[bytes]:
    """Messages, each behind its length in two bytes."""
    while len(data) >= 2:
        size = int.from_bytes(data[:2], "big")
        yield data[2 : 2 + size]
        data = data[2 + size :]


def joined(messages: list[bytes]) -> bytes:
    """The reverse of `pieces`."""
    return b"".join(len(message).to_bytes(2, "big") + message for message in messages)


def bus(data: bytes) -> None:
    """A message of the bus, to each who might get it: the first byte says which."""
    kind, body = data[:1], data[1:]
    try:
        match kind:
            case b"v":
                for version, _ in frames.unpack(body):
                    assert version >= 0
            case b"s":
                for game in log_pb2.SeatNotice.FromString(body).games:
                    msgspec.json.encode(Summary.of(game))
            case b"r":
                msgspec.json.encode(decode_result(f"result.7.{GAME}", body).head)
            case b"k":
                decode_shard(body)
                decode_worker(body)
            case b"c":
                for command in pb.LinkUp.FromString(body).commands:
                    _command(command)
            case b"a":
                for answer in pb.LinkDown.FromString(body).answers:
                    if answer.WhichOneof("kind") == "reject":
                        from_proto(answer.reject)
            case _:
                lobby_pb2.PlayerNotice.FromString(body)
                lobby_pb2.SeekDelta.FromString(body)
    except (DecodeError, Poison):
        pass
    except ValueError as error:  # frames.unpack's own word; anything else is a fault
        if kind != b"v":
            raise AssertionError(kind) from error


def _command(command: pb.Command) -> None:
    """As a table's end of a link takes it."""
    link = _link()
    link._take(command)
    for answer in link._out:
        answer.SerializeToString()
    link._out.clear()
    link._games.clear()


@cache
def _link() -> Link:
    metrics = Metrics(CollectorRegistry())
    registry = Registry(256, metrics)
    return Link(1, registry, Presence(make_world(Cluster(), HandClock()), registry), metrics, 1 << 30)


TARGETS = {"client": client, "token": token, "record": record, "rooms": rooms_file, "log": log, "bus": bus}
WORDS: dict[str, tuple[bytes, ...]] = {
    "client": (
        b"null", b"true", b"[]", b"{}", b'""', b"\n", b"\xff", b'"\\ud800"', b"[" * 40, b"NaN", b'"op":', b'"ref":"r",',
        b'"game":"07-ABCDEFGHIJKLMNOP",', b'"since":', b'"version":', b'"action":{"kind":"pie"}', b'"x":"\\u0000",',
    ),
    "token": (
        b"null", b"[]", b"{}", b'"none"', b'"HS256"', b'"RS256"', b".", b"..", b"=", b'"kid":', b'"crit":["x"],',
        b'"b64":false,', b'"zip":"DEF",', b'"exp":', b'"sub":', b'"\\ud800"', b'"admin":true,', b"1e400", b"-1",
    ),
    "record": (
        b"null", b"true", b"[]", b"{}", b"\xef\xbb\xbf", b'"\\ud800"', b"1.0", b"[" * 70, b'"drew":[', b'"claim"',
        b'"pass"',
        b'"hit":true,', b'"paid":[1,2],', b'"end":{"result":"draw","reason":"agreement"},', b"0", b"10",
    ),
    "rooms": (
        b"[[room]]\n", b'id = "x"\n', b"true", b"[]", b"{}", b'""', b"1979-05-27", b"inf", b"nan", b"0x7f", b"'''",
        b"givens = { min = 0, max = 99, default = 5 }\n", b"[room]\n", b"\x00", b"\xff", b"-1", b"1e400",
    ),
    "log": (b"\x08", b"\x12", b"\x1a", b"\xff" * 9 + b"\x01", b"\x80" * 12, b"\x00", GAME.encode(), b"\x0a\x00"),
    "bus": (b"\x08", b"\x12", b"\x1a", b"\xff" * 9 + b"\x01", b"0 {}\n", b"9" * 5000, b"\n", b"null", b"{}"),
}  # fmt: skip
