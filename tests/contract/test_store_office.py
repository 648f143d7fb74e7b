"""What operators do, in SQL: each deed is written down, and what it restricts stands until it is over or lifted."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from numbridge.errors import Reason, Rejected
from ratings import office as rules
from ratings.domain import Deed, Restriction
from ratings.office import MAX_MUTE_MS, Desk
from ratings.store import migrate
from ratings.store.database import Database
from ratings.store.office import SqlOffice
from tests.contract.stores import DATABASES, opened

NOW = 1_800_000_000_000


class Said:
    """Counts what is told to others."""

    count = 0

    async def restricted(self) -> None:
        self.count += 1

    async def archived(self, *_: object) -> None:
        raise AssertionError


@pytest_asyncio.fixture(params=DATABASES)
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    url = f"sqlite:///{tmp_path}/o.sqlite3" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    migrate(str(url))
    async with opened(str(url)) as database:
        yield database


def deed(action: str, subject: str = "", at: int = NOW, detail: str = "", actor: str = "op") -> Deed:
    return Deed(at, actor, action, subject, detail)


async def test_each_deed_is_written_down_and_shown_newest_first(database: Database) -> None:
    desk = Desk(SqlOffice(database), Said())
    done = [
        deed("close_room", "blitz", detail="a tournament"),
        deed("announce", detail="Tea is ready."),
        deed("end_game", "07-x"),
        deed("open_room", "blitz"),
        deed("open_room", "blitz"),
    ]
    numbers = [await desk.put(one, 0) for one in done]
    assert numbers == sorted(set(numbers))
    assert await desk.deeds(0, 0) == list(zip(reversed(numbers), reversed(done), strict=True))
    assert [number for number, _ in await desk.deeds(numbers[3], 2)] == [numbers[2], numbers[1]]


async def test_what_is_restricted_stands_until_it_is_over_or_lifted(database: Database) -> None:
    said = Said()
    desk = Desk(SqlOffice(database), said)
    await desk.put(deed("close_room", "blitz"), 0)
    await desk.put(deed("mute", "eve"), NOW + 10)
    await desk.put(deed("mute", "eve"), NOW + 20)
    await desk.put(deed("mute", "bob"), NOW + 5)
    room, bob, eve = (
        Restriction("room", "blitz", None),
        Restriction("player", "bob", NOW + 5),
        Restriction("player", "eve", NOW + 20),
    )
    assert await desk.standing(NOW) == [bob, eve, room]
    assert await desk.standing(NOW + 5) == [eve, room]
    assert said.count == 4
    await desk.put(deed("unmute", "eve"), 0)
    await desk.put(deed("open_room", "blitz"), 0)
    await desk.put(deed("unmute", "nobody"), 0)
    assert await desk.standing(NOW) == [bob]
    await desk.put(deed("announce", at=NOW + 5, detail="x"), 0)  # what is over is swept with the next deed
    assert await desk.standing(NOW) == []
    assert said.count == 7


@pytest.mark.parametrize(
    ("bad", "until", "names"),
    [
        (deed("dance", "x"), 0, "action"),
        (deed("mute", "eve"), 0, "until"),
        (deed("mute", "eve"), NOW, "until"),
        (deed("mute", "eve"), NOW + MAX_MUTE_MS + 1, "until"),
        (deed("mute", ""), NOW + 1, "subject"),
        (deed("end_game", "x" * 65), 0, "subject"),
        (deed("announce", "somebody", detail="x"), 0, "subject"),
        (deed("announce", detail="x" * 501), 0, "detail"),
        (deed("close_room", "a", actor=""), 0, "actor"),
        (deed("close_room", "a", detail="\0"), 0, "detail"),
    ],
)
async def test_a_deed_that_cannot_be_is_refused_and_not_written(
    tmp_path: Path, bad: Deed, until: int, names: str
) -> None:
    url = f"sqlite:///{tmp_path}/o.sqlite3"
    migrate(url)
    async with opened(url) as database:
        desk = Desk(SqlOffice(database), Said())
        with pytest.raises(Rejected, match=f"^{names} ") as refused:
            await desk.put(bad, until)
        assert refused.value.reason is Reason.BAD_MESSAGE
        assert await desk.deeds(0, 0) == []


async def test_too_many_restrictions_are_refused_and_one_that_stands_may_be_renewed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_RESTRICTIONS", 2)
    desk = Desk(SqlOffice(database), Said())
    await desk.put(deed("close_room", "a"), 0)
    await desk.put(deed("mute", "eve"), NOW + 9)
    with pytest.raises(Rejected) as refused:
        await desk.put(deed("close_room", "b"), 0)
    assert refused.value.reason is Reason.FORBIDDEN
    await desk.put(deed("mute", "eve"), NOW + 99)
    assert await desk.standing(NOW) == [Restriction("player", "eve", NOW + 99), Restriction("room", "a", None)]
    assert len(await desk.deeds(0, 0)) == 3
