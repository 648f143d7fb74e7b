"""What must stay at the worker stays there: nothing of it in any log, metric or answer while the game runs."""

import asyncio
import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import nats
from nats.aio.client import Client as Bus

from numbridge import names
from numbridge.cli import secured
from numbridge.trust import inbox
from numbridge.trust.issue import issue
from tests.helpers.client import Client, Club
from tests.helpers.cluster import Cluster
from tests.helpers.play import Player, watch

SECRET_KEYS = {"hand", "tile", "paid", "drew", "solution"}
OF_WORKERS = ("table.", "result.", "$", "_INBOX.", "_R_")
"""Subjects that no gateway listens to: the log, results, the server's own."""


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


def keys(value: Any) -> Iterator[str]:
    """Every key in a JSON value, at any depth."""
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys(inner)


async def as_gateway(cluster: Cluster) -> tuple[Bus, tuple[str, ...]]:
    """The bus as a gateway hears it: all of it, but where each service has permissions of its own."""
    facts = cluster.facts()
    if not facts["trust"]:
        return await nats.connect(facts["nats_url"]), (">",)
    trust = issue(Path(facts["trust"]))
    url = secured.with_user(f"nats://{facts['nats_url'].rpartition('@')[2]}", "gateway", trust.nats["gateway"])
    tls = ssl.create_default_context(cafile=trust.ca)
    subjects = ("view.>", "player.>", "lobby.seeks.>", names.ANNOUNCEMENTS)
    return await nats.connect(url, tls=tls, inbox_prefix=inbox("gateway")), subjects


async def test_what_gateways_may_read_and_viewers_get_holds_no_secret_of_others(club: Club, cluster: Cluster) -> None:
    """A whole game: each event and each message of the bus, held against the record afterwards."""
    heard: list[tuple[str, bytes]] = []

    async def hear(message: Any) -> None:
        heard.append((message.subject, message.data))

    bus, subjects = await as_gateway(cluster)
    for subject in subjects:
        await bus.subscribe(subject, cb=hear)
    game, blue, red = await club.seat("blitz")
    eve = await club.guest("Eve")
    await eve.join(game)
    players = [Player(client, game, Random(seed)) for seed, client in enumerate((blue, red))]
    await asyncio.gather(*(player.play() for player in players), watch(eve, game))
    record = await club.get(f"/api/games/{game}/record")
    await bus.close()

    assert not SECRET_KEYS & {key for event in eve.events for key in keys(event)}
    own = {blue.id: "blue", red.id: "red"}
    for client in (blue, red):
        events = [event for event in client.events if event.get("game") == game]
        assert not (SECRET_KEYS - {"hand"}) & {key for event in events for key in keys(event)}
        hands = [sorted(event["hand"]) for event in events if event["ev"] == "move"]
        assert hands == list(hands_of(record, own[client.id]))
    for client in (blue, red, eve):
        for event in client.events:
            assert "digit" not in event or event["kind"] == "place"
    told = [(subject, data) for subject, data in heard if not subject.startswith(OF_WORKERS)]
    assert any(subject == f"view.{game}.watch" for subject, _ in told)
    for subject, data in told:
        assert record["deal"]["solution"].encode() not in data, subject
        if not subject.startswith(f"view.{game}.") or subject.endswith(".watch"):
            assert b'"hand":' not in data, subject
            assert b'"drew":' not in data, subject


def hands_of(record: dict[str, Any], color: str) -> Iterator[list[int]]:
    """One player's hand after each move of a record, sorted."""
    hand = list(record["hands"][color])
    for move in record["moves"]:
        if move["by"] == color:
            if move["kind"] == "place":
                hand.remove(move["tile"])
            elif move["kind"] == "exchange":
                hand = []
            for tile in move.get("paid", []):
                hand.remove(tile)
            hand += move["drew"]
        yield sorted(hand)
