"""What clients were told, against what the records say. Pure.

lost       acknowledged, but not in the record
doubled    in the record, but sent by nobody, or more often than it was sent
fork       one version with two contents, or another order than the record's
gap        a version out of order for some viewer, or seen by nobody
missing    a game that neither ended nor runs
rating     games counted more or less than once, or numbers that do not follow from each other
refusal    an answer that an honest player should never get
picture    a `state` that is not what the events before it led to
seat       two players in one seat, or a game that its players never heard of
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.ledger import Action, Attempt, Event, Fate, Ledger

Record = dict[str, Any]
MOVES = frozenset({"place", "claim", "exchange", "pie"})  # what a player does; burns and passes happen
FATAL = ("lost", "doubled", "fork", "gap", "missing", "rating", "refusal", "picture", "seat")
_SAYS: dict[str, tuple[tuple[str, dict[str, str]], ...]] = {
    "resign": (("over", {"reason": "resign"}),),
    "offer_draw": (("offer", {"kind": "draw", "state": "open"}),),
    "decline_draw": (("offer", {"kind": "draw", "state": "declined"}),),
    "offer_adjourn": (("offer", {"kind": "adjourn", "state": "open"}),),
    "accept_adjourn": (("adjourned", {}),),
    "resume": (("offer", {"kind": "resume", "state": "open"}), ("resumed", {})),
}
"""Action -> the last event of its command, as one of these."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as promised. `at` is 0 where nobody knows when."""

    kind: str
    game: str
    at: float
    text: str


@dataclass(slots=True)
class Archive:
    """What the cluster says at the end."""

    records: dict[str, Record] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    """Games that it still serves, unfinished."""
    profiles: dict[str, dict[str, Any]] = field(default_factory=dict)
    games: dict[str, list[str]] = field(default_factory=dict)
    """Player -> the games in his list."""


def judge(ledger: Ledger, archive: Archive) -> list[Finding]:
    """Everything that is wrong."""
    found = [Finding(odd.kind, odd.game, odd.at, odd.text) for odd in ledger.oddities]
    attempts: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in ledger.attempts:
        attempts[attempt.game].append(attempt)
    for game in sorted(ledger.games):
        record = archive.records.get(game)
        if record is None and game not in archive.running:
            found.append(Finding("missing", game, 0, "it neither ended nor runs"))
            continue
        story, disagreements = ledger.story(game)
        found += [Finding("fork", game, 0, text) for text in disagreements]
        found += _acknowledged(attempts[game], story)
        if record is not None:
            found += _told_as_recorded(game, story, ledger.jumps[game], record)
            found += _recorded_as_sent(game, attempts[game], record)
    return found + _ratings(ledger, archive)


def _acknowledged(attempts: Iterable[Attempt], story: Mapping[int, Event]) -> list[Finding]:
    """Every acknowledged action is an event between the version it was sent with and the one it was answered."""
    found = []
    used: dict[int, str] = {}
    for attempt in attempts:
        if attempt.fate is not Fate.ACKNOWLEDGED:
            continue
        where = _place_of(attempt, story)
        if where is None:
            text = f"{attempt.player} {attempt.ref} {attempt.action} at {attempt.seen}, answered {attempt.version}"
            found.append(Finding("lost", attempt.game, attempt.ended, text))
        elif where in used:
            text = f"version {where} was acknowledged as {used[where]} and as {attempt.ref}"
            found.append(Finding("doubled", attempt.game, attempt.ended, text))
        else:
            used[where] = attempt.ref
    return found


def _place_of(attempt: Attempt, story: Mapping[int, Event]) -> int | None:
    kind = attempt.action["kind"]
    if kind in MOVES:
        for version in range(attempt.seen + 1, attempt.version + 1):
            event = story.get(version)
            if event is not None and event["ev"] == "move":
                return version if _is(attempt.player, attempt.action, event) else None
        return None
    last = story.get(attempt.version)
    if last is None:
        return None
    fits = any(last["ev"] == ev and last.items() >= facts.items() for ev, facts in _SAYS[kind])
    return attempt.version if fits else None


def _is(player: str, action: Action, move: Event) -> bool:
    """Whether an event is that action. Who moves is checked against the record, which knows players by name."""
    if move["kind"] != action["kind"]:
        return False
    if action["kind"] == "place":
        return bool(move["cell"] == action["cell"] and move["digit"] == action["tile"])
    return action["kind"] != "claim" or bool(move["cell"] == action["cell"])


