"""Three NATS servers that are one cluster: streams with three replicas, and a leader that can be killed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import nats
import nats.errors
import nats.js.errors
from nats.aio.client import Client

from numbridge.local_servers import LocalServer, free_port, nats_binary
from tests.helpers.eventually import eventually

_HOST = "127.0.0.1"


class Trio:
    """The three servers."""

    def __init__(self, folder: Path) -> None:
        ports, routes = _ports(3), _ports(3)
        self.servers: dict[str, LocalServer] = {}
        peers = ", ".join(f'"nats://{_HOST}:{port}"' for port in routes)
        for number, (port, route) in enumerate(zip(ports, routes, strict=True), 1):
            name, data = f"n{number}", folder / f"n{number}"
            data.mkdir(parents=True)
            config = data / "nats.conf"
            config.write_text(
                f'host: "{_HOST}"\nport: {port}\nserver_name: {name}\n'
                f'jetstream {{\n  store_dir: "{data / "jetstream"}"\n}}\n'
                f'cluster {{\n  name: trio\n  listen: "{_HOST}:{route}"\n  routes: [{peers}]\n}}\n',
                encoding="utf-8",
            )
            self.servers[name] = LocalServer(argv=[nats_binary(), "-c", str(config)], port=port, log=data / "nats.log")

    @property
    def url(self) -> str:
        """All of them, as a setting names them."""
        return ",".join(f"nats://{_HOST}:{server.port}" for server in self.servers.values())

    async def connect(self) -> Client:
        """A connection that goes on with the servers that live."""
        return await nats.connect(
            self.url.split(","), max_reconnect_attempts=-1, reconnect_time_wait=0.1, error_cb=_expected
        )

    async def leader(self, client: Client, stream: str) -> str:
        """Name of the server that leads the stream; waits for one."""

        async def asked() -> str | None:
            try:
                info = await client.jetstream(timeout=1).stream_info(stream)
            except (TimeoutError, nats.errors.Error, nats.js.errors.Error):
                return None
            return info.cluster.leader if info.cluster is not None else None

        return str(await eventually(asked, timeout_s=20))


async def _expected(_error: Exception) -> None:
    """Servers go away here."""


def _ports(count: int) -> list[int]:
    found: set[int] = set()
    while len(found) < count:
        found.add(free_port())
    return sorted(found)


@asynccontextmanager
async def trio(folder: Path) -> AsyncIterator[Trio]:
    """Three servers that have found each other and make streams."""
    made = Trio(folder)
    try:
        await asyncio.gather(*(server.start() for server in made.servers.values()))
        client = await made.connect()
        js = client.jetstream(timeout=1)

        async def makes_streams() -> bool:
            try:
                await js.add_stream(name="PROBE", subjects=["probe"], num_replicas=3)
            except (TimeoutError, nats.errors.Error, nats.js.errors.Error):
                return False
            return True

        await eventually(makes_streams, timeout_s=30)
        await js.delete_stream("PROBE")
        await client.close()
        yield made
    finally:
        await asyncio.gather(*(server.kill() for server in made.servers.values()))
