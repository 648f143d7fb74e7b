"""Many accept one seek at the same instant: `python -m bench.accepts [--rounds 100] [--clients 50]`.

A cluster of two gateways and two lobbies. Each round a host seeks, and all clients send their acceptance in one go,
over both gateways: one must get the seat, all others `gone`. Host and winner then end their game, and take part again.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from bench.conditions import Conditions
from bench.lean import Event, Player, guests
from tests.helpers.cluster import Cluster, running

PATIENCE_S = 20.0


@dataclass(slots=True)
class Outcome:
    """What the rounds came to."""

    rounds: int = 0
    answers: Counter[tuple[tuple[str, int], ...]] = field(default_factory=Counter)  # rounds by what was answered
    took: list[float] = field(default_factory=list)  # seconds from the first acceptance to the last answer
    wrong: list[str] = field(default_factory=list)


class _Asked:
    """A player whose requests are answered one at a time."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.answer: asyncio.Future[Event] | None = None
        self.seated: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        player.on_event = self._heard

    def _heard(self, _: Player, event: Event) -> None:
        if event.ev in ("ok", "error") and self.answer is not None and not self.answer.done():
            self.answer.set_result(event)
        elif event.ev == "seated" and not self.seated.done():
            self.seated.set_result(event.game)

    def ask(self, **message: object) -> "asyncio.Future[Event]":
        """Sends a request; the future brings its answer."""
        self.answer = asyncio.get_running_loop().create_future()
        self.player.send(json.dumps({"ref": "r", **message}).encode())
        return self.answer


async def _round(host: _Asked, clients: Sequence[_Asked], room: str, outcome: Outcome) -> None:
    seek = await host.ask(op="seek", room=room, rating=[0, 4000])
    if seek.ev != "ok":
        raise RuntimeError(f"the host may not seek: {seek.code}: {seek.message}")
    began = time.perf_counter()
    answers = await asyncio.gather(*(client.ask(op="accept_seek", seek=seek.seek) for client in clients))
    outcome.took.append(time.perf_counter() - began)
    outcome.rounds += 1
    said = Counter(answer.code if answer.ev == "error" else "ok" for answer in answers)
    outcome.answers[tuple(sorted(said.items()))] += 1
    if said != {"ok": 1, "gone": len(clients) - 1}:
        outcome.wrong.append(f"round {outcome.rounds}: {dict(said)}")
        return
    winner = next(client for client, answer in zip(clients, answers, strict=True) if answer.ev == "ok")
    games = await asyncio.gather(host.seated, winner.seated)
    if games[0] != games[1]:
        outcome.wrong.append(f"round {outcome.rounds}: host and winner sit at different games")
    if any(client.seated.done() for client in clients if client is not winner):
        outcome.wrong.append(f"round {outcome.rounds}: another was seated too")
    resigned = await winner.ask(
        op="play", game=games[0], version=0, action={"kind": "resign"}, ref=f"resign-{outcome.rounds}"
    )
    if resigned.ev != "ok":
        raise RuntimeError(f"the winner may not resign: {resigned.code}: {resigned.message}")
    for one in (host, winner):
        one.seated = asyncio.get_running_loop().create_future()


async def measure(cluster: Cluster, clients: int, rounds: int, room: str = "study") -> Outcome:
    """So many rounds, over the same connections. Raises TimeoutError when an answer stays away."""
    outcome = Outcome()
    host, *others = [_Asked(player) for player in await guests(cluster.urls, clients + 1)]
    try:
        for _ in range(rounds):
            async with asyncio.timeout(PATIENCE_S):
                await _round(host, others, room, outcome)
    finally:
        for one in (host, *others):
            one.player.close()
    return outcome


def main(argv: list[str] | None = None) -> int:
    """Prints what was answered; 1 if anything else than one seat a round."""
    parser = argparse.ArgumentParser(prog="python -m bench.accepts", description="Many accept one seek at once.")
    parser.add_argument("--rounds", type=int, default=100, metavar="N")
    parser.add_argument("--clients", type=int, default=50, metavar="N")
    args = parser.parse_args(argv)
    if not 1 <= args.rounds <= 10_000 or not 2 <= args.clients <= 2_000:
        parser.error("--rounds must be 1 to 10000, --clients 2 to 2000")
    conditions = Conditions()
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "data", "--gateways", "2", "--lobbies", "2", "--no-limits") as cluster,
    ):
        outcome = uvloop.run(measure(cluster, args.clients, args.rounds))
    took = sorted(outcome.took)
    for said, count in outcome.answers.most_common():
        print(f"{count} rounds: " + ", ".join(f"{number} {code}" for code, number in said))
    print(f"first acceptance to last answer: median {1e3 * took[len(took) // 2]:.1f} ms, worst {1e3 * took[-1]:.1f} ms")
    print(*outcome.wrong[:10], sep="\n")
    print(conditions.line())
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
