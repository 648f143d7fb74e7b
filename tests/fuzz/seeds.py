"""Well-formed inputs to begin with, and the corpus."""

import json
from pathlib import Path

from numbridge.frames import pack
from numbridge.tokens import sign
from numbridge.v1 import common_pb2, lobby_pb2, log_pb2
from numbridge.v1 import table_pb2 as pb
from tablesvc.codec import write_record
from tablesvc.engine.commands import Exchange, Offer, Resign
from tablesvc.engine.events import VERSIONED, Event
from tests.fuzz.targets import GAME, RING, joined
from tests.unit.engine.playing import Game

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CORPUS = HERE / "corpus"
GOLDEN = ROOT / "tests" / "golden"

FRAMES = [
    {"op": "ping", "ref": "a", "sent_at": 5}, {"op": "hello", "token": "t", "lang": "el"},
    {"op": "seek", "room": "blitz", "givens": [7, 12], "rated": "any", "blocks": "regular", "rating": [1, 2]},
    {"op": "cancel_seek", "seek": "s"}, {"op": "accept_seek", "seek": "s"}, {"op": "watch_lobby"},
    {"op": "unwatch_lobby"},
    {"op": "join", "game": GAME, "since": 3}, {"op": "join", "game": GAME}, {"op": "leave", "game": GAME},
    {"op": "play", "game": GAME, "version": 1, "action": {"kind": "place", "tile": 3, "cell": "e3"}},
    {"op": "play", "game": GAME, "version": 1, "action": {"kind": "claim", "cell": "a1"}},
    {"op": "rematch", "game": GAME}, {"op": "block", "player": "p"}, {"op": "unblock", "player": "p"},
]  # fmt: skip


def seeds(target: str) -> list[bytes]:
    """Inputs for a target: made here, then those of the corpus."""
    made = {"client": _client, "token": _token, "record": _record, "rooms": _rooms, "log": _log, "bus": _bus}[target]()
    return made + [path.read_bytes() for path in sorted((CORPUS / target).glob("*"))]


def _client() -> list[bytes]:
    texts = [json.dumps(frame).encode() for frame in FRAMES]
    return [*texts, b"\n".join(texts), b"\n".join(reversed(texts))]


def _token() -> list[bytes]:
    claims = b'{"iss": "numbridge", "sub": "p1", "name": "Ada", "iat": 1, "exp": 99999999999, "guest": true}'
    return [sign(RING, "p1", "Ada").encode(), b'!{"alg": "HS256", "typ": "JWT"}\n' + claims, b"a.b.c"]


def _record() -> list[bytes]:
    paths = [*(GOLDEN / "good").glob("*.json"), *(GOLDEN / "bad").glob("*.json")]
    return [data for path in sorted(paths) if len(data := path.read_bytes()) < 6_000]


def _rooms() -> list[bytes]:
    return [(ROOT / "rooms.toml").read_bytes(), (ROOT / "tests" / "system" / "rooms.toml").read_bytes()]


def a_log(variant: str = "blitz", deal: str = "blitz-a") -> list[bytes]:
    """A game's records: placements, a claim, an exchange, an offer, the end."""
    game = Game(variant, deal)
    for step in ("hit", "miss", "claim", "hit", "hit"):
        game.do(getattr(game, step)())
    game.do(Exchange(game.mover))
    game.do(Offer(game.mover, "draw"))
    game.do(Resign(game.mover))
    records, version = [], 0
    for number, event in enumerate(game.events):
        version += _counts(event)
        records.append(write_record(GAME, version, 1, f"a.{number}", game.now, [event], f"r{number}", "ann"))
    return records


def _counts(event: Event) -> bool:
    return isinstance(event, VERSIONED)


def _log() -> list[bytes]:
    records = a_log()
    return [joined(records[:count]) for count in (1, 4, 8, len(records))] + [joined(a_log("bridge", "nine-a"))]


def _bus() -> list[bytes]:
    players = common_pb2.Player(id="ann", name="Ann", rating=1500), common_pb2.Player(id="bob", name="Bob")
    settings = common_pb2.GameSettings(variant="blitz", side=6, blocks="regular", givens=10, claim_price=2)
    summary = common_pb2.GameSummary(
        game=GAME, room="blitz", settings=settings, blue=players[0], red=players[1], status="over", started_at=5,
        version=3,
    )  # fmt: skip
    result = log_pb2.GameResult(
        game=GAME, summary=summary, result="blue", reason="time", record=b"{}", final_view=b"{}", version=3, ended_at=9
    )
    play = pb.Command(
        game=GAME, request=1, play=pb.Play(player="ann", ref="r", version=1, action="place", cell="a1", tile=2)
    )
    join = pb.Command(game=GAME, request=2, join=pb.Join(player="ann", since=1, arrive=True))
    there = pb.Command(game=GAME, presence=pb.Presence(blue=1, red=0, watchers=2))
    reject = pb.Answer(request=1, reject=common_pb2.Reject(reason=common_pb2.REJECT_REASON_LIMIT, message="wait"))
    return [
        b"v" + pack([(0, b"{}"), (7, b'{"ev":"move"}')]),
        b"s" + log_pb2.SeatNotice(games=[summary], worker="w", whole_shard=True, shard=7).SerializeToString(),
        b"r" + result.SerializeToString(),
        b'k{"owner":"w","run":"r","epoch":3,"addr":"a:1"}',
        b'k{"name":"w","run":"r","addr":"a:1","draining":false,"tables":3,"ttl_ms":3000,"beat":7}',
        b"c" + pb.LinkUp(commands=[play, join, there]).SerializeToString(),
        b"a" + pb.LinkDown(answers=[reject]).SerializeToString(),
        b"n" + lobby_pb2.PlayerNotice(player="ann", text=b"{}", game=GAME, seeks=["s"]).SerializeToString(),
    ]