def _told_as_recorded(game: str, story: Mapping[int, Event], jumps: set[int], record: Record) -> list[Finding]:
    """The events in their order are the record, move by move, and its end."""
    found = []
    last = max([*story, *jumps], default=0)
    unseen = [version for version in range(1, last + 1) if version not in story]
    if unseen:
        found.append(Finding("gap", game, 0, f"versions {unseen} of {last} were seen by nobody"))
    told = [_brief(event) for _, event in sorted(story.items()) if event["ev"] == "move"]
    written = [_brief_record(move) for move in record["moves"]]
    if told != written and not (unseen and _within(told, written)):
        found.append(Finding("fork", game, 0, f"told {told}, recorded {written}"))
    ends = [event for event in story.values() if event["ev"] == "over"]
    wrong = [end for end in ends if {key: end[key] for key in ("result", "reason")} != record["end"]]
    found += [Finding("fork", game, 0, f"told {end}, recorded {record['end']}") for end in wrong]
    if len(ends) > 1:
        found.append(Finding("doubled", game, 0, "it was over twice"))
    return found


def _brief(move: Event) -> tuple[Any, ...]:
    return (move["by"], move["kind"], move.get("cell"), move.get("digit"), move.get("hit"))


def _brief_record(move: dict[str, Any]) -> tuple[Any, ...]:
    return (move["by"], move["kind"], move.get("cell"), move.get("tile"), move.get("hit"))


def _within(part: list[tuple[Any, ...]], whole: list[tuple[Any, ...]]) -> bool:
    rest = iter(whole)
    return all(any(one == other for other in rest) for one in part)


def _recorded_as_sent(game: str, attempts: list[Attempt], record: Record) -> list[Finding]:
    """Each player's moves in the record are those he sent, in that order: what was acknowledged, all of it."""
    found = []
    for color in ("blue", "red"):
        player = record["players"][color]["id"]
        sent = [a for a in attempts if a.player == player and a.action["kind"] in MOVES and a.fate is not Fate.REFUSED]
        written = [move for move in record["moves"] if move["by"] == color and move["kind"] in MOVES]
        place = 0
        for attempt in sent:
            if place < len(written) and _is(player, attempt.action, _as_event(written[place])):
                place += 1
            elif attempt.fate is Fate.ACKNOWLEDGED:
                text = f"{player}'s {attempt.ref} {attempt.action} is not move {place + 1} of his"
                found.append(Finding("lost", game, attempt.ended, text))
        if place < len(written):
            found.append(Finding("doubled", game, 0, f"nobody sent {written[place:]}"))
    return found


def _as_event(move: dict[str, Any]) -> Event:
    return {**move, "digit": move.get("tile")}


def _ratings(ledger: Ledger, archive: Archive) -> list[Finding]:
    found = []
    counts: dict[tuple[str, str], int] = defaultdict(int)
    results: dict[str, dict[str, int]] = defaultdict(lambda: {"won": 0, "lost": 0, "drawn": 0})
    for record in archive.records.values():
        result = record["end"]["result"]
        if result == "none":
            continue
        for color, player in record["players"].items():
            counts[player["id"], record["settings"]["variant"]] += record["settings"]["rated"]
            ending = "drawn" if result == "draw" else "won" if result == color else "lost"
            results[player["id"]][ending] += 1
    for player, profile in archive.profiles.items():
        said = {variant: rating["games"] for variant, rating in profile["ratings"].items()}
        due = {variant: count for (who, variant), count in counts.items() if who == player and count}
        if said != due:
            found.append(Finding("rating", "", 0, f"{player}: {said} rated games, {due} in the archive"))
        if profile["games"] != results[player]:
            found.append(Finding("rating", "", 0, f"{player}: {profile['games']}, in the archive {results[player]}"))
    found += _chains(ledger, archive)
    for player, games in archive.games.items():
        if len(set(games)) != len(games):
            found.append(Finding("rating", "", 0, f"{player}: a game twice in the list"))
        found += [Finding("seat", game, 0, f"{player} never heard of it") for game in set(games) - ledger.games]
        theirs = {game for game, seats in ledger.seats.items() if player in seats.values()} & set(archive.records)
        found += [Finding("missing", game, 0, f"not in {player}'s list") for game in theirs - set(games)]
    return found


def _chains(ledger: Ledger, archive: Archive) -> list[Finding]:
    """No rating was the starting point of two games, and no game starts from a number that nothing led to."""
    found = []
    steps: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for (viewer, game), event in ledger.rated.items():
        if viewer in ledger.seats[game].values():
            steps[viewer, event["variant"]].append(event)
    for (player, variant), events in steps.items():
        befores = [str(event["before"]) for event in events]
        if len(set(befores)) != len(befores):
            found.append(Finding("rating", "", 0, f"{player}: two games rated from one number: {sorted(befores)}"))
        said = archive.profiles.get(player, {}).get("ratings", {}).get(variant)
        if said is not None and len(events) == said["games"]:  # all were heard: the last one is what the profile says
            # Ratings alone: a deviation grows between two games, if only by a hair. `rated` has two decimals.
            afters = Counter(event["after"]["rating"] for event in events)
            ends = afters - Counter(event["before"]["rating"] for event in events)
            now = round(said["rating"], 2)
            if now not in afters or set(ends) - {now}:
                text = f"{player}: the chain ends at {sorted(ends)}, the profile says {now}"
                found.append(Finding("rating", "", 0, text))
    return found
