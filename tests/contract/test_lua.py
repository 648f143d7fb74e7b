"""The Lua scripts of every service: their heads tell the truth, and they survive a server that has forgotten them."""

import re
from importlib import resources
from pathlib import Path

import pytest
from redis.asyncio import Redis

from lobby import keys
from lobby.adapters.redis_seats import Forgot, RedisSeats
from lobby.adapters.redis_seeks import Posted, RedisSeeks
from numbridge import redis_io
from tests.unit.lobby.builders import stored_seek, summary_of

PACKAGES = ("gateway", "lobby", "ratings")
SCRIPTS = [
    pytest.param(Path(str(path)), id=f"{package}/{path.name}")
    for package in PACKAGES
    for path in sorted(resources.files(package).joinpath("lua").iterdir(), key=lambda path: path.name)
]


def _head_and_body(path: Path) -> tuple[str, str]:
    """The comment at the top, a block or lines, and what follows."""
    text = path.read_text(encoding="utf-8")
    if text.startswith("--[["):
        head, _, body = text.partition("]]")
        return head, body
    lines = text.splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("--"))
    return "\n".join(lines[:end]), "\n".join(lines[end:])


def _numbers(pattern: str, text: str) -> set[int]:
    return {int(number) for number in re.findall(pattern, text)}


@pytest.mark.parametrize("path", SCRIPTS)
def test_a_script_says_what_it_takes(path: Path) -> None:
    """One verb a file; the name ends in the number of keys; the head names every key and argument that is used."""
    name = re.fullmatch(r"([a-z_]+)-(\d+)\.lua", path.name)
    assert name is not None
    head, body = _head_and_body(path)
    assert "Output:" in head or "-> " in head
    wanted = set(range(1, int(name[2]) + 1))
    assert _numbers(r"KEYS\[(\d+)\]", head) == wanted
    assert _numbers(r"KEYS\[(\d+)\]", body) == wanted
    described = _numbers(r"ARGV\[(\d+)\]", head)
    assert described == set(range(1, len(described) + 1))
    used = _numbers(r"ARGV\[(\d+)\]", body)
    assert used <= described
    if not re.search(r"ARGV\[(?!\d+\])", body):  # none is computed
        assert used == described


@pytest.mark.parametrize("path", SCRIPTS)
def test_a_script_touches_declared_keys_alone(path: Path) -> None:
    """Every call names one of KEYS as its key, so that a script stays within what a cluster can check."""
    _, body = _head_and_body(path)
    calls = re.findall(r"redis\.call\(\s*'([A-Z]+)'\s*(?:,\s*([^,)]+))?", body)
    assert calls
    for command, first in calls:
        assert command == "TIME" or first.strip().startswith("KEYS["), (command, first)


def test_the_lobbys_keys_share_one_hash_tag() -> None:
    names = [value for name, value in vars(keys).items() if name.isupper() and name != "GROUP"]
    names.append(keys.told("07-game"))
    assert len(names) == len(set(names)) == 20
    assert {re.findall(r"\{(.*?)\}", name)[0] for name in names} == {"lobby"}


async def test_scripts_survive_a_server_that_has_forgotten_them(clean_redis: str) -> None:
    redis: Redis = redis_io.connect(clean_redis)
    seeks, seats = RedisSeeks(redis), RedisSeats(redis)
    assert (await seeks.post(stored_seek("s-1", "ada"), 3, True))[0] is Posted.POSTED
    await redis.script_flush()
    assert (await seeks.post(stored_seek("s-2", "bob"), 3, True))[0] is Posted.POSTED
    await redis.script_flush()
    assert await seats.forget("07-none", 0) is Forgot.UNKNOWN
    await redis.script_flush()
    assert await seats.note([summary_of("07-0000000000000001", "ada", "bob")], 0) == 1  # in a pipeline
    assert await seeks.waiting(["bridge"]) == [2]
    await redis.aclose()
