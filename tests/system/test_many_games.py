"""Thirty games at once over the whole cluster: every variant and both kinds of blocks, each with a spectator."""

import asyncio
import itertools
import json
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.helpers.client import Client, Club, Event
from tests.helpers.cluster import Cluster, command
from tests.helpers.picture import Picture
from tests.helpers.play import Player, watch

KINDS = list(itertools.product(("bridge", "blitz", "domains"), ("regular", "irregular")))
RATED, UNRATED = 4, 1  # games of each kind
GAMES = len(KINDS) * (RATED + UNRATED)


class Game:
    """One of the games: who plays, who watches, and what each of them has seen by the end."""

    def __init__(self, game: str, room: str, settings: Event) -> None:
        self.game = game
        self.room = room
        self.settings = settings
        self.players: dict[str, Player] = {}
        self.watcher: Client | None = None
        self.watched: Picture | None = None
        self.watched_rated: list[Event] = []
        self.record: Event = {}

    async def play(self) -> None:
        """To the end, for all three of them."""
        assert self.watcher is not None
        watching = asyncio.create_task(watch(self.watcher, self.game))
        await asyncio.gather(*(player.play() for player in self.players.values()), watching)
        self.watched, self.watched_rated = watching.result()

    def pictures(self) -> dict[str, Picture]:
        """What blue, red and the spectator saw last."""
        assert self.watched is not None
        seen = {color: player.picture for color, player in self.players.items()}
        return {color: picture for color, picture in seen.items() if picture is not None} | {"watch": self.watched}


async def seat_everyone(club: Club) -> list[Game]:
    """Sixty guests seek, and the lobby makes thirty pairs of them."""
    wishes: list[tuple[str, dict[str, Any]]] = [
        (room, {"blocks": blocks, "rated": rated})
        for room, blocks in KINDS
        for rated in (True,) * (2 * RATED) + (False,) * (2 * UNRATED)
    ]
    guests = await asyncio.gather(*(club.guest(f"Player {number}") for number in range(len(wishes))))
    await asyncio.gather(
        *(guest.ask("seek", room=room, **wish) for guest, (room, wish) in zip(guests, wishes, strict=True))
    )
    seats = await asyncio.gather(*(guest.wait("seated", timeout_s=40) for guest in guests))
    games: dict[str, Game] = {}
    for number, (guest, seat, (room, wish)) in enumerate(zip(guests, seats, wishes, strict=True)):
        game = games.setdefault(seat["game"], Game(seat["game"], room, seat["settings"]))
        assert seat["room"] == game.room == room
        assert {key: seat["settings"][key] for key in wish} == wish
        assert seat["color"] not in game.players
        pause = seat["color"] == "blue" and len(games) % 5 == 0
        game.players[seat["color"]] = Player(guest, seat["game"], Random(number), pause=pause)
    return list(games.values())


def replayed(cluster: Cluster, records: list[Event], folder: Path) -> list[Event]:
    """What `numbridge replay --json` says of the records."""
    paths = [folder / f"{record['game']}.json" for record in records]
    for path, record in zip(paths, records, strict=True):
        path.write_text(json.dumps(record))
    done = command("replay", "--json", *map(str, paths))
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def status(cluster: Cluster) -> Event:
    """`numbridge status --json`."""
    found: Event = json.loads(command("status", "--json", "--data", str(cluster.data)).stdout)
    return found


def check_pictures(game: Game, end: Event) -> None:
    """Every viewer's last picture is the record's last position, hands included where they may be seen."""
    sizes = {color: len(hand) for color, hand in end["hands"].items()}
    shown = {key: end[key] for key in ("field", "owners", "mistakes", "result", "reason")}
    shown |= {"hands": sizes, "bag": len(end["bag"])}
    pictures = game.pictures()
    assert set(pictures) == {"blue", "red", "watch"}
    for seat, picture in pictures.items():
        assert picture.position() == shown, (game.game, seat)
        if seat == "watch":
            assert "hand" not in picture.view
        else:
            assert sorted(picture.view["hand"]) == end["hands"][seat], (game.game, seat)
    assert len({picture.version for picture in pictures.values()}) == 1


