"""A session in a storm: everything that can happen, in any order. Each ref is answered once, no version is missed."""

import random
from collections import Counter
from typing import Any

import pytest

from gateway.session import effects as fx
from gateway.session.machine import Limits
from tests.unit.gateway.talking import Talker, frame, state

GAMES = ("g", "h", "i")


class Storm:
    """One client, three tables that go on without it, and a network that loses frames and says so afterwards."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.talk = Talker(Limits(requests=10_000))
        self.truth = dict.fromkeys(GAMES, 0)
        self.kept = dict.fromkeys(GAMES, 0)  # frames up to this version are no longer held
        self.tuned: set[str] = set()
        self.seen: dict[str, int | None] = {}
        self.answers: Counter[str] = Counter()
        self.asked = 0
        self.results: list[tuple[int, fx.Result]] = []
        self.rejoins: dict[str, tuple[str, int]] = {}
        self.lagging = False

    def heard(self) -> None:
        """Checks what the client was told."""
        for event in self.talk.said:
            game = str(event.get("game"))
            if event["ev"] in ("ok", "error"):
                self.answers[event["ref"]] += 1
                if event["ev"] == "ok" and event["ref"] in self.rejoins:  # from here on, what came after `since`
                    joined, since = self.rejoins[event["ref"]]
                    self.seen[joined] = since
            elif event["ev"] == "state":
                self.seen[game] = event["version"]
            elif event["ev"] == "move":
                known = self.seen.get(game)
                assert known is not None, f"{game}: a move without a position"
                assert event["version"] == known + 1, f"{game}: {known} then {event['version']}"
                self.seen[game] = event["version"]
        self.talk.said.clear()
        for game in self.talk.untuned:
            self.tuned.discard(game)
        self.talk.untuned.clear()

    def client(self, **message: Any) -> None:
        self.asked += 1
        self.talk.client(ref=f"r{self.asked}", **message)

    def play_on(self, game: str) -> None:
        """The table goes on; the frame comes, or is lost and the loss is told of."""
        self.truth[game] += 1
        if self.dice.random() < 0.2:
            self.kept[game] = self.dice.randint(self.kept[game], self.truth[game])
        if game in self.tuned:
            if self.dice.random() < 0.8:
                self.talk.frames(game, self.truth[game])
            else:
                self.talk.take(self.talk.session.resync())

    def answer(self) -> None:
        """Some result that is on its way arrives, or some request is carried out: later things may overtake it."""
        if self.results and self.dice.random() < 0.5:
            self.talk.take(self.talk.session.answered(*self.results.pop(self.dice.randrange(len(self.results)))))
        elif self.talk.asked:
            self.carry_out()

    def carry_out(self) -> None:
        """Some open request gets its result, as things stand now."""
        ask = self.talk.asked.pop(self.dice.randrange(len(self.talk.asked)))
        result: fx.Result = fx.Done()
        if self.dice.random() < 0.15:
            result = fx.Refusal("unavailable", "away")
        else:
            match ask.request:
                case fx.Look():
                    result = fx.Seated("watch")
                case fx.Tune(game):
                    self.tuned.add(game)
                case fx.Catch(game, _, since, _):
                    result = self.catch(game, since)
                case fx.Act():
                    result = fx.Played(1)
        self.results.append((ask.number, result))

    def catch(self, game: str, since: int | None) -> fx.Joined:
        now = self.truth[game]
        if since is None or not self.kept[game] <= since <= now:
            return state(game, now)
        return fx.Joined(now, b"", tuple(frame(game, version) for version in range(since + 1, now + 1)), b"")

    def step(self) -> None:
        game = self.dice.choice(GAMES)
        match self.dice.randrange(12):
            case 0:
                since = self.seen.get(game)
                if since is not None:
                    self.rejoins[f"r{self.asked + 1}"] = game, since
                self.client(op="join", game=game, **({} if since is None else {"since": since}))
            case 1:
                self.client(op="leave", game=game)
            case 2:
                self.client(op="play", game=game, version=0, action={"kind": "pie"})
            case 3:
                self.talk.take(self.talk.session.lagging() if not self.lagging else self.talk.session.drained())
                self.lagging = not self.lagging
            case 4:
                self.talk.take(self.talk.session.tick())
            case 5 | 6 | 7:
                self.play_on(game)
            case _:
                self.answer()
        self.heard()

    def calm(self) -> None:
        """The storm is over for a while: what is open gets done, and the client has all that there is."""
        if self.lagging:
            self.talk.take(self.talk.session.drained())
            self.lagging = False
        while self.talk.asked or self.results or any(view.wanting for view in self.talk.session.tables.views.values()):
            self.answer()
            self.talk.take(self.talk.session.tick())
            self.heard()
        assert set(self.answers.values()) <= {1}
        assert len(self.answers) == self.asked
        assert set(self.talk.session.tables.views) == self.tuned
        assert {game: self.seen[game] for game in self.tuned} == {game: self.truth[game] for game in self.tuned}
        assert not self.talk.closes


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_missed_and_everything_is_answered(seed: int) -> None:
    storm = Storm(seed)
    for _ in range(30):
        for _ in range(storm.dice.randint(1, 30)):
            storm.step()
        storm.calm()
