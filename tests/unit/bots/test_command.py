"""`numbridge bot`: what it says no to, and who house bots are."""

import asyncio
from pathlib import Path

import jwt
import pytest

from numbridge.bots import club as club_module
from numbridge.bots.crew import Crew, Options
from numbridge.cli.main import main
from numbridge.ids import HOUSE_PREFIX
from numbridge.local_servers import free_port
from numbridge.tokens import KeyRing
from tests.helpers.eventually import eventually
from tests.unit.bots.toy_club import toy_club

KEY = b"k" * 40


@pytest.mark.parametrize(
    "arguments",
    [
        ["--count", "0"],
        ["--count", "many"],
        ["--url", "ftp://club"],
        ["--think", "-1"],
        ["--tokens", "/nowhere/tokens"],
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["bot", *arguments])
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_bad_key_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUMBRIDGE_TOKEN_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(SystemExit) as end:
        main(["bot", "--house", "--url", "http://127.0.0.1:1"])
    assert end.value.code == 2
    assert str(tmp_path / "key") in capsys.readouterr().err


def test_a_club_that_is_not_there_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(club_module, "START_S", 0.1)
    with pytest.raises(SystemExit) as end:
        main(["bot", "--url", f"http://127.0.0.1:{free_port()}"])
    assert end.value.code == 1
    said = capsys.readouterr().err
    assert "can't be reached" in said
    assert said.count("\n") == 1


async def test_with_the_clusters_key_house_bots_are_players_of_the_house() -> None:
    async with toy_club() as club:
        stop = asyncio.Event()
        options = Options(url=club.url, count=2, house=True, ring=KeyRing((KEY,)), audience="club")
        running = asyncio.create_task(Crew(options, lambda _: None).run(stop))
        await eventually(lambda: club.count("hello") == 2)
        stop.set()
        await running
        tokens = [message["token"] for _, message in club.heard if message["op"] == "hello"]
        claims = [jwt.decode(token, KEY, algorithms=["HS256"], audience="club") for token in tokens]
        assert sorted(claim["sub"] for claim in claims) == [f"{HOUSE_PREFIX}bot-1", f"{HOUSE_PREFIX}bot-2"]
        assert sorted(claim["name"] for claim in claims) == ["House bot 1", "House bot 2"]
        assert club.guests == 0
