"""Which processes a cluster on one machine has, and what each is told. Starts nothing."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from numbridge.cli import secured
from numbridge.cli.datadir import ClusterInfo, DataDir
from numbridge.cli.ports import HOST, Ports
from numbridge.local_servers import nats_server, redis_server
from numbridge.trust.issue import Trust, issue

Kind = Literal["nats", "redis", "ratings", "table", "lobby", "gateway", "bot"]

STAGES: tuple[tuple[Kind, ...], ...] = (("nats", "redis"), ("ratings", "table", "lobby", "gateway"), ("bot",))
"""Started one after the other, each stage's processes all at once."""

STOPS: tuple[tuple[Kind, ...], ...] = (("bot",), ("gateway",), ("lobby",), ("table",), ("ratings",), ("redis", "nats"))
"""Stopped one after the other: nobody is left without what it needs to hand over in peace."""

# What is a process's own; a value for all of them together would be wrong for all but one.
_OWN = ("NAME", "PORT", "OWN_PORT", "GRPC_PORT", "METRICS_PORT", "METRICS_HOST", "ADVERTISE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `numbridge up` was asked for."""

    port: int = 8080
    workers: int = 2
    gateways: int = 1
    lobbies: int = 1
    rooms: Path | None = None
    bots: int = 0
    limits: bool = True
    log_sync: str = "always"  # the NATS server's sync_interval
    secure: bool = False  # certificates inside, and a user of NATS and Redis for each service


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One process to run."""

    name: str
    kind: Kind
    argv: list[str]
    env: dict[str, str]
    port: int | None = None  # where it serves
    metrics_port: int | None = None  # where a service says whether it is ready


@dataclass(frozen=True, slots=True)
class Plan:
    """All of them, and where they will be found."""

    specs: list[Spec]
    info: ClusterInfo
    host: str  # of the public port


def command(*args: str) -> list[str]:
    """Argv of one of our own commands; the working folder's modules stay out of it."""
    return [sys.executable, "-P", "-m", "numbridge.cli.main", *args]


def make(options: Options, data: DataDir, ports: Ports, env: Mapping[str, str], pid: int) -> Plan:
    """The processes of a cluster that keeps its state in `data`.

    NUMBRIDGE_NATS_URL, _REDIS_URL and _DATABASE_URL, where set, name servers that
    run already. Raises ServerError if one has to be started and its program is not there.
    """
    specs: list[Spec] = []
    shared = {key: value for key, value in env.items() if key not in {f"NUMBRIDGE_{name}" for name in _OWN}}
    host = env.get("NUMBRIDGE_LISTEN_HOST") or HOST
    trust = issue(data.trust) if options.secure else None

    def server(kind: Literal["nats", "redis"], folder: Path) -> str:
        if named := env.get(f"NUMBRIDGE_{kind.upper()}_URL"):
            return named
        port = ports.take()
        own = dict(env)
        if kind == "nats":
            more = "" if trust is None else secured.nats_lines(trust)
            made = nats_server(folder, port, sync=options.log_sync, more=more)
            own |= {} if trust is None else secured.nats_environment(trust)
        else:
            made = redis_server(folder, port, users=None if trust is None else trust.folder / "redis-users.acl")
        specs.append(Spec(name=kind, kind=kind, argv=made.argv, env=own, port=port))
        return f"{kind}://{HOST}:{port}" + ("/0" if kind == "redis" else "")

    nats_url, redis_url = server("nats", data.nats), server("redis", data.redis)
    lobby_ports, ratings_port = [ports.take() for _ in range(options.lobbies)], ports.take()
    info = ClusterInfo(
        pid=pid,
        url=f"http://{_shown(host)}:{options.port}",
        nats_url=_as_operator(nats_url, trust, "nats"),
        redis_url=_as_operator(redis_url, trust, "redis"),
        trust="" if trust is None else str(trust.folder),
        database_url=env.get("NUMBRIDGE_DATABASE_URL") or f"sqlite:///{data.database}",
        lobby_addr=",".join(f"{HOST}:{port}" for port in lobby_ports),
        ratings_addr=f"{HOST}:{ratings_port}",
        token_key_file=env.get("NUMBRIDGE_TOKEN_KEY_FILE") or str(data.key),
    )
    shared |= {
        "NUMBRIDGE_NATS_URL": nats_url,
        "NUMBRIDGE_REDIS_URL": redis_url,
        "NUMBRIDGE_DATABASE_URL": info.database_url,
        "NUMBRIDGE_LOBBY_ADDR": info.lobby_addr,
        "NUMBRIDGE_RATINGS_ADDR": info.ratings_addr,
    }
    if not env.get("NUMBRIDGE_TOKEN_KEY"):
        shared["NUMBRIDGE_TOKEN_KEY_FILE"] = info.token_key_file
    if options.rooms is not None:
        shared["NUMBRIDGE_ROOMS_FILE"] = str(options.rooms.absolute())
    if not options.limits:
        shared["NUMBRIDGE_LIMITS"] = "off"

    def service(name: str, kind: Kind, port: int, **own: str) -> None:
        metrics_port = ports.take()
        own |= {"NAME": name, "METRICS_PORT": str(metrics_port)}
        mine = shared | {f"NUMBRIDGE_{key}": value for key, value in own.items()}
        mine |= {} if trust is None else secured.service(kind, trust, nats_url, redis_url)
        specs.append(Spec(name=name, kind=kind, argv=command(kind), env=mine, port=port, metrics_port=metrics_port))

    service("ratings-1", "ratings", ratings_port, GRPC_PORT=str(ratings_port))
    for number in range(1, options.workers + 1):
        port = ports.take()
        service(f"table-{number}", "table", port, GRPC_PORT=str(port), ADVERTISE=f"{HOST}:{port}")
    for number, port in enumerate(lobby_ports, 1):
        service(f"lobby-{number}", "lobby", port, GRPC_PORT=str(port))
    for number in range(1, options.gateways + 1):
        port = ports.take()
        service(f"gateway-{number}", "gateway", port, PORT=str(options.port), OWN_PORT=str(port))
    if options.bots:
        argv = command("bot", "--house", "--count", str(options.bots), "--url", info.url)
        specs.append(Spec(name="bots", kind="bot", argv=argv, env=shared))
    return Plan(specs=specs, info=info, host=host)


def _as_operator(url: str, trust: Trust | None, server: Literal["nats", "redis"]) -> str:
    """The URL as commands use it."""
    if trust is None:
        return url
    return secured.with_user(url, "operator", (trust.nats if server == "nats" else trust.redis)["operator"])


def _shown(host: str) -> str:
    """A host as it stands in a URL that works on this machine."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - every address includes this one
        return HOST
    return f"[{host}]" if ":" in host else host
