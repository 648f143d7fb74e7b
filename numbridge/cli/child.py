"""One process of a cluster: start, readiness, end."""

import asyncio
import json
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from numbridge.cli.plan import Spec
from numbridge.cli.ports import HOST
from numbridge.local_servers import bound

_PROBE_S = 2.0  # one question; longer means no
_EVERY_S = 0.1
_TAIL_BYTES = 4096


class Child:
    """Runs a Spec. It dies with this process, however this one ends (Linux)."""

    def __init__(self, spec: Spec, log: Path) -> None:
        self.spec = spec
        self.log = log
        self.process: asyncio.subprocess.Process | None = None
        self.failing = ""  # what the last probe said
        self._was_ready = False  # since its start: before, it may not handle signals yet

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self.process.pid if self.process is not None and self.process.returncode is None else None

    async def start(self) -> None:
        """Starts it. A program that can't be run ends at once, with a line in the log."""
        self._was_ready = False
        with self.log.open("ab") as out:
            self.process = await asyncio.create_subprocess_exec(
                *bound(self.spec.argv),
                env=self.spec.env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    async def until_ready(self, patience_s: float) -> bool:
        """Waits until it says that it is ready; False if it ends or takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                while self.pid is not None:
                    if await self.ready():
                        self._was_ready = True
                        return True
                    await asyncio.sleep(_EVERY_S)
        return False

    async def ready(self) -> bool:
        """Whether it says so now."""
        spec = self.spec
        try:
            async with asyncio.timeout(_PROBE_S):
                if spec.metrics_port is not None:
                    return await self._http_ready(spec.metrics_port)
                if spec.kind == "redis":
                    # a server that asks for a name first is up as well
                    return (await _exchange(spec.port, b"PING\r\n")).startswith((b"+PONG", b"-NOAUTH"))
                if spec.kind == "nats":
                    return (await _exchange(spec.port, b"")).startswith(b"INFO ")
        except (OSError, TimeoutError):
            return False
        return True  # bots: they are there as long as they run

    async def _http_ready(self, port: int) -> bool:
        answer = await _exchange(port, b"GET /readyz HTTP/1.0\r\n\r\n", whole=True)
        head, _, body = answer.partition(b"\r\n\r\n")
        with suppress(ValueError, KeyError, TypeError):
            self.failing = ", ".join(json.loads(body)["failing"])
        return b" 200 " in head.split(b"\r\n", 1)[0]

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        if self.process is None:
            raise RuntimeError(f"{self.spec.name} has not been started")
        return await self.process.wait()

    async def stop(self, grace_s: float) -> bool:
        """Asks it to drain and end; insists after `grace_s`. False if it had to be killed."""
        if self.process is None or self.process.returncode is not None:
            return True
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(grace_s):
                await self.process.wait()
        except TimeoutError:
            await self.kill()
            return False
        return True

    def hang_up(self) -> None:
        """Asks it to read its files again, if it runs and has said once that it is ready."""
        if self.process is not None and self.process.returncode is None and self._was_ready:
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGHUP)

    async def kill(self) -> None:
        """Ends it without a word to it."""
        if self.process is not None and self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()

    def last_words(self) -> str:
        """The last line of its log, shortened."""
        with suppress(OSError), self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, 2) - _TAIL_BYTES))
            lines = log.read().decode("utf-8", "replace").strip().splitlines()
            return lines[-1][-300:] if lines else ""
        return ""


async def _exchange(port: int | None, question: bytes, *, whole: bool = False) -> bytes:
    """What a server on this machine says first, or (`whole`) until it hangs up."""
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        if question:
            writer.write(question)
        return await (reader.read() if whole else reader.readline())
    finally:
        writer.close()
