"""What operators do: checked, written down, and told to those who must heed it."""

from dataclasses import dataclass

from numbridge.errors import Reason, Rejected
from ratings.decode import MAX_ID
from ratings.domain import Deed, Restriction
from ratings.ports import Announcer, Office

# (decided) Far beyond need; keeps the list that every lobby holds short.
MAX_RESTRICTIONS = 10_000
# (decided) Longer is a ban, which is the identity provider's to make.
MAX_MUTE_MS = 366 * 86_400_000
MAX_DETAIL = 500
_DEEDS, _MOST_DEEDS = 50, 200

ROOM, PLAYER = "room", "player"


@dataclass(frozen=True, slots=True)
class _Action:
    """What a kind of deed is about, and what it restricts or lifts."""

    subject: bool = True
    stands: str = ""
    lifts: str = ""


ACTIONS = {
    "close_room": _Action(stands=ROOM),
    "open_room": _Action(lifts=ROOM),
    "mute": _Action(stands=PLAYER),
    "unmute": _Action(lifts=PLAYER),
    "end_game": _Action(),
    "announce": _Action(subject=False),
}


class Desk:
    """One a replica."""

    def __init__(self, office: Office, announcer: Announcer) -> None:
        self._office = office
        self._announcer = announcer

    async def put(self, deed: Deed, until: int) -> int:
        """Writes a deed down; its number. Raises Rejected (bad_message naming the field, forbidden), StoreAway."""
        action = ACTIONS.get(deed.action)
        if action is None:
            raise _bad(f"action must be one of {', '.join(ACTIONS)}")
        _text("actor", deed.actor, 1, MAX_ID)
        _text("subject", deed.subject, int(action.subject), MAX_ID if action.subject else 0)
        _text("detail", deed.detail, 0, MAX_DETAIL)
        if action.stands == PLAYER and not deed.at < until <= deed.at + MAX_MUTE_MS:
            raise _bad(f"until must be in the future, at most {MAX_MUTE_MS // 86_400_000} days from now")
        stands = None
        if action.stands:
            stands = Restriction(action.stands, deed.subject, until if action.stands == PLAYER else None)
        lifts = (action.lifts, deed.subject) if action.lifts else None
        number = await self._office.put(deed, stands, lifts, MAX_RESTRICTIONS)
        if number is None:
            raise Rejected(Reason.FORBIDDEN, f"{MAX_RESTRICTIONS} restrictions stand already; lift one first")
        if stands or lifts:
            await self._announcer.restricted()
        return number

    async def deeds(self, before: int, limit: int) -> list[tuple[int, Deed]]:
        """What was done, newest first. Raises StoreAway."""
        return await self._office.deeds(before or None, min(max(limit, 0) or _DEEDS, _MOST_DEEDS))

    async def standing(self, now: int) -> list[Restriction]:
        """What stands. Raises StoreAway."""
        return await self._office.standing(now)


def _text(field: str, text: str, least: int, most: int) -> None:
    if not least <= len(text) <= most or "\0" in text:
        raise _bad(f"{field} must have {least} to {most} characters")


def _bad(message: str) -> Rejected:
    return Rejected(Reason.BAD_MESSAGE, message)
