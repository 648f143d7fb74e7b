"""Everything that was ever said to a client. Nothing in here asks the cluster anything.

Times are seconds of this process's monotonic clock.
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

Event = dict[str, Any]
Action = dict[str, Any]
VERSIONED = frozenset({"move", "offer", "adjourned", "resumed", "over"})


class Fate(Enum):
    """What became of an action."""

    UNKNOWN = "unknown"  # never answered for good: it may or may not have counted
    ACKNOWLEDGED = "acknowledged"
    REFUSED = "refused"  # it did not count, and the client was told so


@dataclass(slots=True)
class Attempt:
    """One action of a player, under one ref, however often it was sent."""

    player: str
    game: str
    ref: str
    seen: int
    """The version it was sent with."""
    action: Action
    began: float
    fate: Fate = Fate.UNKNOWN
    version: int = 0
    """What the acknowledgement said."""
    ended: float = 0.0
    sends: int = 0


@dataclass(slots=True)
class Oddity:
    """Something that a client should not have seen."""

    kind: str
    """gap, fork, picture, refusal, seat: see audit.py."""
    at: float
    game: str
    text: str


@dataclass(slots=True)
class Ledger:
    """See the module."""

    attempts: list[Attempt] = field(default_factory=list)
    texts: dict[tuple[str, str], dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    """(viewer, game) -> version -> the event as it came."""
    jumps: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Game -> versions at which somebody got a `state`."""
    seats: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """Game -> colour -> player, as `seated` or a `state` said."""
    first_heard: dict[tuple[str, str], float] = field(default_factory=dict)
    """(player, game) -> when he first heard of it: by `seated`, a `hello`, or an event."""
    rated: dict[tuple[str, str], Event] = field(default_factory=dict)
    """(player, game) -> `rated`."""
    oddities: list[Oddity] = field(default_factory=list)
    asked_for: int = 0
    """Events that came only when a client asked for what it lacked, on a connection that stood."""

    @property
    def games(self) -> set[str]:
        """Every game that any client heard of."""
        return set(self.seats) | {game for _, game in self.texts}

    def odd(self, kind: str, at: float, game: str, text: str) -> None:
        """Notes something that should not have been."""
        self.oddities.append(Oddity(kind, at, game, text))

    def heard(self, viewer: str, event: Event, raw: str, at: float) -> None:
        """One event of a game, as it came to a viewer."""
        game = str(event["game"])
        self.first_heard.setdefault((viewer, game), at)
        if event["ev"] == "state":
            self.jumps[game].add(event["version"])
            for color, player in event["view"]["players"].items():
                self._sits(game, color, player["id"], at)
        elif event["ev"] in VERSIONED:
            known = self.texts[viewer, game].setdefault(event["version"], raw)
            if known != raw:
                self.odd("fork", at, game, f"{viewer} saw version {event['version']} as {known} and as {raw}")
        elif event["ev"] == "rated":
            known_rating = self.rated.setdefault((viewer, game), event)
            if known_rating != event:
                self.odd("rating", at, game, f"{viewer} was told {known_rating} and {event}")

    def seated(self, player: str, event: Event, at: float) -> None:
        """A `seated` event."""
        self.first_heard.setdefault((player, event["game"]), at)
        other = "red" if event["color"] == "blue" else "blue"
        self._sits(event["game"], event["color"], player, at)
        self._sits(event["game"], other, event["opponent"]["id"], at)

    def _sits(self, game: str, color: str, player: str, at: float) -> None:
        known = self.seats[game].setdefault(color, player)
        if known != player:
            self.odd("seat", at, game, f"{color} is {known} and {player}")

    def story(self, game: str) -> tuple[dict[int, Event], list[str]]:
        """Version -> what everybody may know of it, and where two viewers disagree."""
        story: dict[int, Event] = {}
        problems = []
        for (viewer, of), texts in self.texts.items():
            if of != game:
                continue
            for version, text in texts.items():
                event = public(json.loads(text))
                if story.setdefault(version, event) != event:
                    problems.append(f"version {version}: {viewer} saw {event}, somebody else {story[version]}")
        return story, problems


def public(event: Event) -> Event:
    """An event without what only its receiver may see."""
    return {key: value for key, value in event.items() if key != "hand"}
