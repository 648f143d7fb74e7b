"""A shell that is fed the commands of a page, block by block, as somebody would who follows it."""

import asyncio
import os
import re
import secrets
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

_BLOCK_S = 120.0  # the longest starts a whole club; a machine that does much else is slow at that


def blocks(page: Path) -> list[str]:
    """The indented blocks of a page in Markdown, in their order, also those within a list."""
    found: list[list[str]] = []
    going_on = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            if not going_on:
                found.append([])
            found[-1].append(line)
            going_on = True
        elif line.strip():
            going_on = False
    return [_level(block) for block in found]


def _level(block: list[str]) -> str:
    margin = min(len(line) - len(line.lstrip()) for line in block)
    return "\n".join(line[margin:] for line in block)


class Shell:
    """A bash that goes on from block to block."""

    def __init__(self, process: asyncio.subprocess.Process, replaced: Mapping[str, str]) -> None:
        self._process = process
        self._replaced = replaced

    async def run(self, block: str) -> str:
        """What the block prints. Raises AssertionError with it if a command fails, or it takes too long."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        mark = secrets.token_hex(8)
        for word, other in self._replaced.items():
            block = re.sub(rf"(?<!\d){word}(?!\d)", other, block)
        self._process.stdin.write(f"failed=\n{block}\necho {mark}$failed\n".encode())
        said: list[str] = []
        try:
            async with asyncio.timeout(_BLOCK_S):
                while line := (await self._process.stdout.readline()).decode():
                    if line.startswith(mark):
                        failed = line.removeprefix(mark).strip()
                        assert not failed, f"{failed}\n{block}\n---\n{''.join(said)}"
                        return "".join(said)
                    said.append(line)
        except TimeoutError:
            raise AssertionError(f"not within {_BLOCK_S} s:\n{block}\n---\n{''.join(said)}") from None
        raise AssertionError(f"the shell has ended:\n{block}\n---\n{''.join(said)}")


@asynccontextmanager
async def shell(folder: Path, env: Mapping[str, str], replaced: Mapping[str, str]) -> AsyncIterator[Shell]:
    """A bash in `folder`; numbers of `replaced` (ports) are others. What runs in its background ends with it."""
    process = await asyncio.create_subprocess_exec(
        "bash", "--noprofile", "--norc", cwd=folder, env=dict(env), stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    fed = Shell(process, replaced)
    try:
        await fed.run("set -E -o pipefail; trap 'failed=\"exit $? of: ${BASH_COMMAND@Q}\"' ERR")
        yield fed
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """The shell and all that it has started are one group."""
    for number, wait_s in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
        try:
            os.killpg(process.pid, number)
            async with asyncio.timeout(wait_s):
                await process.communicate()  # ends when nobody holds the shell's output any more
        except (ProcessLookupError, TimeoutError):
            continue
