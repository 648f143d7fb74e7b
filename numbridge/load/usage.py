"""What the deployment's processes use: CPU seconds so far and resident memory.

A cluster of `numbridge up` on this machine is read from the kernel; any other from its Prometheus, by the
`process_*` series that every service shows. The servers beside them (NATS, Redis, PostgreSQL) are in the first only.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import aiohttp

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MIB = 1024 * 1024
_QUERIES = {
    "cpu": 'process_cpu_seconds_total{job=~".*numbridge.*"}',
    "memory": 'process_resident_memory_bytes{job=~".*numbridge.*"}',
}


@dataclass(frozen=True, slots=True)
class Usage:
    """At one moment, by process."""

    cpu_s: dict[str, float]
    memory_mib: dict[str, float]


class Meter(Protocol):
    """Where usage is read."""

    async def read(self) -> Usage:
        """Now; empty if it cannot be had."""


class NoMeter:
    """Nothing is known of the deployment's processes."""

    async def read(self) -> Usage:
        """See Meter."""
        return Usage({}, {})


class LocalMeter:
    """Processes of this machine."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids = dict(pids)

    async def read(self) -> Usage:
        """See Meter. A process that has ended is left out."""
        return _read(self._pids)


def _read(pids: Mapping[str, int]) -> Usage:
    cpu, memory = {}, {}
    for name, pid in pids.items():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            continue
        cpu[name] = (int(fields[11]) + int(fields[12])) / _TICKS
        memory[name] = int(fields[21]) * _PAGE / _MIB
    return Usage(cpu, memory)


class PrometheusMeter:
    """A Prometheus that scrapes the deployment."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    async def read(self) -> Usage:
        """See Meter. Raises aiohttp.ClientError or TimeoutError."""
        found: dict[str, dict[str, float]] = {}
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:
            for name, query in _QUERIES.items():
                async with session.get(f"{self._url}/api/v1/query", params={"query": query}) as response:
                    response.raise_for_status()
                    answer = await response.json()
                found[name] = {
                    f"{sample['metric'].get('job', '')} {sample['metric'].get('instance', '')}".strip(): float(
                        sample["value"][1]
                    )
                    for sample in answer["data"]["result"]
                }
        return Usage(found["cpu"], {name: value / _MIB for name, value in found["memory"].items()})


def own_cpu_s() -> float:
    """CPU seconds of this process so far."""
    times = os.times()
    return times.user + times.system
