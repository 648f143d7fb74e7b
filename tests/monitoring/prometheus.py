"""A Prometheus of one's own, on a cluster that `numbridge up` runs."""

import asyncio
import math
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from numbridge.local_servers import bound, free_port
from tests.unit.ops.inventory import ROOT

RULES = ROOT / "k8s" / "monitoring" / "rules"
EVERY_S = 1
_KINDS = {"gateway", "lobby", "table", "ratings"}
_START_S = 20.0


def configuration(processes: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Jobs as the ServiceMonitors make them, an instance a process, scraped more often than a club would."""
    jobs: dict[str, list[dict[str, Any]]] = {}
    for process in processes:
        if process["kind"] in _KINDS:
            target = {"targets": [f"127.0.0.1:{process['metrics_port']}"], "labels": {"instance": process["name"]}}
            jobs.setdefault(f"numbridge-{process['kind']}", []).append(target)
    return {
        "global": {"scrape_interval": f"{EVERY_S}s", "scrape_timeout": "1s", "evaluation_interval": f"{EVERY_S}s"},
        "rule_files": [str(RULES / "*.yaml")],
        "scrape_configs": [{"job_name": job, "static_configs": targets} for job, targets in sorted(jobs.items())],
    }


class Prometheus:
    """Its HTTP API."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def query(self, expr: str) -> list[dict[str, Any]]:
        """Samples of an instant query. Raises aiohttp errors; AssertionError if Prometheus can't evaluate it."""
        async with self._session.post(f"{self._url}/api/v1/query", data={"query": expr}) as response:
            body = await response.json()
        assert body["status"] == "success", f"{expr}: {body.get('error')}"
        found: list[dict[str, Any]] = body["data"]["result"]
        return found

    async def has_data(self, expr: str) -> bool:
        """Whether at least one number comes back."""
        return any(not math.isnan(float(sample["value"][1])) for sample in await self.query(expr))

    async def fired(self, window_s: float) -> set[str]:
        """Alerts that have been firing at any time in the last seconds."""
        expr = f'max by (alertname) (max_over_time(ALERTS{{alertstate="firing"}}[{max(1, math.ceil(window_s))}s]))'
        return {str(sample["metric"]["alertname"]) for sample in await self.query(expr)}

    async def targets_up(self) -> tuple[int, int]:
        """How many targets answer, and how many there are."""
        samples = await self.query("up")
        return sum(sample["value"][1] == "1" for sample in samples), len(samples)

    async def rule_problems(self) -> list[str]:
        """Rules whose last evaluation failed."""
        async with self._session.get(f"{self._url}/api/v1/rules") as response:
            groups = (await response.json())["data"]["groups"]
        assert groups, "no rule was read"
        return [
            f"{rule['name']}: {rule['lastError']}"
            for group in groups
            for rule in group["rules"]
            if rule.get("lastError")
        ]


@asynccontextmanager
async def scraping(folder: Path, processes: Iterable[dict[str, Any]]) -> AsyncIterator[Prometheus]:
    """Runs it. Raises FileNotFoundError where it is not installed, AssertionError if it does not start."""
    program = shutil.which("prometheus")
    if program is None:
        raise FileNotFoundError("prometheus is not installed: apt-get install prometheus")
    page, port, log = folder / "prometheus.yaml", free_port(), folder / "prometheus.log"
    page.write_text(yaml.safe_dump(configuration(processes)), encoding="utf-8")
    argv = [
        program, f"--config.file={page}", f"--storage.tsdb.path={folder / 'tsdb'}", "--log.level=warn",
        f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    process = _started(argv, log)
    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:
            await _ready(session, f"http://127.0.0.1:{port}", process, log)
            yield Prometheus(session, f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait, 20)


def _started(argv: list[str], log: Path) -> "subprocess.Popen[bytes]":
    with log.open("wb") as out:
        return subprocess.Popen(bound(argv), stdout=out, stderr=out, start_new_session=True)


def _text(log: Path) -> str:
    return log.read_text(errors="replace")


async def _ready(session: aiohttp.ClientSession, url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    async with asyncio.timeout(_START_S):
        while True:
            assert process.poll() is None, _text(log)
            try:
                async with session.get(f"{url}/-/ready") as response:
                    if response.status == 200:
                        return
            except aiohttp.ClientError:
                pass  # it does not listen yet
            await asyncio.sleep(0.1)
