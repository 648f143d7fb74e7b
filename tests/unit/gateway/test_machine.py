"""A session's conversation, without a socket."""

from typing import Any

import pytest

from gateway.session import effects as fx
from gateway.session.limits import Buckets, Rate
from gateway.session.machine import MOST_REFUSED_HELLOS, Limits, Phase
from gateway.session.replies import ok
from tests.unit.gateway.talking import GREETING, Talker

REFUSED = fx.Refusal("forbidden", "no")


def test_hello_brings_what_the_player_must_know() -> None:
    talk = Talker(logged_in=False)
    talk.client(op="hello", token="secret", ref="h")
    assert talk.pending(fx.LogIn).token == "secret"
    assert talk.session.full  # nothing is read until it is known who this is
    talk.answer(fx.LogIn, GREETING)
    assert talk.said == [
        {
            "ev": "hello",
            "ref": "h",
            "player": {"id": "p1", "name": "Ada"},
            "server_at": 1_700_000_000_000,
            "games": ["g1"],
            "seeks": ["s1"],
        }
    ]
    assert talk.session.phase is Phase.OPEN
    assert not talk.session.full


def test_a_bearer_header_brings_hello_unasked() -> None:
    talk = Talker(logged_in=False)
    talk.take(talk.session.bearer())
    talk.answer(fx.LogIn, GREETING)
    assert talk.heard() == ["hello"]


def test_a_refused_hello_may_be_tried_again() -> None:
    talk = Talker(logged_in=False)
    talk.client(op="hello", token="bad", ref="h1")
    talk.answer(fx.LogIn, fx.Refusal("unauthorized", "no"))
    assert talk.said[0]["ref"] == "h1"
    assert talk.heard() == ["error unauthorized"]
    talk.client(op="hello", token="good")
    talk.answer(fx.LogIn, GREETING)
    assert talk.heard() == ["hello"]


def test_who_guesses_tokens_is_closed() -> None:
    talk = Talker(logged_in=False)
    for _ in range(MOST_REFUSED_HELLOS):
        assert talk.closes == []
        talk.client(op="hello", token="guess")
        talk.answer(fx.LogIn, fx.Refusal("unauthorized", "no"))
    assert talk.heard() == ["error unauthorized"] * MOST_REFUSED_HELLOS
    assert [close.code for close in talk.closes] == [1008]


def test_a_lobby_that_is_away_is_no_guess() -> None:
    talk = Talker(logged_in=False)
    for _ in range(MOST_REFUSED_HELLOS * 2):
        talk.client(op="hello", token="t")
        talk.answer(fx.LogIn, fx.Refusal("unavailable", "away"))
    assert talk.closes == []


@pytest.mark.parametrize("op", ["ping", "watch_lobby"])
def test_nothing_goes_before_hello(op: str) -> None:
    talk = Talker(logged_in=False)
    talk.client(op=op, ref="early")
    assert talk.said[0]["ref"] == "early"
    assert talk.heard() == ["error unauthorized"]
    assert talk.asked == []


def test_a_second_hello_is_refused() -> None:
    talk = Talker()
    talk.client(op="hello", token="t")
    assert talk.heard() == ["error unauthorized"]
    assert talk.session.phase is Phase.OPEN


def test_ping_is_answered_at_once_and_overtakes() -> None:
    talk = Talker()
    talk.client(op="watch_lobby")
    talk.client(op="ping", sent_at=12.5, ref="p")
    assert talk.said == [{"ev": "pong", "ref": "p", "sent_at": 12.5, "server_at": 1_700_000_000_123}]


