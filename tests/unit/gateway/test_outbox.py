"""What waits for one socket, and when it is too much."""

import asyncio
import socket
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from gateway.metrics import Metrics
from gateway.outbox import Outbox, header, sink_of


class Sink:
    """A transport that takes nothing until it is told to."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.waiting = 0
        self.closing = False
        self.aborted = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def write(self, data: bytes) -> None:
        self.written.append(data)
        self.waiting += len(data)

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def is_closing(self) -> bool:
        return self.closing

    def abort(self) -> None:
        self.aborted = True


def outbox(soft: int = 100, hard: int = 300) -> tuple[Outbox, Sink]:
    sink = Sink()
    return Outbox(sink, soft, hard, Metrics(CollectorRegistry())), sink


@pytest.mark.parametrize(
    ("size", "head"),
    [
        (0, b"\x81\x00"), (125, b"\x81\x7d"), (126, b"\x81\x7e\x00\x7e"), (65_535, b"\x81\x7e\xff\xff"),
        (65_536, b"\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00"),
    ],
)  # fmt: skip
def test_frames_have_the_heads_of_rfc_6455(size: int, head: bytes) -> None:
    assert header(0x81, size) == head


def test_texts_go_out_in_order() -> None:
    box, sink = outbox()
    assert box.send(b"one")
    assert box.send(b"two")
    assert sink.written == [b"\x81\x03one", b"\x81\x03two"]


def test_the_soft_limit_is_told_once_until_the_reader_has_caught_up() -> None:
    box, sink = outbox(soft=10)
    assert box.send(b"x" * 20)
    assert not box.send(b"y")
    assert box.send(b"z")
    assert not box.caught_up()
    sink.waiting = 0
    assert box.caught_up()
    assert not box.caught_up()
    assert box.send(b"x" * 20)
    assert not box.send(b"y")


def test_beyond_the_hard_limit_nothing_more_is_kept() -> None:
    box, sink = outbox(hard=200)
    box.send(b"x" * 250)
    box.send(b"y")
    assert box.overflowed
    sink.waiting = 0
    box.send(b"z")
    assert len(sink.written) == 1


def test_a_ping_waits_for_nobody_and_burdens_no_slow_reader() -> None:
    box, sink = outbox(soft=1)
    box.ping(b"p")
    assert sink.written == [b"\x89\x01p"]
    box.send(b"x")
    box.ping(b"q")
    assert sink.written[-1] == b"\x81\x01x"


def test_a_closing_socket_is_not_written_to() -> None:
    box, sink = outbox()
    sink.closing = True
    assert box.send(b"x")
    box.ping(b"p")
    assert sink.written == []
    box.abort()
    assert sink.aborted


def test_a_client_that_has_gone_has_no_sink() -> None:
    with pytest.raises(ConnectionResetError):
        sink_of(None)


async def test_what_tcp_measures_is_read_off_a_real_socket() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read(1))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"x")
    assert await reader.read(1) == b"x"
    trip = Outbox(sink_of(writer.transport), 10, 100, Metrics(CollectorRegistry())).round_trip_s()
    behind_a_proxy = Outbox(sink_of(writer.transport), 10, 100, Metrics(CollectorRegistry()), direct=False)
    assert behind_a_proxy.round_trip_s() is None
    assert (trip is not None and 0 < trip < 5) == hasattr(socket, "TCP_INFO")
    writer.close()
    server.close()
    await server.wait_closed()
