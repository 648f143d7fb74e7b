"""Open seeks, as the lobby's events tell of them. Pure but for the time, which is passed in."""

from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]

MOST_SEEKS = 5_000  # remembered; the lobby tells of others once these have gone


@dataclass(slots=True)
class OpenSeek:
    """Somebody's open seek, and since when it has been seen here (monotonic seconds)."""

    seek: str
    room: str
    player: str
    name: str
    seen_at: float
    not_before: float = 0.0  # it is not to be accepted before this
    refused: set[str] = field(default_factory=set)
    """Names of those bots who may not accept it."""


class Lobby:
    """The seek list of all rooms."""

    def __init__(self) -> None:
        self.seeks: dict[str, OpenSeek] = {}

    def take(self, event: Event, now: float) -> None:
        """A `seeks`, `seek_added` or `seek_removed` event."""
        match event["ev"]:
            case "seeks":
                known, self.seeks = self.seeks, {}
                for seek in event["seeks"]:
                    self._add(seek, now)
                    if seek["seek"] in known and seek["seek"] in self.seeks:
                        self.seeks[seek["seek"]] = known[seek["seek"]]
            case "seek_added":
                self._add(event["seek"], now)
            case "seek_removed":
                self.drop(event["seek"])

    def drop(self, seek: str) -> None:
        """A seek that is known to have gone."""
        self.seeks.pop(seek, None)

    def _add(self, seek: dict[str, Any], now: float) -> None:
        if len(self.seeks) >= MOST_SEEKS or seek["seek"] in self.seeks:
            return
        who = seek["player"]
        self.seeks[seek["seek"]] = OpenSeek(seek["seek"], seek["room"], who["id"], who["name"], now)