@pytest.mark.parametrize(
    ("message", "request_kind", "result", "answer"),
    [
        ({"op": "seek", "room": "blitz"}, fx.PostSeek, fx.Posted("s9"), {"ev": "ok", "ref": "r", "seek": "s9"}),
        ({"op": "cancel_seek", "seek": "s9"}, fx.CancelSeek, fx.Done(), {"ev": "ok", "ref": "r"}),
        ({"op": "accept_seek", "seek": "s9"}, fx.AcceptSeek, fx.Done(), {"ev": "ok", "ref": "r"}),
        ({"op": "unwatch_lobby"}, fx.UnwatchLobby, fx.Done(), {"ev": "ok", "ref": "r"}),
        ({"op": "rematch", "game": "g1"}, fx.AskRematch, fx.Done(), {"ev": "ok", "ref": "r"}),
        ({"op": "block", "player": "p2"}, fx.SetBlock, fx.Done(), {"ev": "ok", "ref": "r"}),
        ({"op": "unblock", "player": "p2"}, fx.SetBlock, fx.Done(), {"ev": "ok", "ref": "r"}),
        (
            {"op": "play", "game": "g1", "version": 0, "action": {"kind": "pie"}},
            fx.Act,
            fx.Played(4),
            {"ev": "ok", "ref": "r", "version": 4},
        ),
    ],
)
def test_each_op_asks_and_answers(
    message: dict[str, Any], request_kind: type[fx.Request], result: fx.Result, answer: dict[str, Any]
) -> None:
    talk = Talker()
    talk.client(**message, ref="r")
    talk.answer(request_kind, result)
    assert talk.said == [answer]
    talk.said.clear()
    talk.client(**message, ref="r2")
    refusal = fx.Refusal("stale", "moved on", version=7, retry_ms=5, ply=2)
    talk.answer(request_kind, refusal)
    details = {"message": "moved on", "version": 7, "retry_ms": 5, "ply": 2}
    assert talk.said == [{"ev": "error", "ref": "r2", "code": "stale", **details}]


def test_an_answer_without_a_ref_has_none() -> None:
    assert ok(None) == b'{"ev":"ok"}'


def test_block_and_unblock_say_which() -> None:
    talk = Talker()
    talk.client(op="block", player="p2")
    assert talk.pending(fx.SetBlock) == fx.SetBlock("p2", True)
    talk.answer(fx.SetBlock, fx.Done())
    talk.client(op="unblock", player="p2")
    assert talk.pending(fx.SetBlock) == fx.SetBlock("p2", False)


def test_one_table_is_handled_in_order_and_another_does_not_wait() -> None:
    talk = Talker()
    for game, version in (("g1", 0), ("g1", 1), ("g2", 0)):
        talk.client(op="play", game=game, version=version, action={"kind": "pie"}, ref=f"{game}.{version}")
    acts = [ask.request.message for ask in talk.asked if isinstance(ask.request, fx.Act)]
    assert [(act.game, act.version) for act in acts] == [("g1", 0), ("g2", 0)]
    talk.take(talk.session.answered(talk.asked[0].number, fx.Played(1)))
    assert talk.said[-1]["ref"] == "g1.0"
    assert isinstance(talk.asked[-1].request, fx.Act)
    assert talk.asked[-1].request.message.version == 1


def test_the_socket_is_left_unread_when_too_much_is_under_way() -> None:
    talk = Talker(Limits(requests=3))
    for _ in range(3):
        assert not talk.session.full
        talk.client(op="cancel_seek", seek="s1")
    assert talk.session.full
    talk.answer(fx.CancelSeek, fx.Done())
    assert not talk.session.full


# --- the lobby ---------------------------------------------------------------------------------------------------


def test_watching_the_lobby_brings_a_snapshot_and_then_changes() -> None:
    talk = Talker()
    talk.take(talk.session.lobby_news([b'{"ev":"seek_removed"}']))
    assert talk.said == []  # not watching yet
    talk.client(op="watch_lobby", room="blitz")
    talk.answer(fx.WatchLobby, fx.Listed(b'{"ev":"seeks","seeks":[]}'))
    assert talk.heard() == ["ok", "seeks"]
    talk.take(talk.session.lobby_news([b'{"ev":"seek_added"}', b'{"ev":"seek_removed"}']))
    assert talk.heard() == ["seek_added", "seek_removed"]
    talk.client(op="unwatch_lobby", room="blitz")
    talk.answer(fx.UnwatchLobby, fx.Done())
    talk.take(talk.session.lobby_news([b'{"ev":"seek_added"}']))
    assert talk.heard() == ["ok"]


def test_a_refused_watch_watches_nothing() -> None:
    talk = Talker()
    talk.client(op="watch_lobby", room="nowhere")
    talk.answer(fx.WatchLobby, fx.Refusal("not_found", "no such room"))
    talk.take(talk.session.lobby_news([b'{"ev":"seek_added"}']))
    assert talk.heard() == ["error not_found"]


def test_a_slow_lobby_watcher_gets_the_list_anew() -> None:
    talk = Talker()
    talk.client(op="watch_lobby")
    talk.answer(fx.WatchLobby, fx.Listed(b'{"ev":"seeks","seeks":[]}'))
    talk.heard()
    talk.take(talk.session.lagging())
    talk.take(talk.session.lobby_news([b'{"ev":"seek_added"}']))
    assert talk.heard() == []
    talk.take(talk.session.drained())
    talk.answer(fx.WatchLobby, fx.Listed(b'{"ev":"seeks","seeks":[]}'))
    assert talk.heard() == ["seeks"]
    talk.take(talk.session.lobby_news([b'{"ev":"seek_added"}']))
    assert talk.heard() == ["seek_added"]


