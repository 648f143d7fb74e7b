"""A table as the protocol shows it, kept up to date by its events. Pure.

A player gets one `state` and then only what changes; this keeps the whole view,
so that the brain always sees one, and remembers misses whose marks have gone.
"""

from typing import Any

from numbridge.bots.board import misses_in

Event = dict[str, Any]
VERSIONED = frozenset({"move", "offer", "adjourned", "resumed", "over"})

_MOST_MARKS = 20  # more than fit into the ten seconds of a mark; older ones are in `misses`
_KEPT = ("hands", "bag", "clock", "to_move", "moves_left", "pie", "mistakes", "hand")


class Gap(Exception):
    """A version is missing: ask for the table again."""


class Picture:
    """One table. `version` is the last one seen, `view` the protocol's view at it."""

    def __init__(self, state: Event) -> None:
        self.version: int = state["version"]
        self.view: dict[str, Any] = dict(state["view"])
        self.misses: set[tuple[str, int]] = misses_in(self.view)
        """(cell, digit) that have been seen to be wrong; there are no more than cells and digits."""

    def apply(self, event: Event) -> None:
        """Takes in an event of the table; one that is known already changes nothing. Raises Gap."""
        ev, version = event["ev"], event.get("version", 0)
        if ev == "state":
            if version >= self.version:
                self.version, self.view = version, dict(event["view"])
                self.misses |= misses_in(self.view)
            return
        if ev not in VERSIONED:
            if "clock" in event:  # `presence` may say that it has started anew
                self.view["clock"] = event["clock"]
            return
        if version <= self.version:
            return
        if version != self.version + 1:
            raise Gap(f"version {version} after {self.version}")
        self.version = version
        if ev == "move":
            self._move(event)
        elif ev == "offer":
            self._offer(event)
        elif ev == "over":
            self.view |= {"status": "over", "result": event["result"], "reason": event["reason"]}
            self.view |= {"to_move": None, "moves_left": 0, "pie": False}
            self.view.pop("offer", None)
        else:
            self.view["status"] = "adjourned" if ev == "adjourned" else "playing"
            self.view["clock"] = event.get("clock", self.view["clock"])
            self.view.pop("offer", None)

    def _move(self, event: Event) -> None:
        view = self.view
        view |= {key: event[key] for key in _KEPT if key in event}
        last = {key: event[key] for key in ("by", "kind", "cell", "digit", "hit") if key in event}
        view["last"] = last
        if "cell" not in last:
            return
        if last["kind"] == "place" and not last["hit"]:
            mark = {"cell": last["cell"], "digit": last["digit"], "by": last["by"], "at": 0}
            view["marks"] = [*view["marks"], mark][-_MOST_MARKS:]
            self.misses.add((last["cell"], last["digit"]))
            return
        side = view["settings"]["side"]
        cell = (int(last["cell"][1:]) - 1) * side + ord(last["cell"][0]) - ord("a")
        if last["kind"] == "place":
            view["field"] = _with(view["field"], cell, str(last["digit"]))
            view["marks"] = [mark for mark in view["marks"] if mark["cell"] != last["cell"]]
        view["owners"] = _with(view["owners"], cell, last["by"][0])

    def _offer(self, event: Event) -> None:
        if event["state"] == "open":
            self.view["offer"] = {"kind": event["kind"], "by": event["by"], "state": "open"}
        else:
            self.view.pop("offer", None)


def _with(text: str, at: int, char: str) -> str:
    return text[:at] + char + text[at + 1 :]
