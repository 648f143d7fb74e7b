"""What the Dockerfile does, as plain commands in a fresh environment, and what a container is expected to do then."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.helpers.eventually import eventually
from tests.unit.ops.inventory import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
_PIN = re.compile(r"^([A-Za-z0-9_.-]+(?:\[[\w,-]+\])?==\S+)", flags=re.MULTILINE)


def run_lines() -> list[list[str]]:
    """Its RUN commands."""
    return [json.loads(line) for line in re.findall(r"^RUN (\[.*\])$", DOCKERFILE, flags=re.MULTILINE)]


def copied() -> list[str]:
    """What it copies of this project."""
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, flags=re.MULTILINE)
    return [name for line in copies for name in line.split()]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The final stage's /opt/numbridge: the RUN lines, by uv in pip's place, in a folder with what is copied."""
    folder = tmp_path_factory.mktemp("image")
    source, target = folder / "src", folder / "opt"
    source.mkdir()
    for name in copied():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)
    uv = str(Path(sysconfig.get_path("scripts")) / "uv")
    for argv in run_lines():
        words = [word.replace("/opt/numbridge", str(target)) for word in argv]
        if words[:3] == ["python", "-m", "venv"]:
            words = [uv, "venv", "--quiet", "--python", sys.executable, words[3]]
        elif words[1] == "wheel":
            words = [uv, "build", "--quiet", "--wheel", "--out-dir", words[words.index("--wheel-dir") + 1], words[-1]]
        else:
            words = [uv, "pip", *words[1:], "--quiet", "--python", str(target / "bin" / "python")]
        done = subprocess.run(words, cwd=source, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}\n{done.stderr}"
    return target


def _env(**given: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **given}


def test_the_command_is_there(image: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [image / "bin" / "numbridge", "--help"], cwd=tmp_path, env=_env(), capture_output=True, text=True, check=True
    )
    assert "gateway" in done.stdout


def test_the_schema_is_migrated_from_the_installed_files(image: Path, tmp_path: Path) -> None:
    env = _env(NUMBRIDGE_DATABASE_URL=f"sqlite:///{tmp_path / 'db'}")
    argv = [str(image / "bin" / "numbridge"), "ratings", "migrate"]
    for _ in range(2):
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
        assert done.stdout.startswith("the schema is at revision ")
    away = env | {"NUMBRIDGE_DATABASE_URL": "postgresql://127.0.0.1:1/none"}
    done = subprocess.run(argv, cwd=tmp_path, env=away, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("numbridge ratings migrate: ")


async def test_a_service_starts_and_ends_by_a_signal(image: Path, tmp_path: Path, clean_nats: str) -> None:
    env = _env(NUMBRIDGE_NATS_URL=clean_nats, NUMBRIDGE_SHARDS="4", NUMBRIDGE_GRPC_PORT="0")
    log = tmp_path / "log"
    with log.open("w") as out:
        worker = await asyncio.create_subprocess_exec(
            image / "bin" / "numbridge", "table", cwd=tmp_path, env=env, stdout=out, stderr=out
        )
    try:
        await eventually(lambda: '"started"' in log.read_text(encoding="utf-8"), 60)
        worker.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            assert await worker.wait() == 0
    finally:
        if worker.returncode is None:
            worker.kill()
            await worker.wait()
    assert '"stopped"' in log.read_text(encoding="utf-8")


def test_what_is_copied_is_let_in_and_nothing_else() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == set(copied())
    assert "*" in ignored


def test_the_final_stage_is_lean_and_gets_signals() -> None:
    final = DOCKERFILE.split("\nFROM ")[-1]
    assert re.search(r"^ARG BASE=python:3\.11\.\d+-slim-", DOCKERFILE, flags=re.MULTILINE)
    assert "RUN" not in final
    assert re.search(r"^USER 10001:10001$", final, flags=re.MULTILINE)
    assert re.search(r'^ENTRYPOINT \["numbridge"\]$', final, flags=re.MULTILINE)
    assert len(run_lines()) == len(re.findall(r"^RUN ", DOCKERFILE, flags=re.MULTILINE))


def test_the_image_has_the_releases_that_are_tested() -> None:
    tested = set(_PIN.findall((ROOT / "requirements.lock").read_text(encoding="utf-8")))
    shipped = set(_PIN.findall((ROOT / "requirements-run.lock").read_text(encoding="utf-8")))
    assert shipped
    assert shipped <= tested
