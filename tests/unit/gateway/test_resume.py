"""Which frames a client still lacks: every version once, in order, or a whole state."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.session.effects import Frame, Joined
from gateway.session.resume import HELD_MAX, View

LOG: list[Frame] = [(version, b"v%d" % version) for version in range(1, 41)]


def frames(*versions: int) -> list[Frame]:
    return [(version, b"v%d" % version) for version in versions]


def answer(version: int, *versions: int, state: bytes = b"", presence: bytes = b"") -> Joined:
    return Joined(version, state, tuple(frames(*versions)), presence)


def live(since: int | None) -> View:
    view = View("g", "watch", since)
    view.asking = 0
    return view


def test_frames_in_order_pass() -> None:
    view = live(0)
    assert view.live(frames(1, 2)) == ([b"v1", b"v2"], False)
    assert view.version == 2


def test_overlap_is_dropped() -> None:
    view = live(2)
    assert view.live(frames(1, 2, 3)) == ([b"v3"], False)


def test_a_gap_asks_again_and_shows_nothing_after_it() -> None:
    view = live(2)
    assert view.live(frames(3, 5, 6)) == ([b"v3"], True)
    assert view.version == 3


def test_frames_without_a_version_pass_at_any_time() -> None:
    view = live(None)
    assert view.live([(0, b"presence")]) == ([b"presence"], False)


def test_what_comes_while_the_worker_is_asked_is_held() -> None:
    view = View("g", "blue", 2)
    view.ask(1)
    assert view.live(frames(4, 5)) == ([], False)
    assert view.joined(answer(4, 3, 4, presence=b"p")) == ([b"v3", b"v4", b"p", b"v5"], False)
    assert view.version == 5


def test_a_state_replaces_everything_before_it() -> None:
    view = View("g", "blue", None)
    view.ask(1)
    view.live(frames(1, 2, 3))
    assert view.joined(answer(2, state=b"state2")) == ([b"state2", b"v3"], False)


def test_a_hole_in_the_answer_asks_for_a_state() -> None:
    view = View("g", "blue", 2)
    view.ask(1)
    assert view.joined(answer(6, 3, 5, 6)) == ([b"v3"], True)
    assert view.version is None


def test_an_answer_that_stops_short_asks_for_a_state() -> None:
    view = View("g", "blue", 2)
    view.ask(1)
    assert view.joined(answer(4, 3)) == ([b"v3"], True)
    assert view.version is None


def test_a_gap_between_answer_and_held_frames_asks_again() -> None:
    view = View("g", "blue", 0)
    view.ask(1)
    view.live(frames(4))
    assert view.joined(answer(2, 1, 2)) == ([b"v1", b"v2"], True)
    assert view.version == 2


def test_a_loss_while_asking_is_followed_by_another_question() -> None:
    view = View("g", "blue", 0)
    view.ask(1)
    assert not view.resync()
    assert view.joined(answer(0)) == ([], True)
    assert view.resync()


def test_too_many_held_frames_are_let_go_and_asked_for() -> None:
    view = View("g", "watch", 0)
    view.ask(1)
    for version in range(1, HELD_MAX + 2):
        view.live(frames(version))
    texts, again = view.joined(answer(1, 1))
    assert texts == [b"v1"]
    assert again


def test_a_muted_view_says_nothing_and_needs_a_state() -> None:
    view = live(3)
    view.mute()
    assert view.live(frames(4)) == ([], False)
    view.ask(1)
    assert view.joined(answer(4, state=b"state4")) == ([], False)
    assert view.version is None
    view.muted = False
    view.ask(2)
    assert view.joined(answer(5, state=b"state5")) == ([b"state5"], False)
    assert view.live(frames(6)) == ([b"v6"], False)


@given(
    since=st.none() | st.integers(0, 40),
    held_from=st.integers(1, 41),
    answered=st.integers(0, 40),
    kept_from=st.integers(0, 40),
    lost=st.sets(st.integers(1, 40)),
)
def test_whatever_is_lost_the_client_sees_no_hole(
    since: int | None, held_from: int, answered: int, kept_from: int, lost: set[int]
) -> None:
    """A worker that answers truthfully, live frames that get lost: the client's versions are a run, or begin anew."""
    view = View("g", "watch", since)
    seen: int | None = since

    def feed(texts: list[bytes]) -> None:
        nonlocal seen
        for text in texts:
            version = int(text.lstrip(b"state v"))
            assert text.startswith(b"state") or (seen is not None and version == seen + 1), (text, seen)
            seen = version

    def worker(now: int) -> Joined:
        if view.version is None or not kept_from <= view.version <= now:
            return Joined(now, b"state%d" % now, (), b"")
        return Joined(now, b"", tuple(LOG[view.version : now]), b"")

    view.ask(1)
    for frame in LOG[held_from - 1 : 20]:
        if frame[0] not in lost:
            feed(view.live([frame])[0])
    texts, again = view.joined(worker(answered))
    feed(texts)
    for frame in LOG[max(20, answered) :]:
        if again:
            view.ask(2)
            texts, again = view.joined(worker(frame[0] - 1))
            feed(texts)
        if frame[0] not in lost:
            texts, again = view.live([frame])
            feed(texts)
    while again or (seen is None or seen < 40):
        view.ask(3)
        texts, again = view.joined(worker(40))
        feed(texts)
    assert seen == 40