def test_notices_reach_those_who_are_logged_in() -> None:
    talk = Talker()
    talk.take(talk.session.notice(b'{"ev":"seated"}'))
    assert talk.heard() == ["seated"]
    stranger = Talker(logged_in=False)
    stranger.take(stranger.session.notice(b'{"ev":"seated"}'))
    assert stranger.said == []


# --- limits ------------------------------------------------------------------------------------------------------


def test_bad_messages_are_answered_up_to_a_limit_and_then_the_door_closes() -> None:
    talk = Talker(Limits(bad=Rate(10, 10)))
    for _ in range(10):
        talk.garbage()
    assert talk.heard() == ["error bad_message"] * 10
    talk.garbage()
    assert talk.said == []
    assert [close.code for close in talk.closes] == [1008]
    talk.client(op="ping")
    talk.garbage()
    assert talk.said == []  # nothing after the close
    assert len(talk.closes) == 1


def test_refused_requests_are_no_bad_messages() -> None:
    talk = Talker(Limits(bad=Rate(1, 1)))
    for code in ("illegal", "stale", "not_your_turn"):
        for _ in range(20):
            talk.client(op="play", game="g1", version=0, action={"kind": "pie"})
            talk.answer(fx.Act, fx.Refusal(code, "no"))
    assert talk.closes == []


def test_a_negative_since_is_a_bad_message() -> None:
    talk = Talker(Limits(bad=Rate(1, 1)))
    talk.client(op="join", game="g1", since=-1, ref="j")
    assert talk.said[0]["ref"] == "j"
    assert talk.heard() == ["error bad_message"]
    talk.garbage()
    assert talk.closes


def test_too_many_messages_are_refused_with_a_time_to_wait() -> None:
    talk = Talker(Limits(message=Rate(2, 60)))  # hello was the first
    talk.client(op="ping")
    talk.client(op="ping", ref="over")
    assert talk.said[-1]["retry_ms"] == 1000
    assert talk.said[-1]["ref"] == "over"
    assert talk.heard() == ["pong", "error limit"]
    talk.now += 1.0
    talk.client(op="ping")
    assert talk.heard() == ["pong"]


def test_a_flood_is_closed() -> None:
    talk = Talker(Limits(message=Rate(1, 1), flood=Rate(3, 1)))
    for _ in range(4):
        talk.client(op="ping")
    assert talk.heard() == ["error limit"] * 3
    assert [close.code for close in talk.closes] == [1008]


def test_a_ping_flood_of_frames_is_closed_too() -> None:
    talk = Talker(Limits(message=Rate(2, 1), flood=Rate(2, 1)))
    for _ in range(4):
        talk.take(talk.session.pinged(talk.now))
    assert [close.code for close in talk.closes] == [1008]


def test_a_players_connections_share_his_limits() -> None:
    limits = Limits(player=Buckets(Rate(2, 60)), seek=Buckets(Rate(1, 60)), join=Buckets(Rate(1, 60)))
    one, two = Talker(limits), Talker(limits)
    one.client(op="ping")
    two.client(op="ping")
    assert two.heard() == ["pong"]
    one.client(op="ping")
    assert one.heard() == ["pong", "error limit"]
    one.now = two.now = 2000.0
    one.client(op="seek", room="blitz")
    two.client(op="seek", room="blitz")
    assert [len(one.asked), two.heard()] == [1, ["error limit"]]
    one.now = two.now = 3000.0
    one.client(op="join", game="g1")
    two.client(op="join", game="g2")
    assert [len(one.asked), two.heard()] == [2, ["error limit"]]


def test_who_is_not_logged_in_hears_that_first() -> None:
    talk = Talker(Limits(message=Rate(1, 1)), logged_in=False)
    for _ in range(3):
        talk.client(op="seek", room="blitz")
    assert talk.heard() == ["error unauthorized"] * 3


def test_after_the_socket_has_gone_answers_are_dropped() -> None:
    talk = Talker()
    talk.client(op="cancel_seek", seek="s1")
    talk.take(talk.session.closed())
    talk.answer(fx.CancelSeek, fx.Done())
    assert talk.said == []
    assert talk.session.phase is Phase.CLOSED