async def check_ratings(club: Club, games: list[Game]) -> dict[str, dict[str, Any]]:
    """Every rated game counted once, as the events said; returns ratings by variant and player."""
    boards: dict[str, dict[str, Any]] = defaultdict(dict)
    for game in games:
        variant = game.settings["variant"]
        for color, player in game.players.items():
            profile = await club.get(f"/api/players/{player.client.id}")
            if not game.settings["rated"]:
                assert profile["ratings"] == {}
                assert player.rated == []
                continue
            assert [(event["game"], event["variant"]) for event in player.rated] == [(game.game, variant)]
            rating = profile["ratings"][variant]
            assert rating["games"] == 1
            after = player.rated[0]["after"]
            assert (after["rating"], after["deviation"]) == pytest.approx(
                (rating["rating"], rating["deviation"]), abs=1
            )
            assert game.watched_rated[0][color]["after"] == after
            boards[variant][player.client.id] = rating
        assert len(game.watched_rated) == (1 if game.settings["rated"] else 0)
    return boards


@pytest.mark.timeout(400)
async def test_thirty_games_at_once_from_seek_to_leaderboard(cluster: Cluster, club: Club, tmp_path: Path) -> None:
    moves_before = {worker["worker"]: worker["moves"] for worker in status(cluster)["workers"]}
    games = await seat_everyone(club)
    assert len(games) == GAMES
    for game in games:
        game.watcher = await club.guest("Spectator")
        viewers = [player.client for player in game.players.values()]
        assert len(viewers) == 2
        await asyncio.gather(*(client.join(game.game) for client in (*viewers, game.watcher)))
    used = Counter(player.client.url for game in games for player in game.players.values())
    assert set(used) == set(cluster.urls)
    assert len(used) == 2

    await asyncio.gather(*(game.play() for game in games))

    viewers = [player.client for game in games for player in game.players.values()]
    viewers += [game.watcher for game in games if game.watcher is not None]
    assert [gap for viewer in viewers for gap in viewer.gaps] == []
    for game in games:
        game.record = await club.get(f"/api/games/{game.game}/record")
        public = await club.get(f"/api/games/{game.game}")
        picture = game.pictures()["watch"]
        assert public["version"] == picture.version
        assert {key: public["view"][key] for key in ("field", "owners", "hands", "bag", "result")} == {
            key: picture.position()[key] for key in ("field", "owners", "hands", "bag", "result")
        }
    for game, end in zip(games, replayed(cluster, [game.record for game in games], tmp_path), strict=True):
        assert end["error"] is None
        assert end["ply"] == len(game.record["moves"]) == len(game.pictures()["watch"].kinds)
        assert game.record["settings"] == game.settings
        check_pictures(game, end)

    boards = await check_ratings(club, games)
    for variant, rated in boards.items():
        board = (await club.get(f"/api/leaderboard/{variant}?limit=200"))["players"]
        assert [row["rank"] for row in board] == list(range(1, len(board) + 1))
        assert [row["rating"] for row in board] == sorted((row["rating"] for row in board), reverse=True)
        rows = {row["id"]: row for row in board}
        assert set(rated) <= set(rows)
        assert len(rows) == len(board)
        assert all(rows[player]["rating"] == pytest.approx(rating["rating"], abs=1) for player, rating in rated.items())

    kinds = Counter(kind for game in games for kind in game.pictures()["watch"].kinds)
    assert set(kinds) >= {"place", "claim", "exchange", "pie"}
    moved = {worker["worker"]: worker["moves"] for worker in status(cluster)["workers"]}
    assert len(moved) == 2
    assert all(moves > moves_before.get(worker, 0) for worker, moves in moved.items())
