"""What waits to be written to one socket.

Frames go straight to the transport; what the network has not taken yet waits
in its buffer. Overflow, in two steps:

    soft   the session is told: it stops a watcher's frames and makes them good by a fresh `state` once the buffer is
           empty; a player's socket it closes with a reason, and the player resumes by version
    hard   the socket is closed, whoever it is
"""

import asyncio
import socket as sockets
import struct
from typing import Any, Protocol, cast

from gateway.metrics import Metrics

_TEXT = 0x81  # final fragment, text
_PING = 0x89

# Linux's struct tcp_info: tcpi_rtt, the smoothed round trip in microseconds.
_RTT, _RTT_AT, _TCP_INFO_BYTES = struct.Struct("=I"), 68, 72


class Sink(Protocol):
    """What a transport is to an outbox."""

    def write(self, data: bytes) -> None:
        """Writes, or keeps it until the network takes it."""

    def get_write_buffer_size(self) -> int:
        """Bytes that the network has not taken yet."""

    def is_closing(self) -> bool:
        """Whether nothing more can be written."""

    def abort(self) -> None:
        """Ends the connection at once; what waits is lost."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """As asyncio's transports."""


def header(opcode: int, size: int) -> bytes:
    """Head of an unmasked, final WebSocket frame."""
    if size < 126:
        return bytes((opcode, size))
    if size < 65_536:
        return bytes((opcode, 126)) + size.to_bytes(2, "big")
    return bytes((opcode, 127)) + size.to_bytes(8, "big")


class Outbox:
    """The way to one socket. `lagging`: the soft limit has been passed and the buffer is not empty yet."""

    __slots__ = ("_direct", "_hard", "_metrics", "_sink", "_soft", "lagging", "overflowed")

    def __init__(self, sink: Sink, soft: int, hard: int, metrics: Metrics, *, direct: bool = True) -> None:
        """`direct`: no proxy in between, so that what TCP measures is the way to the client."""
        self._direct = direct
        self._sink = sink
        self._soft = soft
        self._hard = hard
        self._metrics = metrics
        self.lagging = False
        self.overflowed = False  # the hard limit has been passed

    def send(self, text: bytes) -> bool:
        """Writes one text frame; False when the soft limit is passed by it (once, until `caught_up`)."""
        if self._sink.is_closing() or self.overflowed:
            return True
        waiting = self._sink.get_write_buffer_size()
        if waiting > self._hard:
            self.overflowed = True
            self._metrics.overflow("outbox_hard")
            return True
        self._sink.write(header(_TEXT, len(text)) + text)
        self._metrics.wrote()
        if waiting > self._soft and not self.lagging:
            self.lagging = True
            self._metrics.overflow("outbox_soft")
            return False
        return True

    @property
    def waiting(self) -> int:
        """Bytes that the network has not taken yet."""
        return 0 if self._sink.is_closing() else self._sink.get_write_buffer_size()

    def ping(self, payload: bytes) -> None:
        """Writes a ping, unless the reader is behind anyway."""
        if not self._sink.is_closing() and not self.lagging:
            self._sink.write(header(_PING, len(payload)) + payload)

    def round_trip_s(self) -> float | None:
        """The round trip as the system's TCP has measured it, seconds; None if it says nothing of the client."""
        peer = self._sink.get_extra_info("socket") if self._direct else None
        if peer is None or not hasattr(sockets, "TCP_INFO"):
            return None
        try:
            info = peer.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_INFO, _TCP_INFO_BYTES)
        except OSError:
            return None
        if len(info) < _TCP_INFO_BYTES:
            return None
        return float(_RTT.unpack_from(info, _RTT_AT)[0]) / 1e6

    def caught_up(self) -> bool:
        """True once after the buffer of a lagging socket has become empty."""
        if self.lagging and not self._sink.get_write_buffer_size():
            self.lagging = False
            return True
        return False

    def abort(self) -> None:
        """Ends the connection at once."""
        self._sink.abort()


def sink_of(transport: asyncio.BaseTransport | None) -> Sink:
    """The transport of a request as a sink. Raises ConnectionResetError if the client has gone already."""
    if transport is None:
        raise ConnectionResetError("the client has gone")
    return cast(Sink, transport)  # uvloop's transports do not inherit from asyncio's
