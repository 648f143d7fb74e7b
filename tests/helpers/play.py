"""Playing whole games as players do: by deduction, with some mischief, offers and a break on the way."""

from random import Random

from numbridge.bots.brain import Action, choose
from tests.helpers.client import Client, Event
from tests.helpers.picture import Picture

_MISCHIEF = 0.12
_OFFERS = 0.03


def _mischief(picture: Picture, rng: Random) -> Action | None:
    """Some legal move that need not be a good one."""
    view = picture.view
    hand, side = view["hand"], view["settings"]["side"]
    names = [f"{'abcdefghi'[cell % side]}{cell // side + 1}" for cell in range(side * side)]
    empty = [name for name, char in zip(names, view["field"], strict=True) if char == "."]
    free = [
        name
        for name, given, owner in zip(names, view["givens"], view["owners"], strict=True)
        if given != "." and owner == "."
    ]
    moves: list[Action] = []
    if hand and empty:
        moves.append({"kind": "place", "tile": rng.choice(hand), "cell": rng.choice(empty)})
    if free and len(hand) >= view["settings"]["claim_price"]:
        moves.append({"kind": "claim", "cell": rng.choice(free), "tile": rng.choice(hand)})
    if view["bag"]:
        moves.append({"kind": "exchange"})
    if view["pie"]:
        moves.append({"kind": "pie"})
    return rng.choice(moves) if moves else None


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
        action = _mischief(picture, self._rng) if self._rng.random() < _MISCHIEF else None
        await self._do(action or choose(picture.view, self._rng, picture.misses))

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
