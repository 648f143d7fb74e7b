"""A table as one viewer sees it: the `state` it began with, and every event after it folded in.

Nothing is asked of the server again, so a wrong or missing event shows as a wrong picture.
"""

from typing import Any

Event = dict[str, Any]
OWNER = {"blue": "b", "red": "r"}


class Picture:
    """The position of one viewer."""

    def __init__(self, state: Event) -> None:
        self.view: dict[str, Any] = dict(state["view"])
        self.version: int = state["version"]
        self.kinds: list[str] = []
        self._side: int = self.view["settings"]["side"]

    def _put(self, key: str, cell: str, char: str) -> None:
        index = (int(cell[1:]) - 1) * self._side + "abcdefghi".index(cell[0])
        text = self.view[key]
        self.view[key] = text[:index] + char + text[index + 1 :]

    def take(self, event: Event) -> None:
        """Folds one event in; the version must be the next."""
        if "version" in event and event["ev"] != "state":
            assert event["version"] == self.version + 1, (self.version, event)
            self.version = event["version"]
        match event["ev"]:
            case "move":
                self._move(event)
            case "offer":
                self.view["offer"] = event if event["state"] == "open" else None
            case "adjourned":
                self.view["status"] = "adjourned"
            case "resumed":
                self.view["status"] = "playing"
            case "over":
                self.view.update(status="over", result=event["result"], reason=event["reason"], to_move=None)

    def _move(self, move: Event) -> None:
        self.kinds.append(move["kind"])
        for key in ("hands", "bag", "mistakes", "to_move", "moves_left", "pie", "clock", "hand"):
            if key in move:
                self.view[key] = move[key]
        self.view["last"] = move
        if move["kind"] == "place" and not move["hit"]:
            return
        if move["kind"] == "place":
            self._put("field", move["cell"], str(move["digit"]))
        if move["kind"] in ("place", "claim", "pie"):
            self._put("owners", move["cell"], OWNER[move["by"]])

    def position(self) -> dict[str, Any]:
        """What everyone may compare with the record: `numbridge replay --json` has the same keys."""
        view = self.view
        keys = ("field", "owners", "mistakes", "result", "reason")
        return {key: view[key] for key in keys} | {"hands": view["hands"], "bag": view["bag"]}
