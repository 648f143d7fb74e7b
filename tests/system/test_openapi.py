"""A running cluster answers as its own description says."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.helpers.client import Club


async def described(club: Club) -> dict[str, Any]:
    """The served description."""
    found: dict[str, Any] = await club.get("/api/openapi.json")
    return found


def check(description: dict[str, Any], path: str, status: int, body: Any) -> None:
    """Holds an answer against what is described for it."""
    answer = description["paths"][path]["get"]["responses"][str(status)]
    schema = {**answer["content"]["application/json"]["schema"], "components": description["components"]}
    Draft202012Validator(schema).validate(body)


async def test_every_call_of_a_club_with_a_game_under_way_and_one_over(club: Club) -> None:
    description = await described(club)
    game, blue, red = await club.seat("blitz", rated=True)
    open_seek = await club.guest("Eve")
    await open_seek.ask("seek", room="study", rating=[2800, 2900], givens=[22, 30], highlight=True)
    calls = {
        "/api/rooms": "/api/rooms", "/api/seeks": "/api/seeks?room=study", "/api/games": "/api/games?limit=5",
        "/api/games/{game}": f"/api/games/{game}", "/api/players/{player}": f"/api/players/{blue.id}",
        "/healthz": "/healthz", "/readyz": "/readyz",
    }  # fmt: skip
    for pattern, path in calls.items():
        check(description, pattern, 200, await club.get(path))
    check(description, "/api/games/{game}/record", 409, await club.get(f"/api/games/{game}/record", 409))
    await red.play(game, "resign")
    await blue.wait("rated", lambda e: e["game"] == game)
    calls = {
        "/api/games/{game}": f"/api/games/{game}", "/api/games/{game}/record": f"/api/games/{game}/record",
        "/api/players/{player}": f"/api/players/{blue.id}",
        "/api/players/{player}/games": f"/api/players/{red.id}/games",
        "/api/leaderboard/{variant}": "/api/leaderboard/blitz?limit=3",
    }  # fmt: skip
    for pattern, path in calls.items():
        check(description, pattern, 200, await club.get(path))


@pytest.mark.parametrize(
    ("pattern", "path", "status"),
    [
        ("/api/seeks", "/api/seeks?room=nowhere", 404), ("/api/games", "/api/games?limit=x", 400),
        ("/api/players/{player}", "/api/players/nobody", 404), ("/api/games/{game}", "/api/games/nothing", 404),
        ("/api/leaderboard/{variant}", "/api/leaderboard/chess", 404),
        ("/api/players/{player}/games", "/api/players/nobody/games?before=nonsense", 400),
    ],
)  # fmt: skip
async def test_refusals_have_the_described_shape(club: Club, pattern: str, path: str, status: int) -> None:
    check(await described(club), pattern, status, await club.get(path, status))
