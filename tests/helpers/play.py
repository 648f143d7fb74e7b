"""Playing whole games as players do: straight at the goal, with some mischief, offers and a break on the way.

The player solves the field first (its solution is unique), so games end; what
it knows is what any viewer may see.
"""

import heapq
from functools import cache
from random import Random
from typing import Any

from tablesvc.dealing.solver import solve
from tablesvc.engine.geometry import cells_of, geometry
from tests.helpers.client import Client, Event
from tests.helpers.picture import Picture

Action = dict[str, Any]

_MISCHIEF = 0.12
_OFFERS = 0.03


@cache
def _solved(side: int, blocks: str, givens: str) -> str:
    solution = solve(side, blocks, givens)
    assert solution is not None
    return solution


class Thought:
    """One turn's look at the table."""

    def __init__(self, picture: Picture, rng: Random) -> None:
        view = self._view = picture.view
        self._rng = rng
        side = view["settings"]["side"]
        self._geometry = geometry(side)
        self._names = self._geometry.names
        self._solution = _solved(side, view["blocks"], view["givens"])
        self.hand: list[int] = view["hand"]
        self.empty = [cell for cell, char in enumerate(view["field"]) if char == "."]
        free = [cell for cell, char in enumerate(view["givens"]) if char != "." and view["owners"][cell] == "."]
        self.claimable = free if not self.hand or len(self.hand) >= view["settings"]["claim_price"] else []

    def mischief(self) -> Action | None:
        """Some legal move that need not be a good one."""
        moves: list[Action] = []
        if self.hand and self.empty:
            moves.append(self._place(self._rng.choice(self.empty), self._rng.choice(self.hand)))
        if self.claimable:
            moves.append(self._claim(self._rng.choice(self.claimable)))
        if self._view["bag"]:
            moves.append({"kind": "exchange"})
        if self._view["pie"]:
            moves.append({"kind": "pie"})
        return self._rng.choice(moves) if moves else None

    def good(self) -> Action:
        """The move that brings the own chain closest; in Domains any that wins a cell."""
        hits = [cell for cell in self.empty if int(self._solution[cell]) in self.hand]
        if self._view["pie"] and self._rng.random() < 0.5:
            return {"kind": "pie"}
        wanted = self._way() if self._view["settings"]["variant"] != "domains" else set(self.empty)
        best = [cell for cell in hits if cell in wanted] or [cell for cell in self.claimable if cell in wanted] or hits
        if not best:
            return self.mischief() or {"kind": "exchange"}
        cell = self._rng.choice(best)
        return self._claim(cell) if cell in self.claimable else self._place(cell, int(self._solution[cell]))

    def _place(self, cell: int, tile: int) -> Action:
        return {"kind": "place", "cell": self._names[cell], "tile": tile}

    def _claim(self, cell: int) -> Action:
        action: Action = {"kind": "claim", "cell": self._names[cell]}
        return action | {"tile": self._rng.choice(self.hand)} if self.hand else action

    def _way(self) -> set[int]:
        """Cells not yet owned on a cheapest chain from side to side; none if the opponent has cut every one."""
        field, owners, me = self._geometry, self._view["owners"], self._view["you"][0]
        start, goal = (field.top, field.bottom) if me == "b" else (field.left, field.right)
        cost = {me: 0, ".": 1}
        heads: list[tuple[int, int, tuple[int, ...]]] = []
        for cell in cells_of(start):
            if owners[cell] in cost:
                heapq.heappush(heads, (cost[owners[cell]], cell, (cell,)))
        seen: set[int] = set()
        while heads:
            spent, cell, way = heapq.heappop(heads)
            if goal >> cell & 1:
                return {step for step in way if owners[step] == "."}
            if cell in seen:
                continue
            seen.add(cell)
            for near in field.neighbours[cell]:
                if owners[near] in cost and near not in seen:
                    heapq.heappush(heads, (spent + cost[owners[near]], near, (*way, near)))
        return set()


class Player:
    """One player of one game, from the joined `state` to the end."""

    def __init__(self, client: Client, game: str, rng: Random, *, pause: bool = False) -> None:
        """`pause`: once, after some moves, it offers to adjourn. One offer a game is all that it makes."""
        self.client = client
        self.game = game
        self.picture: Picture | None = None
        self.rated: list[Event] = []
        self._rng = rng
        self._pause = pause
        self._offered = False

    async def play(self, since: int = 0) -> None:
        """Plays until the game is over and rated."""
        async for event in self.client.follow(self.game, since):
            if event["ev"] == "state":
                self.picture = Picture(event)
            elif event["ev"] == "rated":
                self.rated.append(event)
            if self.picture is None:  # seated, and not yet joined
                continue
            self.picture.take(event)
            if event["ev"] in ("state", "move", "offer", "adjourned", "resumed"):
                await self._act(self.picture, event)

    async def _act(self, picture: Picture, event: Event) -> None:
        view = picture.view
        if event["ev"] == "adjourned":
            await self._do({"kind": "resume"})
        elif event["ev"] == "offer":
            await self._answer(event, view["you"])
        elif view["status"] == "playing" and view["to_move"] == view["you"]:
            await self._move(picture)

    async def _answer(self, offer: Event, you: str) -> None:
        if offer["state"] == "open" and offer["by"] != you and offer["kind"] in ("draw", "adjourn"):
            await self._do({"kind": "decline_draw" if offer["kind"] == "draw" else "accept_adjourn"})
        elif offer["state"] == "declined" and offer["by"] == you and self.picture is not None:
            await self._move(self.picture)

    async def _move(self, picture: Picture) -> None:
        if self._pause and len(picture.kinds) > 6:
            self._pause, self._offered = False, True
            await self._do({"kind": "offer_adjourn"})
            return  # goes on once resumed
        if not self._offered and self._rng.random() < _OFFERS:
            self._offered = True
            await self._do({"kind": "offer_draw"})
            return  # goes on once declined
        thought = Thought(picture, self._rng)
        action = thought.mischief() if self._rng.random() < _MISCHIEF else None
        await self._do(action or thought.good())

    async def _do(self, action: Action) -> None:
        assert self.picture is not None
        await self.client.ask("play", game=self.game, version=self.picture.version, action=action)


async def watch(client: Client, game: str, since: int = 0) -> tuple[Picture, list[Event]]:
    """Follows a game to its end: the last picture, and the `rated` events."""
    picture: Picture | None = None
    rated: list[Event] = []
    async for event in client.follow(game, since):
        if event["ev"] == "state":
            picture = Picture(event)
        elif event["ev"] == "rated":
            rated.append(event)
        if picture is not None:
            picture.take(event)
    assert picture is not None
    return picture, rated
