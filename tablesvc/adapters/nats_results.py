"""Finished games, on the stream RESULTS."""

from nats.js import JetStreamContext
from nats.js.errors import APIError

from numbridge import names
from numbridge.kv_mirror import AWAY
from tablesvc.ports import Away, Refused


class NatsResults:
    """See ports.Results."""

    def __init__(self, js: JetStreamContext) -> None:
        self._js = js

    async def publish(self, shard: int, game: str, data: bytes, once: bool) -> None:
        """See ports.Results."""
        headers = {"Nats-Msg-Id": game} if once else None
        try:
            await self._js.publish(names.result_subject(shard, game), data, stream=names.RESULTS, headers=headers)
        except AWAY as error:
            if isinstance(error, APIError) and error.code != 503:
                raise Refused(f"{error.description} ({error.err_code})") from error
            raise Away(f"{type(error).__name__}: {error}") from error
