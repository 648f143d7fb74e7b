"""Settings: one frozen dataclass a service, read once from NUMBRIDGE_* variables.

A field `lease_ttl_ms: int = 3000` is read from `NUMBRIDGE_LEASE_TTL_MS`.
Units are in the names. Everything that is wrong is said together.

    SettingsError   at least one variable is missing, malformed or at odds with another
"""

import os
import socket
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self, get_type_hints

PREFIX = "NUMBRIDGE_"

_SWITCH = {
    "on": True,
    "1": True,
    "true": True,
    "yes": True,
    "off": False,
    "0": False,
    "false": False,
    "no": False,
}


class SettingsError(Exception):
    """Every problem found, one line each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def _read(kind: Any, text: str) -> Any:
    if kind is bool:
        if text.lower() not in _SWITCH:
            raise ValueError("must be on or off")
        return _SWITCH[text.lower()]
    if kind is int:
        return int(text)
    if kind is float:
        return float(text)
    if kind == tuple[str, ...]:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _default_name() -> str:
    return f"{socket.gethostname().split('.')[0]}-{os.getpid()}"


@dataclass(frozen=True, kw_only=True)
class CommonSettings:
    """What every service reads."""

    name: str = ""  # unique in the cluster; empty: host name and process id
    nats_url: str = "nats://127.0.0.1:4222"  # comma-separated for several servers
    nats_creds: str = ""  # a credentials file; empty: whatever the URL says
    nats_inbox: str = "_INBOX"  # where answers arrive; one of its own for each service whose permissions say so
    nats_tls_ca: str = ""  # PEM file of whom NATS' certificate is signed by; empty: no TLS, or the system's authorities
    redis_url: str = "redis://127.0.0.1:6379/0"
    listen_host: str = "127.0.0.1"  # address that gRPC and HTTP listen on
    metrics_host: str = "127.0.0.1"
    metrics_port: int = 0  # 0: any free port, logged at the start
    shards: int = 256  # fixed for a cluster's life: game ids carry their shard
    stream_replicas: int = 1  # 3 in production: an append is in two servers' logs before its ack
    log_level: str = "info"
    log_format: str = "json"  # json for machines, text for eyes
    trace_url: str = ""  # OTLP over HTTP, like http://collector:4318/v1/traces; empty: nothing is traced
    trace_per_mille: int = 10  # so many plays in a thousand are traced
    drain_ms: int = 20_000  # how long a first signal may take; longer hands over more gently
    grpc_tls_cert: str = ""  # PEM files; all three turn mutual TLS on between services
    grpc_tls_key: str = ""
    grpc_tls_ca: str = ""
    limits: bool = True  # off lifts rate and count limits, for load tests

    def check(self) -> list[str]:
        """Problems of single values and of their combinations; empty if all is well."""
        problems = []
        if not 1 <= self.shards <= 65_536:
            problems.append(f"{PREFIX}SHARDS is {self.shards}; it must be 1 to 65536")
        if self.stream_replicas not in (1, 3, 5):
            problems.append(f"{PREFIX}STREAM_REPLICAS is {self.stream_replicas}; it must be 1, 3 or 5")
        if self.log_level not in ("debug", "info", "warning", "error"):
            problems.append(f"{PREFIX}LOG_LEVEL is {self.log_level!r}; it must be debug, info, warning or error")
        if self.log_format not in ("json", "text"):
            problems.append(f"{PREFIX}LOG_FORMAT is {self.log_format!r}; it must be json or text")
        if not 0 <= self.trace_per_mille <= 1_000:
            problems.append(f"{PREFIX}TRACE_PER_MILLE is {self.trace_per_mille}; it must be 0 to 1000")
        if self.trace_url and not self.trace_url.startswith(("http://", "https://")):
            problems.append(f"{PREFIX}TRACE_URL must begin with http:// or https://")
        if not 0 <= self.metrics_port <= 65_535:
            problems.append(f"{PREFIX}METRICS_PORT is {self.metrics_port}; it must be 0 to 65535")
        if not 0 < self.drain_ms <= 600_000:
            problems.append(f"{PREFIX}DRAIN_MS is {self.drain_ms}; it must be 1 to 600000")
        if not self.nats_inbox or any(char in self.nats_inbox for char in ".*> "):
            problems.append(f"{PREFIX}NATS_INBOX is {self.nats_inbox!r}; it must be one word without dots and stars")
        tls = (self.grpc_tls_cert, self.grpc_tls_key, self.grpc_tls_ca)
        if any(tls) and not all(tls):
            problems.append(f"{PREFIX}GRPC_TLS_CERT, _KEY and _CA go together: set all three or none")
        return problems

    @classmethod
    def load(cls, env: Mapping[str, str] | None = None) -> Self:
        """Reads `env` (default: the process's). Raises SettingsError with every problem at once."""
        source = os.environ if env is None else env
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        problems: list[str] = []
        for field in fields(cls):
            key = PREFIX + field.name.upper()
            if key in source:
                try:
                    values[field.name] = _read(hints[field.name], source[key])
                except ValueError as error:
                    shown = "its value" if "key" in field.name or "secret" in field.name else repr(source[key])
                    problems.append(f"{key} is {shown}: {error}")
            elif field.default is MISSING and field.default_factory is MISSING:
                problems.append(f"{key} is not set")
        if problems:
            raise SettingsError(problems)
        if not values.get("name"):
            values["name"] = _default_name()
        settings = cls(**values)
        if problems := settings.check():
            raise SettingsError(problems)
        return settings
