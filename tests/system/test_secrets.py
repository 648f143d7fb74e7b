"""What must stay at the worker stays there: nothing of it in any log, metric or answer while the game runs."""

import json
from collections.abc import Iterator

from tests.helpers.client import Client, Club
from tests.helpers.cluster import Cluster


def spellings(tiles: list[int]) -> Iterator[str]:
    """A hand as the programs' writers of text would put it."""
    yield json.dumps(tiles)
    yield json.dumps(tiles, separators=(",", ":"))
    yield str(tuple(tiles))


async def test_no_log_at_debug_and_no_metric_tells_a_secret(club: Club, cluster: Cluster) -> None:
    game, blue, red = await club.seat("study", blocks="irregular")
    for mover in (blue, red, blue, red):
        await mover.play(game, "exchange")
        await other(mover, blue, red).seen(game, mover.versions[game])
    running = json.dumps(await club.get(f"/api/games/{game}"))
    metrics = []
    for process in cluster.facts()["processes"]:
        if process.get("metrics_port"):
            async with club.session.get(f"http://127.0.0.1:{process['metrics_port']}/metrics") as response:
                metrics.append(await response.text())
    logs = "".join(path.read_text(errors="replace") for path in sorted((cluster.data / "logs").glob("*.log")))
    assert game in logs, "the logs do tell of this game at this level"

    await red.play(game, "resign")
    await blue.wait("over", lambda e: e["game"] == game)
    record = await club.get(f"/api/games/{game}/record")
    public = "".join(metrics) + running
    for secret in (record["deal"]["solution"], blue.token, red.token):
        assert secret not in logs
        assert secret not in public
    for move in record["moves"]:
        for text in spellings(move["drew"]):
            assert text not in logs


def other(client: Client, blue: Client, red: Client) -> Client:
    """The opponent."""
    return red if client is blue else blue
