"""The connection to NATS, and everything of a table worker that lives on it."""

from collections.abc import Callable

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from numbridge import names, nats_io
from numbridge.kv_mirror import AWAY
from tablesvc.adapters.nats_leases import NatsLeases
from tablesvc.adapters.nats_log import NatsLog
from tablesvc.adapters.nats_results import NatsResults
from tablesvc.adapters.nats_views import NatsViews
from tablesvc.metrics import Metrics
from tablesvc.ports import Archived
from tablesvc.settings import TableSettings

_API_S = 2.0  # what the server is asked is answered in so long, or counts as unknown


class NatsHome:
    """Connects, makes streams and buckets where they are missing, and holds the adapters.

    The adapters are there after `start`.
    """

    def __init__(self, settings: TableSettings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._client: Client | None = None
        self.log: NatsLog
        self.leases: NatsLeases
        self.views: NatsViews
        self.results: NatsResults

    @property
    def client(self) -> Client:
        """The connection. Raises RuntimeError before `start`."""
        if self._client is None:
            raise RuntimeError("not connected yet")
        return self._client

    @property
    def connected(self) -> bool:
        """Whether the connection is up now."""
        return self._client is not None and self._client.is_connected

    async def start(self) -> None:
        """Raises OSError, TimeoutError or nats errors if NATS or JetStream can't be reached at first."""
        client = await nats_io.connect(self._settings, on_reconnect=self._back)
        self._client = client
        js: JetStreamContext = client.jetstream(timeout=_API_S)
        replicas = self._settings.stream_replicas
        await nats_io.ensure_streams(js, replicas)
        self.log = NatsLog(client, js, self._settings.append_timeout_ms / 1000)
        self.leases = NatsLeases(
            client,
            await nats_io.bucket(js, names.KV_WORKERS, replicas),
            await nats_io.bucket(js, names.KV_SHARDS, replicas),
        )
        self.views = NatsViews(client, self._metrics)
        self.results = NatsResults(js)
        await self.log.start()
        await self.leases.start()

    async def _back(self) -> None:
        self.leases.refresh()

    async def on_archived(self, callback: Archived) -> None:
        """`callback(game)` for every word that a game's record is in SQL."""

        async def heard(message: Msg) -> None:
            callback(message.subject.rpartition(".")[2])

        await self.client.subscribe(names.ARCHIVED_ALL, cb=heard)

    async def on_seats_asked(self, callback: Callable[[], None]) -> None:
        """`callback()` whenever somebody asks who sits where."""

        async def heard(_message: Msg) -> None:
            callback()

        await self.client.subscribe(names.SEATS_ASK, cb=heard)

    async def stop(self) -> None:
        """Sends what is buffered, and closes."""
        if self._client is None:
            return
        await self.leases.stop()
        await self.log.stop()
        if self._client.is_connected:
            try:
                await self._client.flush(2)
            except AWAY:
                pass
        await self._client.close()
